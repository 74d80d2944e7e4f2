import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { widest } from '../model/limits.js';
import { exits, isLive, isOfFlow, isOpen, type LiveStep, type Step } from '../model/step.js';
import { begin } from './start/begin.js';
import { expiryOf, flowTimeoutMs, hardDeadline, softDeadline, untilOf } from '../reading/clock.js';
import { effortOf, mostEffort } from './start/effort.js';
import { finish } from './finish/finish.js';
import { structureConditionsMove } from './start/structure-conditions.js';
import { hasBegun } from '../reading/attempts.js';
import { withBegun } from './steps.js';
import type { ChildJob, Move, Wait } from './intent.js';
import { type Acquire, mergeAcquires, type Query, mergeQueries } from './queries.js';
import type { World } from './world.js';
import { pathsAbove } from '../model/tree.js';
import { isUndoing } from '../structures/paths.js';
import { definitionFor, definitionOf, queueOf } from '../reading/entries.js';
import { idleSince, isRated, withRateWait } from './compete/rated.js';
import { type Claiming, isUnserved, withClaims } from './compete/serving.js';
import type { Beginning, Work } from '../structures/progress.js';
import { cancelledSteps, stopMove } from './finish/stop.js';
import { mergeWaits } from './waiting/together.js';
import { undoMove } from './finish/undo.js';
import { openWaits } from './waiting/waits.js';

/**
 * Advances a structure that has not ended: cancels steps that are no longer needed, evaluates what
 * structures ask, begins every step that can begin, and otherwise waits.
 */
export function workMove(job: LiveJob, work: Work, now: number, world: World): Move {
  const { drop, conditions, begin: beginnings } = work;
  const dropped = drop.length === 0 ? undefined : dropMove(job, drop, now, world);
  if (dropped !== undefined) return dropped;
  if (conditions.length > 0) return structureConditionsMove(job, conditions, now, world);
  return beginMove(job, beginnings, now, world);
}

/** Ends waiting steps that are no longer needed, and tells running ones of this engine to stop. */
export function dropMove(
  job: LiveJob,
  paths: readonly string[],
  now: number,
  world: World,
): Move | undefined {
  const nodes = new Set(paths);
  const isDropped = ({ path }: Step): boolean =>
    !isUndoing(path) && pathsAbove(path).some((node) => nodes.has(node));
  const dropped = job.steps.filter((step) => isOpen(step) && isDropped(step));
  const waiting = new Set(dropped.filter(({ state }) => state === '$$waiting'));
  if (waiting.size > 0) {
    const why = failure('NotNeeded', {});
    return { kind: 'change', job: cancelledSteps(job, (step) => waiting.has(step), why, now) };
  }
  return stopMove(dropped.filter(isLive), 'The step is not needed any more.', world);
}

/** What the beginnings come to, each by itself. */
type Begins = {
  readonly claims: LiveStep[];
  readonly spawned: Step[];
  readonly children: ChildJob[];
  readonly lookUps: Query[];
  readonly acquires: Acquire[];
  /** Attempts that begin as soon as they have what they ask for. */
  readonly asking: Claiming[];
  readonly waits: Wait[];
  /** The job with what ended, or waits, without any engine. */
  changed: LiveJob;
};

/**
 * Begins every step that can begin. What needs no engine comes first: a step that ends without
 * beginning may be the end of others. Claims go into one revision, and so do children.
 */
function beginMove(
  job: LiveJob,
  beginnings: readonly Beginning[],
  now: number,
  world: World,
): Move {
  const late = job.steps.length === 0 ? [] : lateOnes(job, beginnings, now, world);
  const isLate = new Set(late);
  const [first, ...others] = beginnings.filter((one) => !isLate.has(one));
  if (first !== undefined && others.length === 0) {
    const move = begin(job, first, now, world);
    if (move.kind !== 'wait') return move;
    return endLate(job, late, now, world) ?? idle(job, [move, ...openWaits(job)]);
  }
  const timely = first === undefined ? [] : [first, ...others];
  const all = beginAll(job, timely, now, world);
  const { claims, spawned, children, lookUps, acquires, waits, changed } = all;
  if (changed !== job) return { kind: 'change', job: changed };
  if (children.length > 0) {
    return { kind: 'spawn', job: withAll(job, spawned, now, world), children };
  }
  if (claims.length > 0) {
    return { kind: 'claim', job: withAll(job, claims, now, world), steps: claims };
  }
  if (lookUps.length > 0) return mergeQueries(lookUps);
  if (acquires.length > 0) return mergeAcquires(acquires);
  return endLate(job, late, now, world) ?? idle(job, [...waits, ...openWaits(job)]);
}

function beginAll(
  job: LiveJob,
  beginnings: readonly Beginning[],
  now: number,
  world: World,
): Begins {
  const all: Begins = {
    claims: [],
    spawned: [],
    children: [],
    lookUps: [],
    acquires: [],
    asking: [],
    waits: [],
    changed: job,
  };
  let effort = 0;
  for (const beginning of beginnings) {
    // The others begin with the next revision, and other jobs write in between.
    if (effort > mostEffort || all.children.length >= widest) break;
    const around = withClaims(job, world, all.claims, all.asking);
    const move = begin(all.changed, beginning, now, around);
    effort += effortOf(all.changed, beginning, move);
    switch (move.kind) {
      case 'change':
        all.changed = move.job;
        break;
      case 'claim':
        for (const step of move.steps) all.claims.push(step);
        break;
      case 'spawn':
        all.spawned.push(move.job.steps.at(-1) as Step);
        for (const child of move.children) all.children.push(child);
        break;
      case 'look_up':
        all.lookUps.push(move);
        break;
      case 'acquire':
        all.acquires.push(move);
        all.asking.push({ path: beginning.leaf.path, task: beginning.leaf.entry.task });
        break;
      case 'wait':
        all.waits.push(move);
        break;
    }
  }
  return all;
}

/** Also when nothing is under way a time may be set at which the job ends. */
function idle(job: LiveJob, waits: readonly Wait[]): Wait {
  const wait = mergeWaits(waits);
  return { ...wait, ...untilOf(wait.until ?? Infinity, hardDeadline(job), expiryOf(job)) };
}

function withAll(job: LiveJob, steps: readonly Step[], now: number, world: World): LiveJob {
  const isAnyRated = steps.some((step) => isRated(job, definitionFor(job, step), world));
  const from = isAnyRated ? withRateWait(job, now) : job;
  return steps.reduce((begun, step) => withBegun(begun, step, now), from);
}

/**
 * Returns the steps that must not start because the time of the flow is over. Handlers of failures
 * still start. A step that no engine can run is left to `begin`, which reports it.
 */
export function lateOnes(
  job: LiveJob,
  beginnings: readonly Beginning[],
  now: number,
  world: World,
): readonly Beginning[] {
  if (beginnings.length === 0 || !hasBegun(job) || now < softDeadline(job, now)) return [];
  // The wait for a rate limit does not count. There may be thousands of steps: this is asked once.
  const idleFrom = idleSince(job, now);
  const isInTime = idleFrom < softDeadline(job, idleFrom);
  return beginnings.filter(({ leaf, phase, due }) => {
    if (!isOfFlow(phase) || (due ?? now) > now) return false;
    const definition = definitionOf(job, leaf.entry);
    if (isInTime && isRated(job, definition, world)) return false;
    return definition === undefined || !isUnserved(definition, world, queueOf(job));
  });
}

/** What is open may finish; then the job ends where its time was over, with all undone. */
function endLate(
  job: LiveJob,
  late: readonly Beginning[],
  now: number,
  world: World,
): Move | undefined {
  const [first] = late;
  if (first === undefined || job.steps.some((step) => isOpen(step) && !isUndoing(step.path))) {
    return undefined;
  }
  const undo = undoMove(job, now, world);
  if (undo !== undefined) return undo;
  const at = `step ${first.leaf.name} could start`;
  const why = failure('FlowTimeout', { timeout: flowTimeoutMs(job), at });
  return { kind: 'change', job: finish(job, { exit: exits.timeout, failure: why }, now) };
}
