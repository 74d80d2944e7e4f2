import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, isLive, type LiveStep, type Step } from '../model/step.js';
import { begin } from './begin.js';
import { cancelMove } from './cancel.js';
import { childMove } from './child.js';
import {
  delayedUntil,
  expiryOf,
  flowTimeoutMs,
  hardDeadline,
  softDeadline,
  untilOf,
} from './clock.js';
import { complete } from './complete.js';
import { asReady } from './copies/tips.js';
import { loseStep } from './fail.js';
import { failedMove } from './failed.js';
import { finish } from './finish.js';
import { hasBegun, withStep } from './history.js';
import type { Move, World } from './intent.js';
import { pauseMove } from './pause.js';
import { released } from './release.js';
import { isUnserved } from './serving.js';
import { interpret } from './structure/interpret.js';
import type { Beginning } from './structure/progress.js';

/**
 * The next move of a live job. The rules are asked in this order; the first that has something to
 * say decides: lost engines, cancel, hard timeout, running attempts, child jobs, pause, expiry,
 * waiting times, and last what the structure says.
 */
export function advance(job: LiveJob, now: number, world: World): Move {
  const move =
    reclaimMove(job, now, world) ??
    cancelMove(job, now, world) ??
    hardTimeoutMove(job, now) ??
    runningMove(job) ??
    childMove(job, now, world) ??
    pauseMove(job, now, world) ??
    expiryMove(job, now) ??
    delayMove(job, now);
  return move ?? structureMove(job, now, world);
}

function reclaimMove(job: LiveJob, now: number, world: World): Move | undefined {
  const step = job.steps.find(
    (candidate): candidate is LiveStep => isLive(candidate) && isLost(candidate, world),
  );
  if (step === undefined) return undefined;
  // What was claimed but never begun has lost nothing: it counts for no limit.
  const isUnbegun = step.state === '$$ready' || world.me.unbegun.has(step.claim);
  if (isUnbegun) return { kind: 'change', job: withStep(job, step, released(asReady(step))) };
  return { kind: 'change', job: loseStep(job, step, world.crashLimit, now) };
}

/** Lost: the owner is dead, or it is this engine and the attempt is not in hand (a restart). */
function isLost(step: LiveStep, { me, lease }: World): boolean {
  if (step.engine !== me.id) return lease(step.engine) === 'dead';
  return !me.running.has(step.claim) && !me.ended.has(step.claim);
}

function hardTimeoutMove(job: LiveJob, now: number): Move | undefined {
  const deadline = hardDeadline(job);
  if (now < deadline) return undefined;
  const timeout = flowTimeoutMs(job);
  const open = job.steps.find(isOpen);
  const at = open === undefined ? 'all steps were done' : `step ${open.name} ended`;
  const why = failure('FlowTimeout', { timeout, at });
  const steps = job.steps.map((step) =>
    isOpen(step)
      ? { ...step, state: '$$timeout' as const, end: now, exit: exits.timeout, failure: why }
      : step,
  );
  return {
    kind: 'change',
    job: finish({ ...job, steps }, { exit: exits.timeout, failure: why }, now),
  };
}

function isOpen(step: Step): boolean {
  return isLive(step) || step.state === '$$waiting';
}

function runningMove(job: LiveJob): Move | undefined {
  const step = job.steps.find(isLive);
  if (step === undefined) return undefined;
  return {
    kind: 'wait',
    because: `Step ${step.name} (attempt ${step.attempt}) runs on ${step.engine}.`,
    ...untilOf(hardDeadline(job)),
  };
}

function expiryMove(job: LiveJob, now: number): Move | undefined {
  const expiry = expiryOf(job);
  if (now < expiry) return undefined;
  const why = failure('Expired', { expires: new Date(expiry).toISOString() });
  return { kind: 'change', job: finish(job, { exit: exits.refused, failure: why }, now) };
}

function delayMove(job: LiveJob, now: number): Move | undefined {
  const until = delayedUntil(job);
  if (now >= until) return undefined;
  return {
    kind: 'wait',
    because: `Not before ${new Date(until).toISOString()}.`,
    asleep: true,
    ...untilOf(until, hardDeadline(job), expiryOf(job)),
  };
}

function structureMove(job: LiveJob, now: number, world: World): Move {
  const progress = interpret(job, job.tasks, 'main');
  switch (progress.kind) {
    case 'done':
      return complete(job, now, world);
    case 'begin':
      return beginUnlessLate(job, progress.beginning, now, world);
    case 'failed':
      return failedMove(job, progress.step, now, world);
  }
}

/**
 * Steps of the flow itself do not start after the flow's time; handlers of failures still do. A
 * step that no engine can run is left to `begin`, which says so.
 */
function beginUnlessLate(job: LiveJob, beginning: Beginning, now: number, world: World): Move {
  const late = beginning.phase === 'main' && hasBegun(job) && now >= softDeadline(job);
  const definition = job.definitions[beginning.leaf.entry.task];
  const unserved = definition !== undefined && isUnserved(definition, world);
  if (!late || unserved || (beginning.due ?? now) > now) return begin(job, beginning, now, world);
  const at = `step ${beginning.leaf.name} could start`;
  const why = failure('FlowTimeout', { timeout: flowTimeoutMs(job), at });
  return { kind: 'change', job: finish(job, { exit: exits.timeout, failure: why }, now) };
}
