import type { StoredDocument } from '../model/document.js';
import type { LiveJob } from '../model/job.js';
import { isObject } from '../model/object.js';
import { caughtIn, type CaughtFailure } from '../reading/caught.js';
import { shortened } from '../words.js';
import type { Reason } from './reason.js';

/** So many caught failures are told, the last ones. */
const shownCaught = 3;
const longestMessage = 1_000;

/** Which failures of a job were caught, and where the flow goes on. */
export function caughtReasons(job: StoredDocument): readonly Reason[] {
  const all = caughtOf(job);
  const left = all.length - shownCaught;
  return all.slice(-shownCaught).map(({ clause, failed: { name, failure } }, i) => {
    const more = i === 0 && left > 0 ? ` (and ${left} before)` : '';
    const what = shortened(`${failure.name}: ${failure.message}`, longestMessage);
    const said = /[.!?…]$/.test(what) ? what : `${what}.`;
    const because = `Step "${name}" failed${more}, which was caught: ${said} The flow went on in branch ${clause + 1} of its "catch".`;
    return { kind: 'caught', because };
  });
}

/** Of a job that has not begun, or that somebody has edited, there is nothing to tell. */
function caughtOf(job: StoredDocument): readonly CaughtFailure[] {
  if (!isObject(job['tasks']) || !Array.isArray(job['steps'])) return [];
  try {
    return caughtIn(job as unknown as LiveJob);
  } catch {
    return [];
  }
}
