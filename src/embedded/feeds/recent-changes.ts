import type { Change } from '../storage/storage.js';

/** How much of the newest changes is kept for feeds that are up to date. */
const MAX_CHANGES = 1_000;
const MAX_CHARS = 8 * 1024 * 1024;

/** A change with its document's JSON, which all feeds share. */
export type FeedChange = Change & { readonly json: string };

export const withJson = (change: Change): FeedChange => ({
  ...change,
  json: JSON.stringify(change.doc),
});

/** The newest changes in order, without gaps from `floor` (exclusive) to `reached` (inclusive). */
export type RecentChanges = {
  /** The position up to which changes were read; undefined before the first reading. */
  reached(): number | undefined;
  /** Forgets everything and goes on from a position. */
  restart(at: number): void;
  add(changes: readonly FeedChange[]): void;
  /** The changes behind a position, as far as they are here without a gap. */
  after(since: number): readonly FeedChange[];
};

export function createRecentChanges(): RecentChanges {
  let recent: FeedChange[] = [];
  let chars = 0;
  let floor = 0;
  let reached: number | undefined;

  const dropOldest = (): void => {
    const oldest = recent.shift();
    if (oldest === undefined) return;
    chars -= oldest.json.length;
    floor = oldest.seq;
  };

  return {
    reached: () => reached,
    restart(at) {
      recent = [];
      chars = 0;
      floor = at;
      reached = at;
    },
    add(changes) {
      // Of a document only the newest state is shown, as in the store.
      const superseded = new Set(changes.map((change) => change.id));
      recent = [...recent.filter((change) => !superseded.has(change.id)), ...changes];
      chars = recent.reduce((sum, change) => sum + change.json.length, 0);
      while (recent.length > MAX_CHANGES || (chars > MAX_CHARS && recent.length > 1)) dropOldest();
      reached = changes.at(-1)?.seq ?? reached;
    },
    after: (since) =>
      reached === undefined || since < floor || since >= reached
        ? []
        : recent.filter((change) => change.seq > since),
  };
}
