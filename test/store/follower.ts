import { expect, onTestFinished } from 'vitest';
import type { Change } from '../../src/store/change.js';
import type { FeedState, FollowOptions } from '../../src/store/feed.js';
import type { Store } from '../../src/store/store.js';

/** A feed that is read as fast as it comes, until the test ends. */
export type Follower = {
  readonly ids: () => readonly string[];
  readonly changes: readonly Change[];
  /** `following`, or `lost: <cause>`, in the order they were told. */
  readonly states: readonly string[];
  /** Waits until a state that begins so was told after the first `since` states. */
  readonly state: (begin: string, since?: number) => Promise<void>;
  readonly id: (id: string) => Promise<void>;
  /** Ends the feed and waits for its end. */
  readonly stop: () => Promise<void>;
};

/** Follows a store with waits that are short enough for tests. */
export function follow(store: Store, options: Partial<FollowOptions> = {}): Follower {
  const changes: Change[] = [];
  const states: string[] = [];
  const ended = new AbortController();
  const onState = (state: FeedState): void => {
    states.push(state.kind === 'lost' ? `lost: ${state.cause}` : state.kind);
  };
  const run = async (): Promise<void> => {
    const feed = store.follow({
      since: '0',
      signal: ended.signal,
      onState,
      backoff: { firstMs: 20, maxMs: 100, refusedMs: 100 },
      ...options,
    });
    for await (const change of feed) changes.push(change);
  };
  const running = run();
  const ids = (): readonly string[] => changes.map(({ id }) => id);
  const stop = async (): Promise<void> => {
    ended.abort();
    await running;
  };
  onTestFinished(stop);
  const patience = { timeout: 60_000, interval: 10 };
  return {
    ids,
    changes,
    states,
    state: (begin, since = 0) =>
      expect
        .poll(() => states.slice(since).some((state) => state.startsWith(begin)), patience)
        .toBe(true),
    id: (id) => expect.poll(ids, patience).toContain(id),
    stop,
  };
}
