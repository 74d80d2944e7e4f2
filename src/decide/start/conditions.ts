import type { LiveJob } from '../../model/job.js';
import { failure } from '../../model/failures.js';
import { exits, type Failure, type Step } from '../../model/step.js';
import { failUnbegun } from './attempt.js';
import { failureFor } from './failure-for.js';
import { newAttempt, withNewStep } from '../steps.js';
import { inputOf, type Input } from './prepare.js';
import { lookUp, type Question } from '../queries.js';
import type { Answer, Unanswered, World } from '../world.js';
import type { Begun } from '../intent.js';
import { conditionsOf, isTrue } from '../../structures/conditions.js';
import type { Beginning } from '../../structures/progress.js';

/**
 * Evaluates `when` and `guards` of an entry: the step begins when all are true or none is set,
 * otherwise it is skipped, which counts as done. A condition that cannot be evaluated fails the
 * step.
 */
export function conditionMove(
  job: LiveJob,
  beginning: Beginning,
  now: number,
  world: World,
): Begun | undefined {
  const input = inputOf(job, beginning, world.contents);
  if (input.missing.length > 0) return lookUp({ attachments: input.missing });
  const asked = questionsOf(job, beginning, input);
  const open = asked.filter(({ id }) => !world.answers.has(id));
  if (open.length > 0) return lookUp({ questions: open });
  for (const { id } of asked) {
    const answer = world.answers.get(id) as Answer;
    if (!answer.ok) {
      return failUnbegun(job, beginning, unevaluated(id, answer), now);
    }
    if (!isTrue(answer.value)) return { kind: 'change', job: skipped(job, beginning, now) };
  }
  return undefined;
}

/**
 * Returns the failure of a step whose condition, or other expression, cannot be evaluated; `at`:
 * where the expression is.
 */
export function unevaluated(
  at: string,
  { reason }: Unanswered,
): { readonly failure: Failure; readonly exit: number } {
  return { failure: failure('ExpressionError', { at, reason }), exit: exits.definition };
}

function questionsOf(job: LiveJob, { leaf }: Beginning, input: Input): readonly Question[] {
  const { params, results, parent_results, scope } = input;
  const { path, index, name } = leaf;
  const step = { path, index, name, task: leaf.entry.task };
  const seen = { params, results, parent_results, ...failureFor(job, { path }) };
  const context = { ...scope, job, step, ...seen };
  return conditionsOf(leaf.entry).map(({ at, expression }) => ({
    id: `${path}.${at}`,
    expression,
    context,
  }));
}

function skipped(job: LiveJob, beginning: Beginning, now: number): LiveJob {
  const step: Step = {
    ...newAttempt(job, beginning),
    state: '$$skipped',
    end: now,
    exit: exits.success,
  };
  return withNewStep(job, step);
}
