import { setTimeout as sleep } from 'node:timers/promises';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import type { FeedState } from '../store/feed.js';
import type { Store } from '../store/store.js';
import { currentJob, isFinalState, jobOf } from './jobs.js';

export type WatchOptions = {
  /** Ends the watch; the job goes on. */
  readonly signal?: AbortSignal;
  /** Told the job as it is now, and each later revision that is seen. */
  readonly onChange?: (job: StoredDocument) => void;
  /**
   * Told when the database answers no more and when it does again. With it the first look at the
   * job waits for the database as well; without it that rejects.
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
  let ended = await watchOne(store, id, options);
  while (ended !== undefined) {
    passed.add(ended._id);
    const current = await currentJob(store, ended);
    if (passed.has(current._id)) return ended;
    ended = await watchOne(store, current._id, options);
  }
  return undefined;
}

/** Follows one job to its end. */
async function watchOne(
  store: Store,
  id: string,
  options: WatchOptions,
): Promise<StoredDocument | undefined> {
  const { signal, onChange, onState, heartbeatMs } = options;
  const end = new AbortController();
  const ended = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
  const first = await firstLook(store, id, { signal: ended, onState });
  if (first === undefined) return undefined;
  const { now, updateSeq } = first;
  onChange?.(now);
  if (isFinalState(now)) return now;
  const follow = {
    since: updateSeq,
    signal: ended,
    ...(onState === undefined ? {} : { onState }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
  };
  try {
    for await (const change of store.follow(follow)) {
      if (change.id !== id) continue;
      if (change.deleted) return undefined;
      if (change.doc === undefined || change.doc._rev === now._rev) continue;
      onChange?.(change.doc);
      if (isFinalState(change.doc)) return change.doc;
    }
  } finally {
    end.abort();
  }
  return undefined;
}

type FirstLook = { readonly now: StoredDocument; readonly updateSeq: string };

/** How long between two tries to see the job at all, ms. */
const retryMs = 1_000;

/** The position comes first, so that no change falls between it and the job as it is now. */
async function firstLook(
  store: Store,
  id: string,
  { signal, onState }: { signal: AbortSignal; onState: WatchOptions['onState'] },
): Promise<FirstLook | undefined> {
  let wasAway = false;
  while (!signal.aborted) {
    try {
      const { updateSeq, copies } = await store.info();
      const now = await jobOf(store, id);
      if (wasAway) onState?.({ kind: 'following', copies });
      return { updateSeq, now };
    } catch (error) {
      if (onState === undefined || !isAway(error)) throw error;
      wasAway = true;
      onState({ kind: 'lost', cause: error.message, retryInMs: retryMs });
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
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
