import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import { unreadSignal } from '../decide/requests/unread.js';
import { announcedEvent, eventId, isLiving } from '../model/event.js';
import { shownId, unfitId } from '../model/ids.js';
import { isLiveJob } from '../model/job.js';
import type { Problem } from '../model/problems.js';
import { readTriggered } from '../model/trigger.js';
import { parseDocument } from '../reading/parse.js';
import type { StoredDocument } from '../model/document.js';
import type { SignalStart } from '../model/signal.js';
import type { Failure } from '../model/step.js';
import type { Store } from '../store/store.js';
import type { NewDocument } from '../store/writer.js';
import { currentJob, isEndedJob } from './jobs.js';
import { writeDocument } from './writes.js';
import { textOf } from '../words.js';

/** A signal to one job. `id`: the same signal sent again counts once. */
export type SignalToSend = {
  readonly job: string;
  readonly name: string;
  readonly data?: unknown;
  /** Fails the step instead of completing it. */
  readonly failure?: Failure;
  readonly by?: string;
  readonly id?: string;
  /** Of an answer to a form: as what it is given, and the step and attempt that it is for. */
  readonly as?: string;
  readonly step?: string;
  readonly attempt?: number;
  readonly via?: string;
  /** Of an answer as link: that the holder of the link gave it. */
  readonly proof?: string;
  /** Starts the job where there is none of that id. */
  readonly start?: SignalStart;
};

/** An event for every job that waits for its type and key, now or later. */
export type EventToAnnounce = {
  readonly event: string;
  readonly key?: string;
  readonly data?: unknown;
  /** How long it releases waits: ms, or ISO 8601. */
  readonly ttl?: number | string;
  /** Tells events of the same type and key apart; without it there is one. */
  readonly id?: string;
};

/**
 * Stores a signal and answers its id; an engine puts it into the job, also one submitted later.
 * @throws TwsError `job_ended`, `id_unfit` of a job that it would start
 */
export async function sendSignal(
  store: Store,
  { job, name, data, failure, by, id = randomUUID(), start, ...to }: SignalToSend,
): Promise<string> {
  const unfit = start === undefined ? undefined : unfitId(job);
  if (unfit !== undefined) throw problem('id_unfit', { id: shownId(job), reason: unfit });
  const there = await store.get(job);
  // A job that went on as another one is reached there.
  const current = there && (await currentJob(store, there));
  if (current !== undefined && isEndedJob(current)) {
    throw problem('job_ended', { id: job, state: textOf(current['state']) });
  }
  const _id = `signal:${job}:${id}`;
  await writeDocument(store, {
    _id,
    type: 'signal',
    job: current?._id ?? job,
    name,
    ...(data === undefined ? {} : { data }),
    ...(failure === undefined ? {} : { failure }),
    ...(by === undefined ? {} : { by }),
    ...to,
    ...(start === undefined ? {} : { start }),
  });
  return _id;
}

/** Warns of a signal that nothing reads in the job that it was sent to. Of other jobs nothing is known. */
export function warningsOfSignal(
  doc: StoredDocument | undefined,
  name: string,
): readonly Problem[] {
  const parsed = doc && parseDocument(doc);
  if (parsed?.kind !== 'job' || !parsed.ok || !isLiveJob(parsed.value)) return [];
  const unread = unreadSignal(parsed.value, name);
  return unread === undefined ? [] : [unread];
}

/**
 * Stores an event and answers its id. One whose life has ended is announced anew.
 * @throws TwsError `event_announced` for one that is there and lives
 */
export async function announceEvent(
  store: Store,
  { event, key = '', data, ttl, id }: EventToAnnounce,
): Promise<string> {
  const _id = eventId({ type: event, key, ...(id === undefined ? {} : { id }) });
  const more = { ...(data === undefined ? {} : { data }), ...(ttl === undefined ? {} : { ttl }) };
  const doc = { _id, type: 'event', event, key, ...more };
  if (await isStored(store, doc)) return _id;
  const there = await store.get(_id);
  const isOver = there !== undefined && hasExpired(there, Date.now());
  if (isOver && (await isStored(store, { ...doc, _rev: there._rev }))) return _id;
  throw problem('event_announced', { id: _id });
}

/** Whether it could be written: not where another revision is there. */
async function isStored(store: Store, doc: NewDocument): Promise<boolean> {
  try {
    await writeDocument(store, doc);
    return true;
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'document_conflict') throw error;
    return false;
  }
}

/** Whether the life of an event, or of a cached result, has ended at `now` (epoch ms), and no job is about to start for it. */
export function hasExpired(doc: StoredDocument, now: number): boolean {
  if (doc['type'] === 'cached-result') return Number(doc['until']) <= now;
  const triggered = readTriggered(doc['triggered']);
  if (doc['type'] !== 'event' || typeof triggered !== 'object') return false;
  const { starting, gathering, gathered } = triggered;
  return (starting ?? gathering ?? gathered) === undefined && !isLiving(announcedEvent(doc), now);
}
