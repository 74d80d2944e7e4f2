import type { WorkerStep } from '../../client.js';
import { leasedSteps } from '../../client-rules.js';
import type { StoredDocument } from '../../model/document.js';
import { mayHave } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { jobFor } from '../routes/common.js';
import { workIdOf } from './envelope.js';
import { jobOrStep, unlessMissing } from './workflow/find.js';

/** What a worker says that it has. */
export type HeldWork = { readonly id: string; readonly worker: string | undefined };

/**
 * What a worker has by the name that it was told: a job, or a job and the place of a step in it.
 * Undefined where nobody has it, or another worker. @throws TwsError `document_missing`
 */
export async function heldBy(
  api: Api,
  who: Principal,
  { id, worker }: HeldWork,
): Promise<WorkerStep | undefined> {
  // Who fetched without a name has the name of the sign-in there, until the worker says its own.
  const names = [worker, who.name];
  const isOwn = ({ step }: WorkerStep): boolean =>
    worker === undefined || names.includes(step.worker);
  const leased = api.client.leasedJob(id);
  if (leased !== undefined && mayHave(who, leased)) {
    const [only, other] = worksOf(leased).filter(isOwn);
    if (only !== undefined && other === undefined) return only;
  }
  const { job, step } = await jobOrStep(api, who, id);
  const works = worksOf(job).filter(isOwn);
  if (step) return works.find((work) => workIdOf(work) === id || pathId(work) === id);
  if (works.length > 0) return works.length === 1 ? works[0] : undefined;
  const at = id.lastIndexOf('/');
  if (at <= 0) return undefined;
  // A job may have the name by which a step of another one is told.
  const other = await unlessMissing(jobFor(api, who, id.slice(0, at)));
  return other && worksOf(other).find((work) => pathId(work) === id && isOwn(work));
}

function pathId({ job, step }: WorkerStep): string {
  return `${job._id}/${step.path}`;
}

function worksOf(job: StoredDocument): readonly WorkerStep[] {
  return leasedSteps(job).map((step) => ({ job, step }));
}
