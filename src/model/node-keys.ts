import { z } from 'zod';

/** The keys of which each node has one: it tells what kind of node it is. */
export const kinds = [
  'task',
  'wait',
  'delay',
  'flow',
  'decider',
  'sequence',
  'parallel',
  'batch',
  'graph',
  'choice',
  'map',
  'loop',
] as const;
export type Kind = (typeof kinds)[number];

/** A key that must not be there; `error` says why, as a sentence that begins with "must". */
const never = (error: string) => z.exactOptional(z.never({ error }));
type Never = ReturnType<typeof never>;

/** A key that would make two kinds of node of one. */
export const besideText = (beside: Kind): string => `must not stand beside "${beside}" in one node`;

/** No key of another kind may stand in a node of this kind, but for those in `except`. */
export function alone<E extends Kind | 'structure' = never>(kind: Kind, ...except: readonly E[]) {
  const others = [...kinds, 'structure' as const].filter(
    (key) => key !== kind && !(except as readonly string[]).includes(key),
  );
  return Object.fromEntries(others.map((key) => [key, never(besideText(kind))])) as Record<
    Exclude<Kind | 'structure', E>,
    Never
  >;
}

const ofParallel =
  'must stand beside "parallel", or in a node of a "graph": nothing else reads it' as const;
const ofBatch = 'must stand beside "batch": nothing else reads it' as const;

/** Keys that only some structures read; they come first, and these structures take their place. */
export const ofStructures = {
  join: never(ofParallel),
  cancel_rest: never(ofParallel),
  on_fail: never('must stand beside "parallel", "batch" or "graph", or inside "map"'),
  on_success: never(ofBatch),
  on_failure: never(ofBatch),
  on_complete: never(ofBatch),
  after: never('must stand in a node of a "graph": nothing else reads it'),
};

const ofEntries = ['params', 'stdio', 'retry', 'timeout', 'heartbeat', 'error', 'undo'] as const;

/** Keys of entries that structures do not read. */
export function notOfEntries(kind: Kind) {
  const text = `must stand in an entry: "${kind}" does not read it`;
  return Object.fromEntries(ofEntries.map((key) => [key, never(text)])) as Record<
    (typeof ofEntries)[number],
    Never
  >;
}

/** Keys that belong into the value of the key of the kind, not beside it. */
export function within<K extends string>(kind: Kind, ...keys: readonly K[]): Record<K, Never> {
  const text = `must stand inside "${kind}", not beside it`;
  return Object.fromEntries(keys.map((key) => [key, never(text)])) as Record<K, Never>;
}
