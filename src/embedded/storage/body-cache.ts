import { LRUCache } from 'lru-cache';
import type { StoredChange } from './storage.js';

/** How much of the newest document bodies is kept in memory, in characters of JSON. */
const MAX_CHARS = 16 * 1024 * 1024;

/**
 * The newest bodies, by id: a validation function needs the stored revision for each write, and
 * engines write the same documents again and again. Filled only once somebody asks.
 */
export type BodyCache = {
  /** The body of exactly this revision as JSON, if it is here. */
  find(id: string, rev: string): string | undefined;
  keep(id: string, rev: string, json: string): void;
  /** Takes what was just written. */
  note(change: StoredChange): void;
  forget(id: string): void;
};

export function createBodyCache(): BodyCache {
  const bodies = new LRUCache<string, { readonly rev: string; readonly json: string }>({
    maxSize: MAX_CHARS,
    sizeCalculation: ({ json }) => json.length,
  });
  let inUse = false;

  const keep: BodyCache['keep'] = (id, rev, json) => void bodies.set(id, { rev, json });

  return {
    find(id, rev) {
      inUse = true;
      const body = bodies.get(id);
      return body?.rev === rev ? body.json : undefined;
    },
    keep,
    forget: (id) => void bodies.delete(id),
    note({ id, leaves: [rev], json }) {
      if (inUse && rev !== undefined) keep(id, rev, json);
    },
  };
}
