import type { Wait } from '../intent.js';
import type { World } from '../world.js';

/** So long a job waits before what could not be found out is asked again, ms. */
const againMs = 1_000;

/**
 * The wait of a job about which the engine cannot find out now what the decision asks for: that is no
 * fault of the document, so nothing in it fails.
 */
export function waitForAnswer({ unanswered }: World, now: number): Wait | undefined {
  if (unanswered === undefined) return undefined;
  return { kind: 'wait', because: `${unanswered}. It is tried again.`, until: now + againMs };
}
