import { endInvalid, endRefused } from '../../decide/finish/finish.js';
import { isAsked } from '../../decide/requests/edits.js';
import { type FinalJob, isFinalState, type Job } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import type { Failure } from '../../model/step.js';
import { childrenLeftBy } from '../children/cancel-children.js';
import type { JobParts } from './job-parts.js';
import { writeJob, writtenIn, type JobWritten, type WriteParts } from './write-job.js';

type EndParts = WriteParts & Pick<JobParts, 'waitQueue' | 'events'>;

/** A job document that cannot be read ends with exit 3 and says what is wrong with it. */
export async function endMalformed(
  parts: EndParts,
  doc: StoredDocument,
  problems: Parameters<typeof endInvalid>[1],
): Promise<JobWritten> {
  const gone = parts.serializer.gone.get(doc._id);
  const all = gone === undefined ? problems : ([...problems, gone] as const);
  const written = await end(parts, doc, endInvalid(doc, all, parts.now()));
  if (written.kind === 'written') parts.serializer.gone.delete(doc._id);
  if (written.kind === 'written') {
    parts.events.emit({ type: 'job.malformed', job: doc._id, problems });
  }
  return written;
}

/**
 * A job about which nothing can be decided ends with exit 3 and that reason; a final one keeps its
 * end, and its retry is refused.
 */
export async function endFaulty(
  parts: EndParts,
  doc: StoredDocument,
  why: Failure,
): Promise<JobWritten> {
  parts.once.log('error', doc._id, `Job ${doc._id}: ${why.message}`);
  return end(parts, doc, endRefused(doc, why, parts.now()));
}

/** Ends a job that goes on no more, and then its attempts here: where the end is not stored they go on. */
async function end(parts: EndParts, doc: StoredDocument, ended: FinalJob): Promise<JobWritten> {
  const { attempts, waitQueue } = parts;
  waitQueue.leave(doc._id);
  const written = await writeEnd(parts, doc, ended);
  if (written.kind === 'written') {
    for (const claim of attempts.ofJob.get(doc._id) ?? []) attempts.stop(claim, 'fenced');
  }
  return written;
}

/**
 * What the database refuses once it refuses always: the job ends, in the smallest document there is,
 * unless it has changed since.
 */
export async function endRefusedJob(
  parts: WriteParts,
  { _id: id, _rev }: Pick<Job, '_id' | '_rev'>,
  why: Failure,
): Promise<JobWritten> {
  const { store, retry, serializer, now, once } = parts;
  const doc = await retry(() => store.get(id));
  serializer.drop(id);
  // What somebody has written since was not decided upon: the feed brings it.
  if (doc?._rev !== _rev) return { kind: 'lost' };
  once.log('error', id, `Job ${id} cannot be stored as it would go on: ${why.message}`);
  // A final job without a retry has its end: another write would be refused alike, or go round.
  if (isFinalState(doc['state']) && !isAsked(doc['retry'])) return { kind: 'lost' };
  return writeEnd(parts, doc, endRefused(doc, why, now()));
}

/**
 * Writes the end of a job that no step of it led to, with its notifications; its children are given up
 * and its locks removed. Of a final job, `ended` only says why its retry is refused.
 */
async function writeEnd(
  parts: WriteParts,
  doc: StoredDocument,
  ended: FinalJob,
): Promise<JobWritten> {
  const { store, retry, serializer, locks, notifications } = parts;
  const isOver = isFinalState(doc['state']);
  const abandons = isOver ? [] : await childrenLeftBy(parts, doc);
  // A job that went on meanwhile keeps its children.
  if (abandons.length > 0 && (await retry(() => store.get(doc._id)))?._rev !== doc._rev) {
    serializer.drop(doc._id);
    return { kind: 'lost' };
  }
  const job = isOver ? ended : await notifications.ofEnd(doc, ended);
  // The end says why the job cannot go on: no limit keeps it from being stored.
  const mostBytes = Infinity;
  const written = await writeJob(parts, { job, abandons, mostBytes, unconfirmed: true });
  tellEnd(parts, doc._id, written);
  serializer.drop(doc._id);
  // Another engine was faster: the job may go on, and needs its locks.
  if (written.kind !== 'written') return written;
  locks.adopt(doc);
  await locks.release(doc);
  return written;
}

function tellEnd({ once, life }: WriteParts, job: string, written: JobWritten): void {
  if (written.kind === 'refused') {
    once.log('error', job, `The job cannot be ended: ${written.reason}`);
  } else if (written.kind === 'lost' && !life.signal.aborted) {
    if (written.cause === undefined) once.forget(job);
    else once.waits(job, written.cause);
  }
}

/** The document to look at after the end of a job was written; a job that was final before rests. */
export function afterEnd(before: StoredDocument, end: JobWritten): StoredDocument | undefined {
  return isFinalState(before['state']) ? undefined : writtenIn(end);
}
