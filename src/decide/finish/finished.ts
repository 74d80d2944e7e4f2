import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isLive, isOpen, type StepIn } from '../../model/step.js';
import { finishingStep } from '../../reading/attempts.js';
import { hardDeadline, untilOf } from '../../reading/clock.js';
import { textsOf } from '../../structures/kinds.js';
import type { Beginning } from '../../structures/progress.js';
import type { Begun, Move } from '../intent.js';
import { unprepared } from '../start/attempt.js';
import { prepare } from '../start/prepare.js';
import { newAttempt, withBegun } from '../steps.js';
import type { World } from '../world.js';
import { completeWith, succeed } from './complete.js';
import { finish } from './finish.js';
import { cancelledSteps, stopMove } from './stop.js';

/**
 * Begins and completes a step that ends the flow early: the step says so (`finishes`), and the job ends
 * when nothing is open any more. Returns a query when data is missing, or the failed step when the result
 * cannot be rendered.
 */
export function beginFinish(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { entry } = beginning.leaf;
  const prepared = prepare(job, beginning, world, { texts: textsOf(entry) });
  if (!prepared.ok) return unprepared(job, beginning, prepared, now);
  const { exit } = typeof entry.finish === 'object' ? entry.finish : {};
  const result = prepared.texts['finish.result'];
  const step: StepIn<'$$complete'> = {
    ...newAttempt(job, beginning),
    state: '$$complete',
    ...{ accepted: now, start: now, end: now, exit: exits.success, finishes: true },
    ...(exit === undefined ? {} : { sets_exit: exit }),
    ...(result === undefined ? {} : { result }),
  };
  return { kind: 'change', job: withBegun(job, step, now) };
}

/**
 * Ends a job that a step has finished: waits end, what runs is told to stop and may end, then the job
 * is final with the result and the exit of that step. Nothing is undone, retried or handled.
 *
 * F8 Once a step has finished the flow, no step of that run begins any more.
 * F9 Only a cancel, a hard timeout or a pause comes before that end.
 */
export function finishedMove(job: LiveJob, now: number, world: World): Move | undefined {
  const step = finishingStep(job);
  if (step === undefined) return undefined;
  if (job.steps.some(({ state }) => state === '$$waiting')) {
    const why = failure('NotNeeded', {});
    const isWaiting = ({ state }: { readonly state: string }) => state === '$$waiting';
    return { kind: 'change', job: cancelledSteps(job, isWaiting, why, now) };
  }
  const because = `Step ${step.name} finished the flow.`;
  const stop = stopMove(job.steps.filter(isLive), because, world);
  if (stop !== undefined) return stop;
  const running = job.steps.find(isOpen);
  if (running !== undefined) {
    const still = `${because} Step ${running.name} still runs.`;
    return { kind: 'wait', because: still, ...untilOf(hardDeadline(job)) };
  }
  const exit = step.sets_exit ?? exits.success;
  const { output } = job.flow_definition;
  const { result } = step;
  if (exit !== exits.success) {
    const why = { ...failure('FinishedWith', { exit }), step: step.name };
    return { kind: 'change', job: finish(job, { exit, failure: why, result }, now) };
  }
  if (result === undefined && output !== undefined) return completeWith(output, job, now, world);
  return succeed(job, result, now, world);
}
