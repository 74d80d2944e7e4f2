import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isOfFlow, type LiveStep } from '../../model/step.js';
import { pluginOf, type Task } from '../../model/task.js';
import {
  expiryOf,
  flowTimeoutMs,
  hardDeadline,
  softDeadline,
  untilOf,
} from '../../reading/clock.js';
import { failUnbegun, newAttempt, unprepared } from './attempt.js';
import { childAgain } from '../children/child-again.js';
import { continueAnew, spawnChild } from '../children/child.js';
import { conditionMove } from './conditions.js';
import { hasBegun } from '../../reading/attempts.js';
import { withBegun } from '../steps.js';
import { lookUp } from '../queries.js';
import type { Begun } from '../intent.js';
import type { World } from '../world.js';
import { depthOf, maxDepth } from '../../reading/parent.js';
import { prepare, type Unbegun } from './prepare.js';
import { readyAt } from '../waiting/ready.js';
import { givenParams, secretsOf } from './secrets.js';
import { definitionOf, queueOf } from '../../reading/definition-of.js';
import { isUnserved, needsOf, servesHere } from '../compete/serving.js';
import { fullTask } from '../compete/slots.js';
import { beginNews, beginWait, isBuiltIn } from '../waiting/waits.js';
import { beginSlice } from '../children/slices.js';
import { seenBy } from '../../reading/decider-progress.js';
import type { Beginning } from '../../structures/progress.js';
import { unfitForTask } from './suits.js';
import { rankFor } from '../compete/turn.js';

/**
 * Begins an attempt of a step, if its time has come and this engine can: conditions first, then
 * who can take it, then its parameters, then the claim.
 */
export function begin(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { leaf, due } = beginning;
  if (due !== undefined && now < due) {
    const because = `Step ${leaf.name} is tried again at ${new Date(due).toISOString()}.`;
    return { kind: 'wait', because, asleep: true, ...untilOf(due, hardDeadline(job)) };
  }
  if (isBuiltIn(leaf.entry)) {
    return conditionMove(job, beginning, now, world) ?? beginWait(job, beginning, now, world);
  }
  if (leaf.entry.continues === true) return continueAnew(job, beginning, now);
  if (leaf.entry.news === true) return beginNews(job, beginning, now);
  if (leaf.entry.slices === true) return beginSlice(job, beginning, now, world);
  const definition = definitionOf(job, leaf.entry);
  if (definition === undefined) return lateDefinition(job, beginning, now, world);
  return (
    conditionMove(job, beginning, now, world) ??
    waitForEngine(job, beginning, definition, now, world) ??
    start(job, beginning, definition, now, world)
  );
}

/** A task that a decider named: its definition is taken into the job when it is first used. */
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

/** Who can take the step? Without an answer it waits, but not for ever. */
function waitForEngine(
  job: LiveJob,
  beginning: Beginning,
  definition: Task,
  now: number,
  world: World,
): Begun | undefined {
  if (definition.flow !== undefined) return undefined;
  const { leaf, phase } = beginning;
  const queue = queueOf(job);
  const needs = needsOf(definition, world, queue);
  const acceptMs = definition.accept_timeout ?? 0;
  const acceptBy = acceptMs === 0 ? Infinity : readyAt(job, leaf.path) + acceptMs;
  if (now >= acceptBy) {
    const why = failure('AcceptTimeout', { timeout: acceptMs, needs });
    return failUnbegun(job, beginning, { failure: why, exit: exits.timeout }, now);
  }
  const here = servesHere(definition, world, queue);
  const full = fullTask(definition, world);
  if (here && world.me.freeSlots > 0 && full === undefined) return undefined;
  if (!isUnserved(definition, world, queue)) {
    const because = here
      ? `Step ${leaf.name} waits for a free slot${full === undefined ? '' : ` of its task's ${full.slots}`}.`
      : `Step ${leaf.name} needs ${needs}: another engine has it.`;
    const tasks = full === undefined ? {} : { tasks: [full] };
    const cutOff = isOfFlow(phase) && hasBegun(job) ? softDeadline(job, now) : Infinity;
    return {
      kind: 'wait',
      because,
      ...(here
        ? { for: 'slot', rank: rankFor(job, definition, world, queue), ...tasks }
        : { for: 'engine' }),
      ...untilOf(acceptBy, cutOff, hardDeadline(job), expiryOf(job)),
    };
  }
  const timeout = flowTimeoutMs(job);
  const deadline = isOfFlow(phase) ? softDeadline(job, now) : readyAt(job, leaf.path) + timeout;
  if (now >= deadline) {
    const why = failure('NotServed', { timeout, step: leaf.name, needs });
    const given = { ...why, retryable: false };
    return failUnbegun(job, beginning, { failure: given, exit: exits.timeout }, now);
  }
  const because = `Step ${leaf.name} needs ${needs}: no engine has it.`;
  return {
    kind: 'wait',
    because,
    ...untilOf(acceptBy, deadline, hardDeadline(job), expiryOf(job)),
  };
}

function start(
  job: LiveJob,
  beginning: Beginning,
  definition: Task,
  now: number,
  world: World,
): Begun {
  const { leaf } = beginning;
  const { flow } = definition;
  if (flow !== undefined && depthOf(job) >= maxDepth) {
    const why = failure('FlowTooDeep', { flow, most: maxDepth });
    return failUnbegun(job, beginning, { failure: why, exit: exits.definition }, now);
  }
  const attempt = newAttempt(job, beginning);
  const plugin = pluginOf(definition);
  const { templates, hash } = world.me.facts(plugin);
  const given = givenParams(job, beginning, definition, world);
  if (!given.ok) {
    return 'unknown' in given ? given.unknown : failUnbegun(job, beginning, given.unbegun, now);
  }
  const filling = { ...given.beginning, params: given.params };
  const prepared = prepare(job, filling, world, templates);
  if (!prepared.ok) return unprepared(job, beginning, prepared, now);
  const { params } = prepared;
  const found = secretsOf(given, params);
  if ('failure' in found) return failUnbegun(job, beginning, found, now);
  const { secrets } = found;
  const unfit = unfitForTask(definition, params, world);
  if (unfit !== undefined) return failUnbegun(job, beginning, unfit, now);
  if (flow !== undefined) {
    const again = childAgain(job, { attempt, flow, params }, now, world);
    return again ?? spawnChild(job, attempt, flow, params, now);
  }
  const step: LiveStep = {
    ...attempt,
    state: '$$active',
    plugin,
    ...(hash === undefined ? {} : { plugin_hash: shortHash(hash) }),
    engine: world.me.id,
    pid: world.me.pid,
    claim: `${world.nonce}:${leaf.path}`,
    params,
    ...(secrets.length === 0 ? {} : { secrets: [...secrets] }),
    accepted: now,
    start: now,
    ...(leaf.entry.decides === undefined
      ? {}
      : { seen: seenBy(job, { ...leaf, path: leaf.entry.decides }) }),
  };
  return { kind: 'claim', job: withBegun(job, step, now), steps: [step] };
}

/** As much of a hash as tells one edition of a plugin from another. */
const hashLength = 12;

/** `sha256:<hex>` without its beginning and its end. */
function shortHash(hash: string): string {
  return hash.replace(/^sha256:/, '').slice(0, hashLength);
}
