import { withProblem } from '../../decide/start/noted.js';
import type { StoredDocument } from '../../model/document.js';
import type { Job } from '../../model/job.js';
import { show, type Problem } from '../../model/problems.js';
import type { JobParts } from './job-parts.js';
import { writeJob } from './write-job.js';

/** What became of telling: undefined when there is nothing to tell. */
export type Told = { readonly doc?: StoredDocument };

/**
 * Writes into a job which entries of ended steps somebody removed or changed since this engine last saw
 * it (`problem`). Several copies of a document may lack what another one has: there it is merged, and
 * not told.
 */
export async function tellGoneSteps(
  parts: JobParts,
  job: Job,
  problem: Problem,
): Promise<Told | undefined> {
  const { serializer, replicas, log } = parts;
  const { _id: id } = job;
  serializer.gone.delete(id);
  if (replicas.many) return undefined;
  log.warn({ job: id }, `Job ${id}: ${problem.message}`);
  const written = await writeJob(parts, { job: withProblem(job, problem), unconfirmed: true });
  // Somebody was faster: it is told in what the feed brings.
  if (written.kind === 'lost') serializer.gone.set(id, problem);
  return written.kind === 'written' ? { doc: written.doc } : {};
}

/**
 * Writes into a document that it was a job and is none any more. What runs of it here is stopped; when
 * its type is put back it goes on.
 */
export async function tellOtherType(parts: JobParts, doc: StoredDocument): Promise<void> {
  const { attempts, store, log } = parts;
  const { _id: id, type } = doc;
  for (const claim of attempts.ofJob.get(id) ?? []) attempts.stop(claim, 'fenced');
  const was = type === undefined ? 'removed' : `changed to ${show(type)}`;
  const message = `This was a job, and its "type" was ${was}: nothing of it is run. Set it to "job" again to let it go on.`;
  const told = withProblem(doc, { path: 'type', message });
  if (told === doc) return;
  const { kind } = await store.write(told);
  if (kind === 'written') log.warn({ job: id }, `Document ${id}: ${message}`);
}
