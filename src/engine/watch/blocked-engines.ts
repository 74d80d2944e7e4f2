import { failure } from '../../model/failures.js';
import type { StoredDocument } from '../../model/document.js';
import type { Failure } from '../../model/step.js';
import { listed, shortened, textOf } from '../../words.js';

/** Where a watchdog writes down that a decision about the job held up its engine until it was ended. */
export const blockedEnginesKey = 'held_up';

/** One engine that had to be ended. */
type BlockedEngine = { readonly engine: string; readonly at: number };

/** The engines, one after the other, that were ended because of a job. */
export function enginesBlockedBy(doc: Readonly<Record<string, unknown>>): readonly unknown[] {
  const engines = doc[blockedEnginesKey];
  return Array.isArray(engines) ? engines : [];
}

/**
 * The failure of a job that blocked `crashLimit` engines in a row, which names them. Undefined when it
 * blocked fewer.
 */
export function failureForBlocking(
  doc: Readonly<Record<string, unknown>>,
  crashLimit: number,
): Failure | undefined {
  const all = enginesBlockedBy(doc);
  if (all.length < crashLimit) return undefined;
  const names = all.map((one) =>
    shortened(textOf((one as Partial<BlockedEngine> | null)?.engine), 100),
  );
  return failure('DecisionBlocked', { limit: crashLimit, engines: listed(names, mostNamed) });
}

/** Maximum number of engines that are named. */
const mostNamed = 10;

/** The job with one more of them. */
export function withBlockedEngine<T extends Readonly<Record<string, unknown>>>(
  doc: T,
  by: BlockedEngine,
): T {
  return { ...doc, [blockedEnginesKey]: [...enginesBlockedBy(doc), by] };
}

/** The job as it is decided upon: what is written next forgets the engines, for this one goes on. */
export function withoutBlockedEngines(doc: StoredDocument): StoredDocument {
  if (!(blockedEnginesKey in doc)) return doc;
  const { [blockedEnginesKey]: _engines, ...rest } = doc;
  return rest;
}
