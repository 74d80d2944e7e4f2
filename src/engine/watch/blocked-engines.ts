import { failure } from '../../model/failures.js';
import type { StoredDocument } from '../../model/document.js';
import { isFinalState } from '../../model/job.js';
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

/** How often the record is tried: each time somebody else may have written the job meanwhile. */
const mostTries = 3;

/**
 * Records in a live job that it blocked an engine. A write whose answer did not come may have landed:
 * the record is looked for before it is written again, or one block would count as two.
 *
 * @param request sends a request for the document of the job; resolves to the answer, else to undefined
 */
export async function recordBlockedEngine(
  request: (method: 'GET' | 'PUT', body?: object) => Promise<unknown>,
  by: BlockedEngine,
): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const doc = (await request('GET')) as StoredDocument | undefined;
    if (doc === undefined) continue;
    if (doc['type'] !== 'job' || isFinalState(doc['state']) || isRecorded(doc, by)) return;
    const engines = [...enginesBlockedBy(doc), by];
    const answer = await request('PUT', { ...doc, [blockedEnginesKey]: engines });
    if ((answer as { readonly ok?: unknown } | undefined)?.ok === true) return;
  }
}

function isRecorded(doc: StoredDocument, { engine, at }: BlockedEngine): boolean {
  return enginesBlockedBy(doc).some((one) => {
    const known = one as Partial<BlockedEngine> | null;
    return known?.engine === engine && known.at === at;
  });
}

/** The job as it is decided upon: what is written next forgets the engines, for this one goes on. */
export function withoutBlockedEngines(doc: StoredDocument): StoredDocument {
  if (!(blockedEnginesKey in doc)) return doc;
  const { [blockedEnginesKey]: _engines, ...rest } = doc;
  return rest;
}
