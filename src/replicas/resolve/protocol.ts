import type { UncancelledChild } from '../../decide/finish/abandoned.js';
import type { GivenUp } from '../../decide/intent.js';
import type { NewDraft, LeafRevision } from './leaf-revisions.js';

/** A document to be written upon a revision. */
export type Draft = NewDraft & { readonly _rev: string };

/**
 * What became of a write. `unknown`: not acknowledged by a quorum of the copies (202), or no answer;
 * it may have taken place on some, none or all copies, or be still on its way to them.
 */
export type WriteAnswer =
  | { readonly kind: 'written'; readonly rev: string }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'refused'; readonly reason: string; readonly bytes?: number }
  | { readonly kind: 'unknown'; readonly cause: string };

/**
 * One request of a protocol to whoever runs it. `look` reads the leaves of a document from all
 * copies that answer, the winner first; `abandon` gives these children of the job up.
 */
export type Effect =
  | { readonly kind: 'write'; readonly doc: NewDraft }
  | { readonly kind: 'look'; readonly id: string }
  | { readonly kind: 'abandon'; readonly id: string; readonly children: readonly GivenUp[] }
  | { readonly kind: 'rest'; readonly ms: number };

/**
 * To a `write` its result, to a `look` the leaves (undefined: the engine ends), to an `abandon` the
 * children that cannot be cancelled (undefined: there are none), to a `rest` nothing.
 */
export type EffectAnswer =
  WriteAnswer | readonly LeafRevision[] | readonly UncancelledChild[] | undefined;

/**
 * Several requests to the store and what follows from their answers, as a generator: it waits for
 * nothing itself. The engine runs it with the real store, the fault store of the tests with its own.
 */
export type Protocol<T> = Generator<Effect, T, EffectAnswer>;

export function* write(doc: NewDraft): Protocol<WriteAnswer> {
  return (yield { kind: 'write', doc }) as WriteAnswer;
}

export function* look(id: string): Protocol<readonly LeafRevision[] | undefined> {
  return (yield { kind: 'look', id }) as readonly LeafRevision[] | undefined;
}

export function* abandon(
  id: string,
  children: readonly GivenUp[],
): Protocol<readonly UncancelledChild[]> {
  if (children.length === 0) return [];
  return ((yield { kind: 'abandon', id, children }) ?? []) as readonly UncancelledChild[];
}

/** Waits before the next try, longer each time (`tries` from 0). */
export function* rest(tries: number): Protocol<void> {
  yield { kind: 'rest', ms: Math.min(2_000, 50 * 2 ** tries) };
}
