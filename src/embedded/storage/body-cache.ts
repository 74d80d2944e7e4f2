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
  const bodies = new Map<string, { readonly rev: string; readonly json: string }>();
  let chars = 0;
  let inUse = false;

  const forget = (id: string): void => {
    chars -= bodies.get(id)?.json.length ?? 0;
    bodies.delete(id);
  };
  const keep = (id: string, rev: string, json: string): void => {
    forget(id);
    bodies.set(id, { rev, json });
    chars += json.length;
    for (const oldest of bodies.keys()) {
      if (chars <= MAX_CHARS) break;
      forget(oldest);
    }
  };

  return {
    find(id, rev) {
      inUse = true;
      const body = bodies.get(id);
      return body?.rev === rev ? body.json : undefined;
    },
    keep,
    forget,
    note({ id, leaves: [rev], json }) {
      if (inUse && rev !== undefined) keep(id, rev, json);
    },
  };
}
