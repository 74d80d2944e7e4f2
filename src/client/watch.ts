import { setTimeout as sleep } from 'node:timers/promises';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import type { FeedState } from '../store/feed.js';
import type { Store } from '../store/store.js';
import { currentJob, isEndedJob, jobOf } from './jobs.js';

export type WatchOptions = {
  /** Ends the watch; the job goes on. */
  readonly signal?: AbortSignal;
  /** Called with the job as it is now, and each later revision that is seen. */
  readonly onChange?: (job: StoredDocument) => void;
  /**
   * Called when the database stops answering, and when it answers again. With it the first look at the
   * job waits for the database as well; without it that rejects. What was seen once is waited for in
   * any case.
   */
  readonly onState?: (state: FeedState) => void;
  /** How often the server has to give a sign of life, ms. */
  readonly heartbeatMs?: number;
};

/**
 * Follows a job to its end, and to the ends of the jobs as which it goes on. Resolves to the last of
 * them; undefined when the watch was ended, or the job deleted.
 */
export async function watchJob(
  store: Store,
  id: string,
  options: WatchOptions = {},
): Promise<StoredDocument | undefined> {
  const passed = new Set<string>();
  let ended = await watchOne(store, id, options, options.onState !== undefined);
  while (ended !== undefined) {
    const last = ended;
    passed.add(last._id);
    const current = await whenThere(store, () => currentJob(store, last), options);
    if (current === undefined) return undefined;
    if (passed.has(current.value._id)) return last;
    ended = await watchOne(store, current.value._id, options, true);
  }
  return undefined;
}

/** Follows one job to its end. */
async function watchOne(
  store: Store,
  id: string,
  options: WatchOptions,
  waits: boolean,
): Promise<StoredDocument | undefined> {
  const { signal, onChange } = options;
  if (signal?.aborted === true) return undefined;
  const look = (): Promise<FirstLook> => firstLook(store, id);
  const first = waits ? await whenThere(store, look, options) : { value: await look() };
  if (first === undefined) return undefined;
  onChange?.(first.value.now);
  return isEndedJob(first.value.now) ? first.value.now : followOne(store, first.value, options);
}

/** Follows a job from the position at which it was read. */
async function followOne(
  store: Store,
  { now, updateSeq }: FirstLook,
  { signal, onChange, onState, heartbeatMs }: WatchOptions,
): Promise<StoredDocument | undefined> {
  const end = new AbortController();
  const ended = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
  const follow = {
    since: updateSeq,
    signal: ended,
    ...(onState === undefined ? {} : { onState }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
  };
  try {
    for await (const change of store.follow(follow)) {
      if (change.id !== now._id) continue;
      if (change.deleted) return undefined;
      if (change.doc === undefined || change.doc._rev === now._rev) continue;
      onChange?.(change.doc);
      if (isEndedJob(change.doc)) return change.doc;
    }
  } finally {
    end.abort();
  }
  return undefined;
}

type FirstLook = { readonly now: StoredDocument; readonly updateSeq: string };

/** The position comes first, so that no change falls between it and the job as it is now. */
async function firstLook(store: Store, id: string): Promise<FirstLook> {
  const { updateSeq } = await store.info();
  return { updateSeq, now: await jobOf(store, id) };
}

/** How long between two tries while the database is away, ms. */
const retryMs = 1_000;

/** Asks until the database answers; undefined: the watch was ended. */
async function whenThere<T>(
  store: Store,
  ask: () => Promise<T>,
  { signal, onState }: Pick<WatchOptions, 'signal' | 'onState'>,
): Promise<{ readonly value: T } | undefined> {
  let wasAway = false;
  while (signal?.aborted !== true) {
    try {
      const value = await ask();
      if (wasAway && onState !== undefined) {
        const { copies } = await store.info();
        onState({ kind: 'following', copies });
      }
      return { value };
    } catch (error) {
      if (!isAway(error)) throw error;
      wasAway = true;
      onState?.({ kind: 'lost', cause: error.message, retryInMs: retryMs });
      await sleep(retryMs, undefined, signal === undefined ? {} : { signal }).catch(
        () => undefined,
      );
    }
  }
  return undefined;
}

/** Whether a server is away for a time, which waiting may mend. */
export function isAway(error: unknown): error is TwsError {
  return (
    error instanceof TwsError &&
    (error.code === 'couch_unreachable' || error.code === 'couch_failed')
  );
}
