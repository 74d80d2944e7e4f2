import type { LiveJob } from '../../model/job.js';
import { exits, isLive, isOpen, type Step } from '../../model/step.js';
import { type Structure, isWithin } from '../../model/tree.js';
import { cancelled, finish } from '../finish/finish.js';
import { hasBegun } from '../../reading/attempts.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';
import { isUndoing } from '../../structures/paths.js';
import { cancelledSteps, stopMove } from '../finish/stop.js';
import { interpret } from '../../reading/progress.js';
import { unneededIn } from '../../reading/unneeded.js';
import { tooManyDecisionsMove } from '../finish/too-many.js';
import { undoMove } from '../finish/undo.js';
import { waitsMove } from '../waiting/waits.js';
import { workMove } from '../work.js';

/**
 * Advances a cancelled job: running attempts are told to stop and may finish, nothing of the flow
 * begins any more, the `cancel` branch of the flow runs if any step had begun, then the job is
 * final.
 */
export function cancelMove(job: LiveJob, now: number, world: World): Move | undefined {
  const waiting = job.steps.some((step) => step.state === '$$waiting' && isOfFlow(step));
  if (waiting) {
    const isGivenUp = (step: Step): boolean => step.state === '$$waiting' && isOfFlow(step);
    return { kind: 'change', job: cancelledSteps(job, isGivenUp, cancelled(job), now) };
  }
  const running = job.steps.filter(isLive).filter(isOfFlow);
  const stop = stopMove(running, 'The job is cancelled.', world);
  if (stop !== undefined) return stop;
  if (running.length > 0) {
    const because = `The job is cancelled; step ${running[0]?.name} still runs.`;
    return { kind: 'wait', because };
  }
  const { cancel = nothing } = job.flow_definition;
  return (
    tooManyDecisionsMove(job, ['cancel'], now) ??
    waitsMove(job, now, world, () => unneededIn(job, cancel, 'cancel', 'cancel')) ??
    undoMove(job, now, world) ??
    branchMove(job, now, world) ??
    endMove(job, now)
  );
}

/** The cancel branch of a flow that has none. */
const nothing: Structure = { structure: 'sequence', ...{ sequence: [] } };

/** Undoing, and steps of the cancel branch with their handlers: cancelling does not stop these. */
function isOfFlow({ path }: Step): boolean {
  return !isUndoing(path) && !isWithin(path, 'cancel');
}

function branchMove(job: LiveJob, now: number, world: World): Move | undefined {
  const { cancel } = job.flow_definition;
  if (cancel === undefined || !hasBegun(job)) return undefined;
  const progress = interpret(job, cancel, 'cancel', 'cancel');
  const rest = progress.begin.length === 0 && !job.steps.some(isOpen);
  if (progress.kind !== 'open' && rest) return undefined;
  return workMove(job, progress, now, world);
}

function endMove(job: LiveJob, now: number): Move {
  const ending = { state: '$$cancelled', exit: exits.cancelled, failure: cancelled(job) } as const;
  return { kind: 'change', job: finish(job, ending, now) };
}
