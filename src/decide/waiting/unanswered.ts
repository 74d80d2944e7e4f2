import type { Wait } from '../intent.js';
import type { World } from '../world.js';

/** So long a job waits before what could not be found out is asked again, ms. */
const againMs = 1_000;

/**
 * Returns the wait of a job while the engine cannot find out what the decision asks. That is no
 * fault of the document, so nothing in the job fails.
 */
export function waitForAnswer({ unanswered }: World, now: number): Wait | undefined {
  if (unanswered === undefined) return undefined;
  return { kind: 'wait', because: `${unanswered}. It is tried again.`, until: now + againMs };
}
