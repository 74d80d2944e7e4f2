import { endInvalid, endRefused } from '../../decide/finish/finish.js';
import type { FinalJob } from '../../model/job.js';
import { isFinalState, type StoredDocument } from '../../model/document.js';
import { inReadingOrder } from '../../model/reading-order.js';
import type { Failure } from '../../model/step.js';
import type { WriteResult } from '../../store/batch.js';
import {
  childrenLeftBy,
  cancelChildrenAgain,
  withChildrenCancelled,
} from '../children/cancel-children.js';
import type { JobParts } from './job-parts.js';

type MalformedParts = Pick<
  JobParts,
  | 'store'
  | 'replicas'
  | 'retry'
  | 'attempts'
  | 'serializer'
  | 'waitQueue'
  | 'locks'
  | 'notifications'
  | 'events'
  | 'life'
  | 'now'
  | 'once'
>;

/** What became of the write that ends a job. */
export type EndStored = WriteResult['kind'];

/** A job document that cannot be read ends with exit 3 and says what is wrong with it. */
export async function endMalformed(
  parts: MalformedParts,
  doc: StoredDocument,
  problems: Parameters<typeof endInvalid>[1],
): Promise<EndStored> {
  const stored = await end(parts, doc, endInvalid(doc, problems, parts.now()));
  if (stored === 'written') parts.events.emit({ type: 'job.malformed', job: doc._id, problems });
  return stored;
}

/**
 * A job about which nothing can be decided ends with exit 3 and that reason; a final one keeps its
 * end, and its wish to go on is refused.
 */
export async function endFaulty(
  parts: MalformedParts,
  doc: StoredDocument,
  why: Failure,
): Promise<EndStored> {
  parts.once.log('error', doc._id, `Job ${doc._id}: ${why.message}`);
  return end(parts, doc, endRefused(doc, why, parts.now()));
}

/** Ends a job that goes on no more, and then its attempts here: where the end is not stored they go on. */
async function end(
  parts: MalformedParts,
  doc: StoredDocument,
  ended: FinalJob,
): Promise<EndStored> {
  const { attempts, waitQueue } = parts;
  waitQueue.leave(doc._id);
  const stored = await writeEnd(parts, doc, ended);
  if (stored === 'written')
    for (const claim of attempts.of(doc._id)) attempts.stop(claim, 'fenced');
  return stored;
}

/**
 * Writes the end of a job that no step of it led to, with its notifications; its children are given up
 * and its locks removed. Of a final job, `ended` only says why its wish to go on is refused.
 */
export async function writeEnd(
  parts: Omit<MalformedParts, 'attempts' | 'waitQueue' | 'events'>,
  doc: StoredDocument,
  ended: FinalJob,
): Promise<EndStored> {
  const { store, serializer, locks } = parts;
  const isOver = isFinalState(doc['state']);
  const children = isOver ? [] : await childrenLeftBy(parts, doc);
  // A job that went on meanwhile keeps its children.
  if (children.length > 0 && (await parts.retry(() => store.get(doc._id)))?._rev !== doc._rev) {
    serializer.drop(doc._id);
    return 'conflict';
  }
  const announced = isOver ? ended : await parts.notifications.ofEnd(doc, ended);
  const job = await withChildrenCancelled(parts, announced, children);
  if (parts.life.signal.aborted) return 'unknown';
  const result = await store.write(inReadingOrder(job));
  tellWrite(parts, doc._id, result);
  serializer.drop(doc._id);
  // Another engine was faster: the job may go on, and needs its locks.
  if (result.kind !== 'written') return result.kind;
  await cancelChildrenAgain(parts, doc._id, children);
  locks.adopt(doc);
  await locks.release(doc);
  return 'written';
}

function tellWrite({ once }: Pick<MalformedParts, 'once'>, job: string, result: WriteResult): void {
  switch (result.kind) {
    case 'written':
      return once.stored(job);
    case 'conflict':
      return once.forget(job);
    case 'refused':
      return once.log('error', job, `The job cannot be ended: ${result.reason}`);
    case 'unknown':
      return once.waits(job, result.cause);
  }
}
