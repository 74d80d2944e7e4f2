import { endInvalid, endRefused } from '../decide/finish.js';
import type { FinalJob } from '../model/job.js';
import { isFinalState, type StoredDocument } from '../model/parse.js';
import { inReadingOrder } from '../model/reading-order.js';
import type { Failure } from '../model/step.js';
import { givingUpAll } from './abandon.js';
import type { JobParts } from './jobs.js';

type MalformedParts = Pick<
  JobParts,
  | 'store'
  | 'retry'
  | 'hands'
  | 'desk'
  | 'parking'
  | 'locks'
  | 'notifications'
  | 'events'
  | 'life'
  | 'now'
  | 'log'
>;

/** A job document that cannot be read ends with exit 3 and says what is wrong with it. */
export async function endMalformed(
  parts: MalformedParts,
  doc: StoredDocument,
  problems: Parameters<typeof endInvalid>[1],
): Promise<undefined> {
  const isWritten = await end(parts, doc, endInvalid(doc, problems, parts.now()));
  if (isWritten) parts.events.emit({ type: 'job.malformed', job: doc._id, problems });
}

/**
 * A job about which nothing can be decided ends with exit 3 and that reason; a final one keeps its
 * end, and its wish to go on is refused.
 */
export async function endFaulty(
  parts: MalformedParts,
  doc: StoredDocument,
  why: Failure,
): Promise<undefined> {
  parts.log.error({ job: doc._id }, `Job ${doc._id}: ${why.message}`);
  await end(parts, doc, endRefused(doc, why, parts.now()));
}

/** Ends a job that goes on no more, and its attempts here. Resolves to whether that was stored. */
async function end(parts: MalformedParts, doc: StoredDocument, ended: FinalJob): Promise<boolean> {
  const { hands, parking } = parts;
  parking.leave(doc._id);
  for (const claim of hands.of(doc._id)) hands.stop(claim, 'fenced');
  return writeEnd(parts, doc, ended);
}

/**
 * Writes the end of a job that no step of it led to, with its notifications; its children are given up
 * and its locks removed. Of a final job, `ended` only says why its wish to go on is refused. Resolves
 * to whether it was stored.
 */
export async function writeEnd(
  parts: Omit<MalformedParts, 'hands' | 'parking' | 'events'>,
  doc: StoredDocument,
  ended: FinalJob,
): Promise<boolean> {
  const { store, desk, locks, log } = parts;
  const job = isFinalState(doc['state'])
    ? ended
    : await givingUpAll(parts, doc, await parts.notifications.ofEnd(doc, ended));
  if (parts.life.signal.aborted) return false;
  const result = await store.write(inReadingOrder(job));
  if (result.kind === 'refused') {
    log.error({ job: doc._id }, `The job cannot be ended: ${result.reason}`);
  }
  desk.drop(doc._id);
  // Another engine was faster: the job may go on, and needs its locks.
  if (result.kind !== 'written') return false;
  locks.adopt(doc);
  await locks.release(doc);
  return true;
}
