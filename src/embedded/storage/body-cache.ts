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
  /** Whether the body of exactly this revision is here. */
  has(id: string, rev: string): boolean;
  /** The body of the only leaf revision of a document as JSON, if it is here. */
  only(id: string): string | undefined;
  keep(id: string, rev: string, json: string): void;
  /** Takes what was just written. */
  note(change: StoredChange): void;
  forget(id: string): void;
};

type Body = { readonly rev: string; readonly json: string; readonly isOnly: boolean };

export function createBodyCache(): BodyCache {
  const bodies = new LRUCache<string, Body>({
    maxSize: MAX_CHARS,
    sizeCalculation: ({ json }) => json.length,
  });
  let inUse = false;

  const keep = (id: string, body: Body): void => void bodies.set(id, body);

  return {
    find(id, rev) {
      inUse = true;
      const body = bodies.get(id);
      return body?.rev === rev ? body.json : undefined;
    },
    has: (id, rev) => bodies.peek(id)?.rev === rev,
    only(id) {
      inUse = true;
      const body = bodies.get(id);
      return body?.isOnly === true ? body.json : undefined;
    },
    keep: (id, rev, json) => keep(id, { rev, json, isOnly: false }),
    forget: (id) => void bodies.delete(id),
    note({ id, leaves: [rev, ...others], json }) {
      if (inUse && rev !== undefined) keep(id, { rev, json, isOnly: others.length === 0 });
    },
  };
}
