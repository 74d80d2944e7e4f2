import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, isLive, isOpen, type LiveStep, type Step } from '../model/step.js';
import { begin } from './begin.js';
import { flowTimeoutMs, softDeadline } from './clock.js';
import { finish } from './finish.js';
import { gateMove } from './gates.js';
import { hasBegun, withBegun } from './history.js';
import { lookUp, type ChildJob, type LookUp, type Move, type Wait, type World } from './intent.js';
import { isWithin } from './results.js';
import { definitionOf, isUnserved, queueOf } from './serving.js';
import type { Beginning, Gate, Work } from './structure/progress.js';
import { cancelledSteps, stopMove } from './stop.js';
import { openWaits } from './waits.js';
import { isBuiltIn } from './waits.js';

/**
 * Does what can be done in a structure that has not ended: cancels what nobody needs any more,
 * finds out what structures ask, begins all steps that can begin, and otherwise waits.
 */
export function workMove(job: LiveJob, work: Work, now: number, world: World): Move {
  return (
    dropMove(job, work.drop, now, world) ??
    gatesMove(job, work.gates, now, world) ??
    beginMove(job, work.begin, now, world)
  );
}

/** Ends waiting steps that nobody needs any more; running ones of this engine are told to stop. */
export function dropMove(
  job: LiveJob,
  paths: readonly string[],
  now: number,
  world: World,
): Move | undefined {
  if (paths.length === 0) return undefined;
  const isDropped = ({ path }: Step): boolean => paths.some((node) => isWithin(path, node));
  const dropped = job.steps.filter((step) => isOpen(step) && isDropped(step));
  const waiting = new Set(dropped.filter(({ state }) => state === '$$waiting'));
  if (waiting.size > 0) {
    const why = failure('NotNeeded', {});
    return { kind: 'change', job: cancelledSteps(job, (step) => waiting.has(step), why, now) };
  }
  return stopMove(dropped.filter(isLive), 'The step is not needed any more.', world);
}

function gatesMove(
  job: LiveJob,
  gates: readonly Gate[],
  now: number,
  world: World,
): Move | undefined {
  const moves = gates.map((gate) => gateMove(job, gate, now, world));
  return (
    moves.find(({ kind }) => kind === 'change') ??
    (moves.length === 0 ? undefined : merged(moves.filter((move) => move.kind === 'look_up')))
  );
}

function merged(lookUps: readonly LookUp[]): LookUp {
  return lookUp({
    flows: lookUps.flatMap(({ flows }) => flows),
    tasks: lookUps.flatMap(({ tasks }) => tasks),
    children: lookUps.flatMap(({ children }) => children),
    events: lookUps.flatMap(({ events }) => events),
    locks: lookUps.flatMap(({ locks }) => locks),
    targets: lookUps.flatMap(({ targets }) => targets),
    questions: lookUps.flatMap(({ questions }) => questions),
  });
}

/** What the beginnings come to: claims and children that may go into one revision, or reasons to wait. */
type Harvest = {
  readonly claims: LiveStep[];
  readonly spawned: Step[];
  readonly children: ChildJob[];
  readonly lookUps: LookUp[];
  readonly waits: Wait[];
};

/** Begins every step that can begin. A step that ends without beginning comes first, by itself. */
function beginMove(
  job: LiveJob,
  beginnings: readonly Beginning[],
  now: number,
  world: World,
): Move {
  const { claims, spawned, children, lookUps, waits }: Harvest = {
    claims: [],
    spawned: [],
    children: [],
    lookUps: [],
    waits: [],
  };
  const late = beginnings.filter((one) => isLate(job, one, now, world));
  for (const beginning of beginnings) {
    if (late.includes(beginning)) continue;
    const freeSlots = world.me.freeSlots - claims.length;
    const move = begin(job, beginning, now, { ...world, me: { ...world.me, freeSlots } });
    switch (move.kind) {
      case 'claim':
        claims.push(...move.steps);
        break;
      case 'spawn':
        spawned.push(move.job.steps.at(-1) as Step);
        children.push(...move.children);
        break;
      case 'look_up':
        lookUps.push(move);
        break;
      case 'wait':
        waits.push(move);
        break;
      case 'change':
      case 'write':
      case 'abort':
      case 'ignore':
        return move;
    }
  }
  if (children.length > 0) return { kind: 'spawn', job: withAll(job, spawned, now), children };
  if (claims.length > 0) return { kind: 'claim', job: withAll(job, claims, now), steps: claims };
  if (lookUps.length > 0) return merged(lookUps);
  return endLate(job, late, now) ?? together([...waits, ...openWaits(job)]);
}

function withAll(job: LiveJob, steps: readonly Step[], now: number): LiveJob {
  return steps.reduce((begun, step) => withBegun(begun, step, now), job);
}

/**
 * Steps of the flow itself do not start after the flow's time; handlers of failures still do. A
 * step that no engine can run is left to `begin`, which says so.
 */
function isLate(job: LiveJob, { leaf, phase, due }: Beginning, now: number, world: World): boolean {
  if (phase !== 'main' && phase !== 'callback') return false;
  if (!hasBegun(job) || now < softDeadline(job, now) || (due ?? now) > now) return false;
  const definition = definitionOf(job, leaf.entry);
  const unserved = definition !== undefined && isUnserved(definition, world, queueOf(job));
  return isBuiltIn(leaf.entry) || !unserved;
}

/** What is open may finish; then the job ends where its time was over. */
function endLate(job: LiveJob, late: readonly Beginning[], now: number): Move | undefined {
  const [first] = late;
  if (first === undefined || job.steps.some(isOpen)) return undefined;
  const at = `step ${first.leaf.name} could start`;
  const why = failure('FlowTimeout', { timeout: flowTimeoutMs(job), at });
  return { kind: 'change', job: finish(job, { exit: exits.timeout, failure: why }, now) };
}

/** So many reasons to wait are named. */
const namedReasons = 3;

/** One wait for several reasons: until the first of their times, asleep if all are. */
export function together(waits: readonly Wait[]): Wait {
  const [first] = waits;
  if (first === undefined) return { kind: 'wait', because: 'Nothing can be done now.' };
  if (waits.length === 1) return first;
  const reasons = [...new Set(waits.map(({ because }) => because))];
  const more = reasons.length > namedReasons ? ` (${reasons.length - namedReasons} more)` : '';
  const until = Math.min(...waits.map((wait) => wait.until ?? Infinity));
  const forSlot = waits.filter((wait) => wait.for === 'slot');
  const forEngine = waits.some((wait) => wait.for === 'engine');
  const rank = Math.min(...forSlot.map((wait) => wait.rank ?? 0));
  return {
    kind: 'wait',
    because: `${reasons.slice(0, namedReasons).join(' ')}${more}`,
    ...(until === Infinity ? {} : { until }),
    ...(waits.every(({ asleep }) => asleep) ? { asleep: true } : {}),
    ...(forSlot.length > 0 ? { for: 'slot', rank } : forEngine ? { for: 'engine' } : {}),
  };
}
