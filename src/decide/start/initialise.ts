import { isObject } from '../../model/object.js';
import { usualRetry } from '../../model/usual-retry.js';
import { toKeyedParams } from '../../reading/dialects.js';
import { failure } from '../../model/failures.js';
import type { Flow } from '../../model/flow.js';
import { asVersion, type VersionAsk } from '../../model/flow-versions.js';
import {
  isCancelRequested,
  type FlowSettings,
  type LiveJob,
  type NewJob,
} from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { readNotify, secretsInNotify } from '../../model/notify.js';
import { toEpochMs } from '../../model/scalars.js';
import { exits, type Failure } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import { readRetain } from '../../model/retain.js';
import { readOn, startProblemOf } from '../../model/trigger.js';
import { insteadOfDeprecated, isTurnedAway, keysNotDeclared } from '../../model/welcome.js';
import { leavesIn } from '../../reading/entries.js';
import { untilOf } from '../../reading/clock.js';
import { cancelled, endUnbegun, type Refusal } from '../finish/finish.js';
import { lookUp } from '../queries.js';
import type { Found, World } from '../world.js';
import type { Move } from '../intent.js';
import { locking, withLocks, withoutPermit } from '../compete/locks.js';
import { flowFailure, type UnusableFlow } from './flow-failure.js';
import { expandParams, strayParams, withDefaults } from './params.js';
import { without } from '../../model/record.js';
import { sealedBreach, type Ordered } from './sealed.js';
import { snapshot } from './snapshot.js';
import { brokenSchema, unfitForFlow } from './suits.js';
import { withFormerSteps } from '../requests/hand-edits.js';
import { unreadIn, withUnreadSignals } from '../requests/unread.js';

/**
 * Turns a new job into a live one: state, snapshots of flow and tasks, expanded parameters, no
 * steps. A job that can never run ends here, with exit 3 and the reason; so does one that was
 * cancelled before, and one of a tree of jobs whose root has ended: flows that call themselves may make
 * new jobs faster than a cancel comes down to them.
 */
export function initialise(submitted: NewJob, now: number, world: World): Move {
  const move = begin(withoutTraces(submitted), now, world);
  return move.kind === 'change' && 'steps' in submitted
    ? { ...move, job: withFormerSteps(submitted, move.job) }
    : move;
}

function begin(job: NewJob, now: number, world: World): Move {
  if (isCancelRequested(job)) {
    return {
      kind: 'change',
      job: endUnbegun(job, now, { exit: exits.cancelled, failure: cancelled(job) }),
    };
  }
  const problem = job.started_by === undefined ? undefined : startProblemOf(job.started_by);
  if (problem !== undefined)
    return refuse(job, now, failure('TriggerRefused', { reason: problem }));
  const root = job.parent?.root;
  const left = root === undefined ? undefined : leftAlone(root, job, now, world);
  return left ?? withFlow(job, now, world);
}

/** A job whose tree has come to its end is not needed any more. */
function leftAlone(root: string, job: NewJob, now: number, world: World): Move | undefined {
  switch (world.root(root)) {
    case 'unknown':
      return lookUp({ roots: [root] });
    case 'live':
      return undefined;
    case 'crowded':
      return refuse(job, now, failure('TooManyJobs', { root }));
    case 'final': {
      const reason = `job ${root}, for which it was made, has ended`;
      const why = cancelled({ cancel: { reason } });
      return { kind: 'change', job: endUnbegun(job, now, { exit: exits.cancelled, failure: why }) };
    }
  }
}

function withFlow(job: NewJob, now: number, world: World): Move {
  const owner = job.owner ?? defaultOwner;
  const found = flowOf(job, owner, world);
  switch (found.kind) {
    case 'unknown':
      return lookUp({ flows: [{ name: String(job.flow), owner }] });
    case 'found':
      return initialiseWith(found.value, { ...job, owner }, now, world);
    case 'absent': {
      const why = flowFailure(String(job.flow), owner, found, askOf(job));
      return notYet(job, why, now) ?? refuse(job, now, why);
    }
    case 'ambiguous':
    case 'invalid':
      return refuse(job, now, flowFailure(String(job.flow), owner, found), problemsOf(found));
  }
}

/** What the engine writes into a job; `ofRun`, `ofEnded`: only a copy of one that has begun or ended has it. */
const traces = {
  always: [
    ...['start', 'end', 'exit', 'result', 'failure', 'problems', 'run'],
    ...['next_due', 'resume_at', 'held_since', 'held_ms', 'timed_from', 'stuck_since'],
    ...['flow_rev', 'flow_pinned', 'first_run', 'restarts', 'redo', 'refresh', 'refreshed'],
    ...['retry_refused', 'relock'],
  ],
  ofRun: ['signals', 'requests', 'notes', 'retry', 'notifications'],
  ofEnded: ['started_by'],
} as const;

/**
 * A copy of an ended job, submitted again, begins with none of what the engine wrote: signals that
 * came for the other one are not for this one. A job may get signals before it begins.
 */
function withoutTraces(job: NewJob): NewJob {
  const record = job as NewJob & Record<string, unknown>;
  const hasTraces = 'steps' in job || 'locked' in job || traces.always.some((key) => key in job);
  if (!hasTraces) return job;
  const runTraces = 'steps' in job ? traces.ofRun : [];
  const endTraces = 'end' in job ? traces.ofEnded : [];
  // Engines write the version that they chose; only one that somebody asked for is asked for again.
  const version = record['flow_pinned'] === true ? [] : (['flow_version'] as const);
  // What a job continues hands its locks on to it.
  const locks = typeof record['continued_from'] === 'string' ? [] : (['locked'] as const);
  return withoutPermit(
    without(record, ...traces.always, ...runTraces, ...endTraces, ...locks, ...version),
  );
}

/**
 * A job that must not begin yet waits for definitions that are not stored yet: they are looked for
 * again when it begins. Undefined: it may begin now.
 */
function notYet(job: NewJob, why: Failure, now: number): Move | undefined {
  const { exec_after: after, expires, paused } = job;
  const from = after === undefined ? 0 : toEpochMs(after);
  if (paused !== true && now >= from) return undefined;
  const expiry = expires === undefined ? Infinity : toEpochMs(expires);
  if (now >= expiry) {
    const late = failure('Expired', { expires: new Date(expiry).toISOString() });
    return { kind: 'change', job: endUnbegun(job, now, { exit: exits.refused, failure: late }) };
  }
  const held = paused === true ? 'The job is paused' : `Not before ${new Date(from).toISOString()}`;
  const because = `${held}; it cannot begin yet: ${why.message}`;
  return { kind: 'wait', because, ...untilOf(paused === true ? Infinity : from, expiry) };
}

type OwnedJob = NewJob & { readonly owner: string };
type FoundFlow = Flow & { readonly _rev?: string };

function flowOf(job: NewJob, owner: string, world: World): Found<Flow> {
  if (job.tasks === undefined) return world.flow(String(job.flow), owner, askOf(job));
  const name = job.flow ?? '';
  return { kind: 'found', value: { type: 'flow', name, owner, tasks: job.tasks } };
}

/** The version that a new job asks for. */
function askOf({ flow_version: version }: Pick<NewJob, 'flow_version'>): VersionAsk {
  return { version: asVersion(version) };
}

function initialiseWith(flow: FoundFlow, job: OwnedJob, now: number, world: World): Move {
  if (flow.enabled === false) return refuse(job, now, failure('FlowDisabled', { flow: flow.name }));
  if (isTurnedAway(flow, job)) {
    const instead = insteadOfDeprecated(flow);
    return refuse(job, now, failure('FlowDeprecated', { flow: flow.name, instead }));
  }
  const tasks = snapshot(flow, job.owner, world);
  switch (tasks.kind) {
    case 'unknown':
      return lookUp({ tasks: tasks.names.map((name) => ({ name, owner: job.owner })) });
    case 'wrong': {
      const early = tasks.failure.name === 'TaskMissing' && notYet(job, tasks.failure, now);
      return early || refuse(job, now, tasks.failure, tasks.problems);
    }
    case 'taken':
      break;
  }
  const { definitions } = tasks;
  const { tasks: tree, ...settings } = flow;
  const { list: leaves } = leavesIn(tree);
  const keyed = job.params === undefined ? {} : toKeyedParams(job.params, tree);
  const hasParams = job.params !== undefined || flow.params !== undefined;
  const written = hasParams ? withDefaults(keyed, settings) : keyed;
  const ordered = { leaves, flow: settings, definitions, written };
  const refusal = refusalOf(job, ordered, world);
  if (refusal !== undefined) return { kind: 'change', job: endUnbegun(job, now, refusal) };
  const problems = problemsIn(job, flow, { ...ordered, written: keyed });
  const isLocking = mayLockAny(job, flow);
  const found = isLocking ? locking(job, now, world, flow.unique) : noLocks;
  if (found.kind === 'open') return found.move;
  const owning = isLocking ? withLocks(job, found.locked) : job;
  if (found.kind === 'refused') return { kind: 'change', job: endUnbegun(owning, now, found) };
  const params = paramsOf(ordered);
  return {
    kind: 'change',
    job: begunJob(owning, { flow, definitions, params, problems }, now, world),
  };
}

function mayLockAny(job: NewJob, { unique }: FoundFlow): boolean {
  const wanted = [job.target, job.locks, job.unique, unique];
  return wanted.some((one) => one !== undefined) || 'locked' in job;
}

const noLocks = { kind: 'held', locked: {} } as const;

/** The parameters of a job that begins. Most steps have none: then there is nothing to bring together. */
function paramsOf({ leaves, flow, definitions, written }: Ordered): Copied['params'] {
  const isBare =
    flow.params === undefined &&
    Object.keys(written).length === 0 &&
    leaves.every(({ entry }) => entry.params === undefined) &&
    Object.values(definitions).every(({ params }) => params === undefined);
  if (!isBare) return expandParams(written, leaves, flow, definitions);
  return Object.fromEntries(leaves.map(({ label }) => [label, {}]));
}

/** Why the parameters of a job are refused, or a schema that they must suit. */
function refusalOf(job: NewJob, ordered: Ordered, world: World): Refusal | undefined {
  const { leaves, flow, definitions, written } = ordered;
  const hasParams =
    flow.params !== undefined ||
    Object.keys(written).length > 0 ||
    leaves.some(({ entry }) => entry.params !== undefined || entry.stdio !== undefined);
  const hasSchemas =
    (flow.schema ?? flow.output_schema) !== undefined ||
    Object.values(definitions).some((task) => (task.schema ?? task.output_schema) !== undefined);
  const unfit = hasSchemas
    ? (brokenSchema(definitions, world) ?? unfitForFlow(flow, written, world))
    : undefined;
  if (unfit !== undefined || !hasParams) return unfit;
  const breach = sealedBreach(job, ordered);
  return breach && { exit: exits.definition, failure: breach.failure };
}

/** What is noticed in a job that begins nevertheless. */
function problemsIn(
  job: NewJob,
  flow: FoundFlow,
  { leaves, definitions, written }: Ordered,
): readonly Problem[] {
  const { notify, retain, on } = flow;
  const keyed = job.unique === undefined ? flow : { ...flow, unique: job.unique };
  const isBeside = [notify, retain, on, job.notify].some((one) => one !== undefined);
  return [
    ...(job.params === undefined ? [] : strayParams(written, leaves, keyed, definitions)),
    ...(isBeside ? besideProblems(flow, job) : []),
    ...(job.keys === undefined ? [] : keysNotDeclared(flow, job)),
    ...unreadIn(job, flow, definitions),
  ];
}

/** What is copied into a job that begins, and what was noticed in it. */
type Copied = {
  readonly definitions: LiveJob['definitions'];
  readonly params: Readonly<Record<string, unknown>>;
  readonly flow: FoundFlow;
  readonly problems: readonly Problem[];
};

function begunJob(
  job: OwnedJob,
  { flow, definitions, params, problems }: Copied,
  now: number,
  world: World,
): LiveJob {
  const { tasks, ...settings } = flow;
  const { exec_after: after } = job;
  const heldMs = after === undefined ? 0 : Math.max(0, toEpochMs(after) - now);
  const { flow_version: asked, ...rest } = job;
  const isPinned = asked !== undefined && job.tasks === undefined;
  const begun: LiveJob = {
    ...retrySettings(world.retry),
    ...rest,
    state: '$$ready',
    start: now,
    tasks,
    definitions,
    flow_definition: settings,
    ...(flow._rev === undefined ? {} : { flow_rev: flow._rev }),
    ...(flow.version === undefined ? {} : { flow_version: flow.version }),
    ...(isPinned ? { flow_pinned: true } : {}),
    params,
    steps: [],
    run: 1,
    ...(heldMs === 0 ? {} : { held_ms: heldMs }),
    ...(problems.length === 0 ? {} : { problems }),
  };
  return 'signals' in job ? withUnreadSignals(begun, namesOfEarly(job)) : begun;
}

/** How retries wait by the settings of the engine, where that is not the usual. */
function retrySettings({ delay, factor, max }: World['retry']) {
  return {
    ...(delay === usualRetry.delay ? {} : { retry_delay: delay }),
    ...(factor === usualRetry.factor ? {} : { retry_factor: factor }),
    ...(max === usualRetry.max ? {} : { retry_max: max }),
  };
}

/** The names of the signals that came before the job began; nothing has read them until now. */
function namesOfEarly({ signals }: Readonly<Record<string, unknown>>): readonly string[] {
  const list: readonly unknown[] = Array.isArray(signals) ? signals : [];
  return list.flatMap((one) =>
    isObject(one) && typeof one['name'] === 'string' ? one['name'] : [],
  );
}

/** What cannot be read of `notify`, `retain` and `on` is told of, and no reason not to run. */
function besideProblems({ notify, retain, on }: FlowSettings, job: NewJob): readonly Problem[] {
  const read = [readNotify(notify), readRetain(retain), readOn(on)];
  const problems = read.flatMap(({ problems: found }) => found);
  const ofFlow = problems.map(({ path, message }) => ({
    path: `flow_definition.${path}`,
    message: `flow_definition.${message}`,
  }));
  return [...ofFlow, ...readNotify(job.notify).problems, ...secretsInNotify(job)];
}

function refuse(job: NewJob, now: number, why: Failure, problems?: readonly Problem[]): Move {
  return {
    kind: 'change',
    job: endUnbegun(job, now, { exit: exits.definition, failure: why, problems }),
  };
}

function problemsOf(found: UnusableFlow): readonly Problem[] | undefined {
  return found.kind === 'invalid' ? found.problems : undefined;
}
