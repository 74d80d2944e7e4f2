import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isOfFlow, type LiveStep } from '../../model/step.js';
import { mayAskSensitive } from '../../model/sealing.js';
import { pluginOf, type Task } from '../../model/task.js';
import {
  expiryOf,
  flowTimeoutMs,
  hardDeadline,
  softDeadline,
  untilOf,
} from '../../reading/clock.js';
import { beginFinish } from '../finish/finished.js';
import { failUnbegun, unprepared } from './attempt.js';
import { childAgain } from '../children/child-again.js';
import { continueAnew, spawnChild } from '../children/child.js';
import { conditionMove } from './conditions.js';
import { hasBegun } from '../../reading/attempts.js';
import { newAttempt, withBegun } from '../steps.js';
import { lookUp } from '../queries.js';
import type { Begun, Wait } from '../intent.js';
import type { World } from '../world.js';
import { depthOf, maxDepth } from '../../reading/parent.js';
import { prepare, type Unbegun } from './prepare.js';
import { readyAt } from '../waiting/ready.js';
import { givenParams, secretsOf } from './secrets.js';
import { definitionOf, queueOf } from '../../reading/entries.js';
import { stepPermits } from '../compete/step-permits.js';
import { isRated, rateMove, withRateWait } from '../compete/rated.js';
import { fullTask, isUnserved, needsOf, serves } from '../compete/serving.js';
import { beginNews, beginWait } from '../waiting/waits.js';
import { beginSlice } from '../children/slices.js';
import { seenBy } from '../../reading/decider-progress.js';
import { entryKindOf } from '../../structures/kinds.js';
import type { Beginning } from '../../structures/progress.js';
import { cachedMove, cacheFor, isCached } from './cached.js';
import { unfitForTask } from './suits.js';
import { rankFor } from '../compete/stagger.js';

/**
 * Begins an attempt of a step, if its time has come and this engine can: first its conditions, then
 * which engine can take it, then its parameters, then the claim.
 */
export function begin(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { leaf, due } = beginning;
  const { entry } = leaf;
  const { when, guards } = entry;
  const isConditional = when !== undefined || guards !== undefined;
  if (due !== undefined && now < due) {
    const because = `Step ${leaf.name} is tried again at ${new Date(due).toISOString()}.`;
    return { kind: 'wait', because, asleep: true, ...untilOf(due, hardDeadline(job)) };
  }
  const definition = definitionOf(job, entry);
  if (definition === undefined && entryKindOf(entry).isWait === true) {
    return (
      (isConditional ? conditionMove(job, beginning, now, world) : undefined) ??
      beginHere(job, beginning, now, world)
    );
  }
  if (entry.continues === true) return continueAnew(job, beginning, now);
  if (entry.news === true) return beginNews(job, beginning, now);
  if (entry.slices === true) return beginSlice(job, beginning, now, world);
  if (definition === undefined) return lateDefinition(job, beginning, now, world);
  const step = { ...beginning, task: definition };
  return (
    (isConditional ? conditionMove(job, beginning, now, world) : undefined) ??
    waitForEngine(job, step, now, world) ??
    startWithPermits(job, step, now, world)
  );
}

/** Begins a step that needs no engine. */
function beginHere(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { rate } = job.flow_definition;
  const turn = rate === undefined ? undefined : rateMove(job, beginning, now, world);
  if (turn !== undefined) return turn;
  const isFinish = beginning.leaf.entry.finish !== undefined;
  return (isFinish ? beginFinish : beginWait)(job, beginning, now, world);
}

/** A step that may begin, with the task that it runs. */
type TaskStep = Beginning & { readonly task: Task };

/** `permits`: the ids of those that the attempt has. */
type PermittedStep = TaskStep & { readonly permits?: readonly string[] };

/** Copies the definition of a task that a decider named into the job when it is first used. */
function lateDefinition(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { path, entry } = beginning.leaf;
  const name = entry.task;
  const owner = job.owner ?? job.flow_definition.owner;
  const found = path.includes('.activity.') ? world.task(name, owner) : undefined;
  if (found?.kind === 'unknown') return lookUp({ tasks: [{ name, owner }] });
  if (found?.kind !== 'found') {
    return failUnbegun(job, beginning, missing(job, beginning.leaf), now);
  }
  const definitions = { ...job.definitions, [name]: found.value };
  return { kind: 'change', job: { ...job, definitions } };
}

function missing(job: LiveJob, { path, entry }: Beginning['leaf']): Unbegun {
  const { owner } = job.flow_definition;
  const why = failure('TaskMissing', { task: entry.task, owner, at: `step ${path}` });
  return { failure: why, exit: exits.definition };
}

/** Returns a wait while no engine can take the step, its failure after that, or nothing: this one can. */
function waitForEngine(job: LiveJob, step: TaskStep, now: number, world: World): Begun | undefined {
  const { leaf, phase, task } = step;
  if (task.flow !== undefined) return undefined;
  const queue = queueOf(job);
  const acceptMs = task.accept_timeout ?? 0;
  const acceptBy = acceptMs === 0 ? Infinity : readyAt(job, leaf.path) + acceptMs;
  if (now >= acceptBy) {
    const needs = needsOf(task, world, queue);
    const why = failure('AcceptTimeout', { timeout: acceptMs, needs });
    return failUnbegun(job, step, { failure: why, exit: exits.timeout }, now);
  }
  const here = serves(world.me, task, queue);
  const full = task.slots === undefined ? undefined : fullTask(task, world);
  const { freeSlots, share } = world.me;
  if (here && full === undefined && freeSlots > 0 && share(1) > 0) return undefined;
  const needs = needsOf(task, world, queue);
  const limits = [acceptBy, hardDeadline(job), expiryOf(job)];
  if (isUnserved(task, world, queue)) return waitUnserved(job, step, { needs, limits }, now);
  const cutOff = isOfFlow(phase) && hasBegun(job) ? softDeadline(job, now) : Infinity;
  const until = untilOf(cutOff, ...limits);
  if (here) return { ...waitForSlot(job, step, full, world), ...until };
  const because = `Step ${leaf.name} needs ${needs}: another engine has it.`;
  return { kind: 'wait', because, for: 'engine', ...until };
}

/** `full`: the task of the step has no free slot of its own. */
function waitForSlot(
  job: LiveJob,
  { leaf, task }: TaskStep,
  full: ReturnType<typeof fullTask>,
  world: World,
): Wait {
  const of = full === undefined ? '' : ` of its task's ${full.slots}`;
  return {
    kind: 'wait',
    because: `Step ${leaf.name} waits for a free slot${of}.`,
    for: 'slot',
    rank: rankFor(job, task, world, queueOf(job)),
    ...(full === undefined ? {} : { tasks: [full] }),
  };
}

/** What no engine has, in words, and until when the step waits for it at most (epoch ms). */
type Unserved = { readonly needs: string; readonly limits: readonly number[] };

/** Waits for an engine that has what the step needs; fails the step when the time of the flow is over. */
function waitUnserved(
  job: LiveJob,
  step: TaskStep,
  { needs, limits }: Unserved,
  now: number,
): Begun {
  const { leaf, phase } = step;
  const timeout = flowTimeoutMs(job);
  const deadline = isOfFlow(phase) ? softDeadline(job, now) : readyAt(job, leaf.path) + timeout;
  if (now >= deadline) {
    const why = failure('NotServed', { timeout, step: leaf.name, needs });
    const given = { ...why, retryable: false };
    return failUnbegun(job, step, { failure: given, exit: exits.timeout }, now);
  }
  const because = `Step ${leaf.name} needs ${needs}: no engine has it.`;
  return { kind: 'wait', because, unserved: true, ...untilOf(deadline, ...limits) };
}

/** Ends a step whose result is kept; undefined: it has to run. */
function useCached(job: LiveJob, step: TaskStep, now: number, world: World): Begun | undefined {
  if (!isCached(step)) return undefined;
  const { templates } = world.me.facts(pluginOf(step.task));
  const filled = isBare(job, step) ? bare : fill(job, { ...step, templates }, now, world);
  if ('kind' in filled) return filled;
  // The stored task may list values by now that the copy in the job does not: they count.
  if (filled.sensitive.length > 0) return undefined;
  return cachedMove(job, { ...step, params: filled.params }, now, world);
}

/** Takes the permits of the attempt first, then what rates that may limit it ask for. */
function startWithPermits(job: LiveJob, step: TaskStep, now: number, world: World): Begun {
  const used = useCached(job, step, now, world);
  if (used !== undefined) return used;
  const found = stepPermits(job, step, now, world);
  if (found.kind !== 'held') return found;
  const permitted = found.permits === undefined ? step : { ...step, permits: found.permits };
  const rate = step.task.rate ?? job.flow_definition.rate;
  if (rate === undefined && world.ratedQueues.size === 0) return start(job, permitted, now, world);
  const mayWait = isRated(job, step.task, world);
  const move = rateMove(job, step, now, world);
  return move ?? start(mayWait ? withRateWait(job, now) : job, permitted, now, world);
}

/** Claims the step for this engine, or makes the child job that its task calls for. */
function start(job: LiveJob, beginning: PermittedStep, now: number, world: World): Begun {
  const { leaf, task: definition, permits } = beginning;
  const { flow, flow_version: version } = definition;
  if (flow !== undefined && depthOf(job) >= maxDepth) {
    const why = failure('FlowTooDeep', { flow, most: maxDepth });
    return failUnbegun(job, beginning, { failure: why, exit: exits.definition }, now);
  }
  const attempt = {
    ...newAttempt(job, beginning),
    ...(permits === undefined ? {} : { permits: [...permits] }),
  };
  const plugin = pluginOf(definition);
  const { templates, hash } = world.me.facts(plugin);
  const filled = isBare(job, beginning) ? bare : fill(job, { ...beginning, templates }, now, world);
  if ('kind' in filled) return filled;
  const { params, secrets, sensitive } = filled;
  const { name, schema } = definition;
  const unfit = schema === undefined ? undefined : unfitForTask({ name, schema }, params, world);
  if (unfit !== undefined) return failUnbegun(job, beginning, unfit, now);
  if (flow !== undefined) {
    const call = { attempt, flow, version, params };
    return childAgain(job, call, now, world) ?? spawnChild(job, call, now);
  }
  const step: LiveStep = {
    ...attempt,
    state: '$$active',
    plugin,
    ...(hash === undefined ? {} : { plugin_hash: shortHash(hash) }),
    ...(sensitive.length === 0 ? cacheFor(job, { ...beginning, params }, world) : {}),
    engine: world.me.id,
    pid: world.me.pid,
    claim: `${world.nonce}:${leaf.path}`,
    params,
    ...(secrets.length === 0 ? {} : { secrets: [...secrets] }),
    ...(sensitive.length === 0 ? {} : { sensitive: [...sensitive] }),
    accepted: now,
    start: now,
    ...(leaf.entry.decides === undefined
      ? {}
      : { seen: seenBy(job, { ...leaf, path: leaf.entry.decides }) }),
  };
  return { kind: 'claim', job: withBegun(job, step, now), steps: [step] };
}

/** What an attempt is called with; `secrets`: the fields that hold references; `sensitive`: what it may ask for. */
type Filled = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
  readonly sensitive: readonly string[];
};

const bare: Filled = { params: {}, secrets: [], sensitive: [] };

/** Nothing sets a parameter of the step: neither its task nor the flow nor the job; nor has it any secret. */
function isBare(job: LiveJob, { leaf, task: definition }: TaskStep): boolean {
  const { params = {}, flow_definition: flow } = job;
  const { label, entry } = leaf;
  if (mayAskSensitive(definition)) return false;
  const own = [entry.params, definition.params, flow.params, params[label], params[entry.task]];
  return entry.stdio === undefined && own.every((set) => Object.keys(set ?? {}).length === 0);
}

/** Fills in the parameters of a step, or returns what follows when that cannot be done. */
function fill(
  job: LiveJob,
  step: TaskStep & { readonly templates: readonly string[] },
  now: number,
  world: World,
): Filled | Begun {
  const { templates, task: definition, ...beginning } = step;
  const given = givenParams(job, beginning, definition, world);
  if (!given.ok) {
    return 'unknown' in given ? given.unknown : failUnbegun(job, beginning, given.unbegun, now);
  }
  const filling = { ...given.beginning, params: given.params };
  const prepared = prepare(job, filling, world, { untouched: templates });
  if (!prepared.ok) return unprepared(job, beginning, prepared, now);
  const { params } = prepared;
  const found = secretsOf(given, params);
  if ('failure' in found) return failUnbegun(job, beginning, found, now);
  return { params, secrets: found.secrets, sensitive: given.sensitive };
}

/** As much of a hash as tells one edition of a plugin from another. */
const hashLength = 12;

/** `sha256:<hex>` without its beginning and its end. */
function shortHash(hash: string): string {
  return hash.replace(/^sha256:/, '').slice(0, hashLength);
}
