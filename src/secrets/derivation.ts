import { createLru } from '../memo.js';

/**
 * Derives keys beside the event loop: `scrypt` and `pbkdf2` run in threads of Node, which file system
 * and DNS use as well, so only a few at once. Results are kept; those not asked for longest go first.
 */

/** Derivations at the same time. */
const atOnce = 2;
/** Derived keys that stay in memory; a process seldom meets more salts than this. */
const kept = 256;

const known = createLru<Promise<Buffer>>(kept);
const waiting: (() => void)[] = [];
let running = 0;

/** The key of a name that says everything it depends on; derived once for all who ask meanwhile. */
export function derived(name: string, derive: () => Promise<Buffer>): Promise<Buffer> {
  const before = known.get(name);
  if (before !== undefined) return before;
  const key = withinLimit(derive);
  known.set(name, key);
  key.catch(() => known.delete(name));
  return key;
}

async function withinLimit(derive: () => Promise<Buffer>): Promise<Buffer> {
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await derive();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
