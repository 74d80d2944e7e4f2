import type { Store } from '../store/store.js';

/** A result that is kept. Times are epoch ms. */
export type CachedRow = {
  readonly id: string;
  readonly owner: string;
  readonly task: string;
  readonly job: string;
  readonly path: string;
  readonly at: number;
  readonly until: number;
};

export type CachedChoice = {
  readonly task?: string | undefined;
  readonly owner?: string | undefined;
};

/** What the client does about results that are kept. */
export type CachedResults = {
  readonly cachedResults: (choice?: CachedChoice) => AsyncIterable<CachedRow>;
  /** Removes them, and resolves with their number. */
  readonly clearCached: (choice?: CachedChoice) => Promise<number>;
};

export function cachedResults(store: Store): CachedResults {
  const rows = (choice: CachedChoice = {}) => rowsOf(store, choice);
  return {
    cachedResults: async function* (choice) {
      for await (const { row } of rows(choice)) yield row;
    },
    clearCached: async (choice) => {
      let removed = 0;
      for await (const { row, rev } of rows(choice)) {
        const { kind } = await store.remove(row.id, rev);
        if (kind === 'written') removed += 1;
      }
      return removed;
    },
  };
}

async function* rowsOf(store: Store, { task, owner }: CachedChoice) {
  // Most commands need no schemas of documents.
  const { cachedResultPrefix, cachedResultSchema } = await import('../model/cached-result.js');
  for await (const doc of store.rangePages(cachedResultPrefix)) {
    const { data } = cachedResultSchema.safeParse(doc);
    if (data === undefined) continue;
    if (task !== undefined && data.task !== task) continue;
    if (owner !== undefined && data.owner !== owner) continue;
    const { job, path, at, until } = data;
    const row = { id: doc._id, owner: data.owner, task: data.task, job, path, at, until };
    yield { row, rev: doc._rev };
  }
}
