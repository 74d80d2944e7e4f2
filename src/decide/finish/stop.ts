import type { LiveJob } from '../../model/job.js';
import { exits, type Failure, type LiveStep, type Step } from '../../model/step.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';

/**
 * Tells the running attempts of this engine among the given ones to stop; they end when their
 * plugins do. Returns undefined when none runs here or all were told before.
 */
export function stopMove(
  running: readonly LiveStep[],
  because: string,
  { me }: World,
): Move | undefined {
  const claims = running
    .map(({ claim }) => claim)
    .filter((claim) => me.running.has(claim) && !me.stopping.has(claim));
  return claims.length === 0 ? undefined : { kind: 'abort', claims, because };
}

/** Returns a copy of the job in which the chosen steps are cancelled. */
export function cancelledSteps(
  job: LiveJob,
  isChosen: (step: Step) => boolean,
  why: Failure,
  now: number,
): LiveJob {
  const ended = { state: '$$cancelled' as const, end: now, exit: exits.cancelled };
  const steps = job.steps.map((step) =>
    isChosen(step) ? { ...step, ...ended, failure: { ...why, step: step.name } } : step,
  );
  return { ...job, steps };
}
