import { failure } from '../model/failures.js';
import { branchesOf } from '../model/flow.js';
import { isCancelRequested, isSlice, type LiveJob } from '../model/job.js';
import { exits, isLive, isOpen, type LiveStep, type Step } from '../model/step.js';
import { cancelMove } from './requests/cancel.js';
import { delayedUntil, expiryOf, flowTimeoutMs, hardDeadline, untilOf } from '../reading/clock.js';
import { completeWith, succeed } from './finish/complete.js';
import { endSlice } from './children/slices.js';
import { manySteps, mostSteps, stepsForEnd } from './start/effort.js';
import { withEdits } from './requests/edits.js';
import { loseStep } from './finish/fail.js';
import { failedMove } from './finish/failed.js';
import { finish } from './finish/finish.js';
import { finishedMove } from './finish/finished.js';
import { withStep } from './steps.js';
import type { Move, Ruled } from './intent.js';
import type { World } from './world.js';
import { relockMove } from './compete/locks.js';
import { outerPauseOf, pauseMove } from './waiting/pause.js';
import { isOfEnd } from '../structures/paths.js';
import { permitMove } from './compete/permit.js';
import { refreshMove } from './requests/refresh.js';
import { asReady, released } from './finish/release.js';
import { interpret } from '../reading/progress.js';
import { unneededIn } from '../reading/unneeded.js';
import { openWaits, waitsMove } from './waiting/waits.js';
import { mergeWaits } from './waiting/together.js';
import { overflowMove, tooManyMove } from './finish/too-many.js';
import { dropMove, lateOnes, workMove } from './work.js';

/**
 * A rule about live jobs. It is asked only when it may have something to say: when the job has one of
 * `fields` or is in `jobState`, its flow one of `flowFields`, a step has `stepField`, is in one of `states`
 * or has `inPath` in its path, or there are `fromSteps` steps; or when the flow, as it is now, or the queue is paused.
 */
type Rule = {
  readonly name: string;
  readonly fields?: readonly string[];
  readonly jobState?: LiveJob['state'];
  readonly flowFields?: readonly (keyof LiveJob['flow_definition'])[];
  readonly stepField?: string;
  readonly states?: readonly Step['state'][];
  readonly inPath?: string;
  readonly fromSteps?: number;
  /** It asks the flow as it is now, whatever the copy in the job says, and the queue. */
  readonly isPausedFromOutside?: true;
  /** What the fields must say. */
  readonly applies?: (job: LiveJob) => boolean;
  /** What it says. Undefined: nothing after all, the next rule is asked. */
  readonly move: (job: LiveJob, now: number, world: World) => Move | undefined;
};

/**
 * The rules for live jobs, in the order in which they are asked; the first one that has something to
 * say decides. What people and other engines did comes before what the flow says, and what ends a job
 * before what continues it. The last rule, the structure, always applies.
 */
export const liveRules: readonly Rule[] = [
  { name: 'edits', fields: ['paused', 'cancel', 'retry', 'requests'], move: editsMove },
  { name: 'lost engine', states: ['$$ready', '$$active'], move: reclaimMove },
  {
    name: 'new definitions',
    fields: ['refresh'],
    applies: ({ refresh }) => refresh === true,
    move: refreshMove,
  },
  { name: 'no room to end', fromSteps: mostSteps + stepsForEnd, move: overflowMove },
  { name: 'cancel', fields: ['cancel'], applies: isCancelRequested, move: cancelMove },
  {
    name: 'locks',
    fields: ['relock'],
    applies: ({ relock }) => relock === true,
    move: relockMove,
  },
  { name: 'hard timeout', flowFields: ['timeout_mode'], move: hardTimeoutMove },
  { name: 'too many steps', inPath: '.decision.', fromSteps: manySteps, move: tooManyMove },
  { name: 'waiting steps', states: ['$$waiting'], move: waitingMove },
  { name: 'expiry', fields: ['expires'], move: expiryMove },
  {
    name: 'pause',
    fields: ['paused'],
    jobState: '$$paused',
    isPausedFromOutside: true,
    move: pauseMove,
  },
  { name: 'finish', stepField: 'finishes', move: finishedMove },
  { name: 'not before', fields: ['exec_after', 'resume_at'], move: delayMove },
  { name: 'permit', flowFields: ['max_running', 'concurrency'], move: permitMove },
];

/** Returns the next move of a live job and the rule that made it. */
export function advance(job: LiveJob, now: number, world: World): Ruled {
  for (const { name, applies, move } of rulesFor(job, world)) {
    const said = applies?.(job) === false ? undefined : move(job, now, world);
    if (said !== undefined) return { rule: name, move: said };
  }
  return { rule: 'structure', move: structureMove(job, now, world) };
}

/** The rules that may have something to say about a job. */
function rulesFor(job: LiveJob, world: World): readonly Rule[] {
  const { flow_definition: flow, steps } = job;
  const isPaused = outerPauseOf(job, world) !== undefined;
  const fieldsOf: Readonly<Record<string, unknown>> = job;
  return liveRules.filter(
    ({ fields, jobState, flowFields, stepField, states, inPath, fromSteps, ...rule }) =>
      (isPaused && rule.isPausedFromOutside === true) ||
      job.state === jobState ||
      fields?.some((key) => fieldsOf[key] !== undefined) === true ||
      flowFields?.some((key) => flow[key] !== undefined) === true ||
      (fromSteps !== undefined && steps.length >= fromSteps) ||
      (stepField !== undefined && steps.some((step) => step[stepField] !== undefined)) ||
      (states !== undefined && steps.some(({ state }) => states.includes(state))) ||
      (inPath !== undefined && steps.some(({ path }) => path.includes(inPath))),
  );
}

function waitingMove(job: LiveJob, now: number, world: World): Move | undefined {
  return waitsMove(job, now, world, () => unneededPaths(job));
}

function editsMove(job: LiveJob, now: number): Move | undefined {
  const recorded = withEdits(job, now);
  return recorded === job ? undefined : { kind: 'change', job: recorded };
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
  if (step.engine !== me.id) return lease(step.engine, step.pid) === 'dead';
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
    case 'done': {
      // What could still begin beside the others is left out when it is too late for it.
      const late = new Set(
        progress.begin.length === 0 ? [] : lateOnes(job, progress.begin, now, world),
      );
      const begin = progress.begin.filter((one) => !late.has(one));
      const isAtRest =
        begin.length === 0 && progress.conditions.length === 0 && !job.steps.some(isOpen);
      return isAtRest
        ? complete(job, now, world)
        : workMove(job, { ...progress, begin }, now, world);
    }
    case 'open':
      return workMove(job, progress, now, world);
    case 'failed':
      return restMove(job, now, world) ?? failedMove(job, progress.step, now, world);
  }
}

/** Paths of which nothing is needed any more, in the flow and in what follows its failure. */
function unneededPaths(job: LiveJob): readonly string[] {
  const branch = branchesOf(job.flow_definition).find(({ root }) => root === 'error');
  const ofBranch = branch && unneededIn(job, branch.tree, 'error', 'error');
  return [...unneededIn(job, job.tasks, 'main'), ...(ofBranch ?? [])];
}

/** Ends a job whose steps are all done, in the background, too: it succeeds. */
function complete(job: LiveJob, now: number, world: World): Move {
  if (isSlice(job)) return endSlice(job, undefined, now, world);
  const { output } = job.flow_definition;
  if (output !== undefined) return completeWith(output, job, now, world);
  return succeed(job, undefined, now, world);
}

/** The flow has failed: what still goes on in it is cancelled first. */
function restMove(job: LiveJob, now: number, world: World): Move | undefined {
  const left = job.steps.filter((step) => isOpen(step) && !isOfEnd(step.path));
  if (left.length === 0) return undefined;
  const paths = left.map(({ path }) => path);
  return dropMove(job, paths, now, world) ?? mergeWaits(openWaits(job));
}
