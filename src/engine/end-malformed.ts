import { endInvalid, leftBy } from '../decide/finish.js';
import type { StoredDocument } from '../model/parse.js';
import { inReadingOrder } from '../model/reading-order.js';
import { cancelChildren } from './abandon.js';
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
  const { store, hands, desk, parking, now, log } = parts;
  parking.leave(doc._id);
  for (const claim of hands.of(doc._id)) hands.stop(claim, 'fenced');
  const job = await parts.notifications.ofEnd(doc, endInvalid(doc, problems, now()));
  await cancelChildren(parts, doc._id, leftBy(doc));
  if (parts.life.signal.aborted) return;
  const result = await store.write(inReadingOrder(job));
  if (result.kind === 'refused') {
    log.error({ job: doc._id }, `The malformed job cannot be ended: ${result.reason}`);
  }
  if (result.kind === 'written') {
    parts.events.emit({ type: 'job.malformed', job: doc._id, problems });
  }
  desk.drop(doc._id);
  parts.locks.adopt(doc);
  await parts.locks.release(doc);
  return undefined;
}
