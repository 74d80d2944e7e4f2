import type { StoredDocument } from '../model/document.js';
import type { LiveJob } from '../model/job.js';
import { isObject } from '../model/object.js';
import { allResults } from '../reading/results.js';

/** What came of a job: its result, or else what its steps and structures left, as a later step would see it. */
export function outcomeOf(job: StoredDocument): unknown {
  const { result, steps } = job;
  if (result !== undefined) return result;
  const done = (Array.isArray(steps) ? steps : []).filter(
    (step: unknown) => isObject(step) && step['state'] === '$$complete',
  ) as readonly {
    readonly name: string;
    readonly result?: unknown;
    readonly structure?: unknown;
  }[];
  const seen = resultsSeen(job);
  return Object.fromEntries(
    done
      // What a structure without a name found out is nobody's result.
      .filter(({ name, structure }) => structure === undefined || Object.hasOwn(seen, name))
      .map(({ name, result: own }) => [name, seen[name] ?? own ?? null]),
  );
}

/** The results by name: of what ran several times in a map those of all items. */
function resultsSeen(job: StoredDocument): Readonly<Record<string, unknown>> {
  try {
    return allResults(job as unknown as LiveJob, new Map()).results;
  } catch {
    // Somebody has changed the document by hand: the steps tell their own.
    return {};
  }
}
