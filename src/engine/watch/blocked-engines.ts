import { failure } from '../../model/failures.js';
import type { StoredDocument } from '../../model/document.js';
import type { Failure } from '../../model/step.js';
import { listed, shortened, textOf } from '../../words.js';

/** Where a watchdog writes down that a decision about the job held up its engine until it was ended. */
export const heldUpKey = 'held_up';

/** One engine that had to be ended. */
type HeldUp = { readonly engine: string; readonly at: number };

/** The engines, one after the other, that were ended because of a job. */
export function heldUpBy(doc: Readonly<Record<string, unknown>>): readonly unknown[] {
  const engines = doc[heldUpKey];
  return Array.isArray(engines) ? engines : [];
}

/**
 * The failure of a job that blocked `crashLimit` engines in a row, which names them. Undefined when it
 * blocked fewer.
 */
export function blockedBy(
  doc: Readonly<Record<string, unknown>>,
  crashLimit: number,
): Failure | undefined {
  const all = heldUpBy(doc);
  if (all.length < crashLimit) return undefined;
  const names = all.map((one) => shortened(textOf((one as Partial<HeldUp> | null)?.engine), 100));
  return failure('DecisionBlocked', { limit: crashLimit, engines: listed(names, mostNamed) });
}

/** Maximum number of engines that are named. */
const mostNamed = 10;

/** The job with one more of them. */
export function withHeldUp<T extends Readonly<Record<string, unknown>>>(doc: T, by: HeldUp): T {
  return { ...doc, [heldUpKey]: [...heldUpBy(doc), by] };
}

/** The job as it is decided upon: what is written next forgets the engines, for this one goes on. */
export function withoutHeldUp(doc: StoredDocument): StoredDocument {
  if (!(heldUpKey in doc)) return doc;
  const { [heldUpKey]: _engines, ...rest } = doc;
  return rest;
}
