import { problem, TwsError } from '../../../errors.js';
import type { StoredDocument } from '../../../model/document.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { jobFor } from '../../routes/common.js';
import { keptStep } from '../envelope.js';
import { workflowOfStep } from './ids.js';

/** The job that an id names; `step`: it names a step of that job. */
export type NamedWork = { readonly job: StoredDocument; readonly step: boolean };

/** Finds a job, or the job of a step by the id that workers know. @throws TwsError `document_missing` */
export async function jobOrStep(api: Api, who: Principal, id: string): Promise<NamedWork> {
  const job = await unlessMissing(jobFor(api, who, id));
  if (job !== undefined) return { job, step: false };
  const workflow = workflowOfStep(id);
  const whole =
    workflow === undefined ? undefined : await unlessMissing(jobFor(api, who, workflow));
  if (whole !== undefined && keptStep(whole, id) !== undefined) return { job: whole, step: true };
  const at = id.lastIndexOf('/');
  const above = at > 0 ? await unlessMissing(jobFor(api, who, id.slice(0, at))) : undefined;
  if (above === undefined) throw problem('document_missing', { id });
  return { job: above, step: true };
}

/** What there is; undefined where there is nothing. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof TwsError && error.code === 'document_missing') return undefined;
    throw error;
  }
}
