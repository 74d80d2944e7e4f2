import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, type Failure, type LiveStep, type Step } from '../model/step.js';
import { pluginOf, type Task } from '../model/task.js';
import { expiryOf, flowTimeoutMs, hardDeadline, softDeadline, untilOf } from './clock.js';
import { spawnChild } from './child.js';
import { conditionMove } from './conditions.js';
import { failStep } from './fail.js';
import { attemptsOf, boundaryAt, hasBegun, withBegun, withNewStep } from './history.js';
import type { Move, World } from './intent.js';
import { mapStdio } from './params.js';
import { isUnserved, needsOf, servesHere } from './serving.js';
import { inputOf } from './input.js';
import type { Beginning } from './structure/progress.js';
import { rankFor } from './turn.js';

/**
 * Begins an attempt of a step, if its time has come and this engine can: conditions first, then
 * who can take it, then its parameters, then the claim.
 */
export function begin(job: LiveJob, beginning: Beginning, now: number, world: World): Move {
  const { leaf, due } = beginning;
  if (due !== undefined && now < due) {
    const because = `Step ${leaf.name} is tried again at ${new Date(due).toISOString()}.`;
    return { kind: 'wait', because, asleep: true, ...untilOf(due, hardDeadline(job)) };
  }
  const definition = job.definitions[leaf.entry.task];
  if (definition === undefined) return failUnbegun(job, beginning, missing(job, leaf), now);
  return (
    conditionMove(job, beginning, now, world) ??
    waitForEngine(job, beginning, definition, now, world) ??
    start(job, beginning, definition, now, world)
  );
}

/** The fields that every attempt has, with the next number. */
export function newAttempt(job: LiveJob, { leaf, phase }: Beginning) {
  return {
    index: leaf.index,
    path: leaf.path,
    name: leaf.name,
    task: leaf.entry.task,
    attempt: attemptsOf(job, leaf.path).length + 1,
    run: job.run,
    phase,
  };
}

type Unbegun = { readonly failure: Failure; readonly exit: number };

/** Records an attempt that failed before any engine began it. */
export function failUnbegun(
  job: LiveJob,
  beginning: Beginning,
  { failure: why, exit }: Unbegun,
  now: number,
): Move {
  const step: Step = {
    ...newAttempt(job, beginning),
    state: '$$error',
    accepted: now,
    end: now,
    exit,
    failure: why,
  };
  const state = exit === exits.timeout ? '$$timeout' : '$$error';
  const failed = failStep(withNewStep(job, step), step, { state, failure: why, exit }, now);
  return { kind: 'change', job: failed };
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
): Move | undefined {
  if (definition.flow !== undefined) return undefined;
  const { leaf, phase } = beginning;
  const needs = needsOf(definition);
  const boundary = boundaryAt(job);
  const acceptMs = definition.accept_timeout ?? 0;
  const acceptBy = acceptMs === 0 ? Infinity : boundary + acceptMs;
  if (now >= acceptBy) {
    const why = failure('AcceptTimeout', { timeout: acceptMs, needs });
    return failUnbegun(job, beginning, { failure: why, exit: exits.timeout }, now);
  }
  const here = servesHere(definition, world);
  if (here && world.me.freeSlots > 0) return undefined;
  if (!isUnserved(definition, world)) {
    const because = here
      ? `Step ${leaf.name} waits for a free slot.`
      : `Step ${leaf.name} needs ${needs}: another engine has it.`;
    const cutOff = phase === 'main' && hasBegun(job) ? softDeadline(job) : Infinity;
    return {
      kind: 'wait',
      because,
      ...(here ? { for: 'slot', rank: rankFor(job, definition, world) } : { for: 'engine' }),
      ...untilOf(acceptBy, cutOff, hardDeadline(job), expiryOf(job)),
    };
  }
  const timeout = flowTimeoutMs(job);
  const deadline = phase === 'main' ? softDeadline(job) : boundary + timeout;
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
): Move {
  const { leaf } = beginning;
  const attempt = newAttempt(job, beginning);
  const { params, previous, results, parent_results } = inputOf(job, beginning);
  const mapped = mapStdio(params, leaf, leaf.index === 0 ? job.params : previous);
  if (!mapped.ok) {
    return failUnbegun(job, beginning, { failure: mapped.failure, exit: exits.definition }, now);
  }
  const context = { job, step: attempt, params: mapped.params, results, parent_results };
  const plugin = pluginOf(definition);
  const rendered = world.render(mapped.params, context, world.me.facts(plugin).templates);
  if (!rendered.ok) {
    const { at, reason } = rendered;
    const why = failure('TemplateError', { at: `params.${at}`, reason });
    return failUnbegun(job, beginning, { failure: why, exit: exits.definition }, now);
  }
  if (definition.flow !== undefined) {
    return spawnChild(job, attempt, definition.flow, rendered.value, now);
  }
  const step: LiveStep = {
    ...attempt,
    state: '$$active',
    plugin,
    engine: world.me.id,
    pid: world.me.pid,
    claim: `${world.nonce}:${leaf.path}`,
    params: rendered.value,
    accepted: now,
    start: now,
  };
  return { kind: 'claim', job: withBegun(job, step, now), steps: [step] };
}
