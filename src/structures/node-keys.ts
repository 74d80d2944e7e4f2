import { z } from 'zod';
import { nodeKinds, structureKinds } from './kinds.js';

/** A key that must not be there; `error` says why, as a sentence that begins with "must". */
const never = (error: string) => z.exactOptional(z.never({ error }));
type Barred = Readonly<Record<string, ReturnType<typeof never>>>;

function barred(keys: readonly string[], textOf: (key: string) => string): Barred {
  return Object.fromEntries(keys.map((key) => [key, never(textOf(key))]));
}

/** Returns the message for a key that would make two kinds of one node. */
export const besideText = (beside: string): string =>
  `must not stand beside "${beside}" in one node`;

/**
 * Bars the keys of all other kinds from a node of this kind, except those in `except`; what catches a
 * failure may stand beside all.
 */
export function alone(kind: string, ...except: readonly string[]): Barred {
  const others = [...nodeKinds, 'structure'].filter(
    (key) => key !== kind && ![...except, 'catch'].includes(key),
  );
  return barred(others, () => besideText(kind));
}

/** Keys that every kind of node reads in a graph. */
const inGraphs = ['after', 'join', 'cancel_rest'];

/**
 * Bars the keys that only some structures read. They come first in a schema, so that these
 * structures can replace them.
 */
export const ofStructures: Barred = barred(
  [...new Set([...Object.values(structureKinds).flatMap(besideOf), ...inGraphs])],
  (key) => {
    const readers = Object.entries(structureKinds);
    const beside = readers.filter(([, kind]) => besideOf(kind).includes(key));
    const inside = readers.filter(([, { written }]) => written.inside?.includes(key) === true);
    const places = [
      ...(beside.length === 0 ? [] : [`stand beside ${listed(beside)}`]),
      ...(inside.length === 0 ? [] : [`inside ${listed(inside)}`]),
      ...(inGraphs.includes(key)
        ? [`${beside.length === 0 ? 'stand ' : ''}in a node of a "graph"`]
        : []),
    ];
    return `must ${places.join(', or ')}: nothing else reads it`;
  },
);

function besideOf({ written }: (typeof structureKinds)[string]): readonly string[] {
  return written.beside ?? [];
}

/** `"a", "b" or "c"`. */
function listed(readers: readonly (readonly [word: string, kind: unknown])[]): string {
  const words = readers.map(([word]) => `"${word}"`);
  const last = words.pop();
  return words.length === 0 ? String(last) : `${words.join(', ')} or ${last}`;
}

const ofEntries = ['params', 'stdio', 'retry', 'timeout', 'heartbeat', 'error', 'undo'] as const;

/** Bars the keys of entries, which structures do not read. */
export function notOfEntries(kind: string): Barred {
  return barred(ofEntries, () => `must stand in an entry: "${kind}" does not read it`);
}

/** Bars keys that belong inside the value of the key of the kind, not beside it. */
export function within(kind: string, keys: readonly string[]): Barred {
  return barred(keys, () => `must stand inside "${kind}", not beside it`);
}
