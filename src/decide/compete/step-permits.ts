import { exits, isOfFlow, type Failure, type Step } from '../../model/step.js';
import type { LiveJob } from '../../model/job.js';
import { pluginOf, type Task } from '../../model/task.js';
import { attemptsOf, hasBegun } from '../../reading/attempts.js';
import { expiryOf, hardDeadline, softDeadline, untilOf } from '../../reading/clock.js';
import { queueOf } from '../../reading/entries.js';
import type { Beginning } from '../../structures/progress.js';
import { failStep } from '../finish/fail.js';
import type { Begun } from '../intent.js';
import { failUnbegun, unprepared } from '../start/attempt.js';
import { failureFor } from '../start/failure-for.js';
import { inputOf, prepare, type Prepared } from '../start/prepare.js';
import { newAttempt, withNewStep } from '../steps.js';
import type { TemplateContext, World } from '../world.js';
import { readyAt } from '../waiting/ready.js';
import { limitsOfTask } from './limits.js';
import { permitting } from './permits.js';

type TaskStep = Beginning & { readonly task: Task };

/** The permits of an attempt that may begin, or what follows while it has none. */
export type StepPermits = { readonly kind: 'held'; readonly permits?: readonly string[] } | Begun;

const none: StepPermits = { kind: 'held' };

/**
 * An attempt of a task with limits takes a permit of each before its step is claimed, in the revision that
 * the claim is written upon. It has them until it ends, also while it waits for a signal or a child
 * job. A limit of which the job itself has a permit asks for no other one.
 */
export function stepPermits(job: LiveJob, step: TaskStep, now: number, world: World): StepPermits {
  const { task, leaf, phase } = step;
  if (task.concurrency === undefined) return none;
  const limits = limitsOfTask(task);
  const needsContext = limits.some(({ key }) => key !== undefined);
  const prepared = needsContext ? preparedFor(job, step, world) : undefined;
  if (prepared?.ok === false) return unprepared(job, step, prepared, now);
  const context = prepared === undefined ? bare : contextOf(job, step, prepared.params, world);
  const serving = task.flow === undefined ? { forTask: { task, queue: queueOf(job) } } : {};
  const asking = { limits, context, step: leaf.path, ...serving };
  const found = permitting(job, asking, world);
  switch (found.kind) {
    case 'held':
      return found.ids.size === 0
        ? none
        : { kind: 'held', permits: [...new Set(found.ids.values())] };
    case 'open': {
      const { move } = found;
      if (move.kind !== 'wait') return move;
      const acceptMs = task.accept_timeout ?? 0;
      const acceptBy = acceptMs === 0 ? Infinity : readyAt(job, leaf.path) + acceptMs;
      const cutOff = isOfFlow(phase) && hasBegun(job) ? softDeadline(job, now) : Infinity;
      return { ...move, ...untilOf(cutOff, acceptBy, hardDeadline(job), expiryOf(job)) };
    }
    case 'cancelled':
      return { kind: 'change', job: cancelledUnbegun(job, step, found.failure, now) };
    case 'failed': {
      const unbegun = { failure: found.failure, exit: exits.definition };
      return failUnbegun(job, step, unbegun, now);
    }
  }
}

const bare: TemplateContext = { job: {}, step: {}, params: {}, results: {}, parent_results: {} };

/** The parameters as the plugin gets them, but for secrets, which are references here. */
function preparedFor(job: LiveJob, { task, ...step }: TaskStep, world: World): Prepared {
  const { missing } = inputOf(job, step, world.contents);
  if (missing.length > 0) return { ok: false, missing };
  return prepare(job, step, world, { untouched: world.me.facts(pluginOf(task)).templates });
}

function contextOf(
  job: LiveJob,
  beginning: TaskStep,
  params: Readonly<Record<string, unknown>>,
  world: World,
): TemplateContext {
  const { leaf, phase } = beginning;
  const { path, index, name, entry } = leaf;
  const { results, parent_results, scope } = inputOf(job, beginning, world.contents);
  const attempt = attemptsOf(job, path).length + 1;
  const step = { index, path, name, task: entry.task, attempt, run: job.run, phase };
  const seen = { params, results, parent_results, ...failureFor(job, { path }) };
  return { ...scope, job, step, ...seen };
}

function cancelledUnbegun(job: LiveJob, step: TaskStep, why: Failure, now: number): LiveJob {
  const failure = { ...why, retryable: false };
  const ended: Step = {
    ...newAttempt(job, step),
    ...{ state: '$$cancelled', accepted: now, end: now, exit: exits.cancelled, failure },
  };
  const failing = { state: '$$cancelled', failure, exit: exits.cancelled } as const;
  return failStep(withNewStep(job, ended), ended, failing, now);
}
