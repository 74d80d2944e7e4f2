import { failure } from '../../model/failures.js';
import type { FlowSettings, LiveJob } from '../../model/job.js';
import { exits } from '../../model/step.js';
import { unfitResult } from './unfit-result.js';
import { finish } from './finish.js';
import { lookUp, type Question } from '../queries.js';
import type { Answer, TemplateContext, World } from '../world.js';
import type { Move } from '../intent.js';
import { allResults } from '../../reading/results.js';

/** Ends a job whose steps are all done: it succeeds, with the flow's `output` as its result. */
export function completeWith(
  output: NonNullable<FlowSettings['output']>,
  job: LiveJob,
  now: number,
  world: World,
): Move {
  const named: readonly (readonly [string, string])[] =
    typeof output === 'string'
      ? [['output', output]]
      : Object.entries(output).map(([key, expression]) => [`output.${key}`, expression]);
  const { results, parent_results, missing } = allResults(job, world.contents);
  if (missing.length > 0) return lookUp({ attachments: missing });
  const context: TemplateContext = {
    job,
    step: {},
    params: job.params ?? {},
    results,
    parent_results,
  };
  const questions = named.map(([id, expression]): Question => ({ id, expression, context }));
  const open = questions.filter(({ id }) => !world.answers.has(id));
  if (open.length > 0) return lookUp({ questions: open });
  const values: Record<string, unknown> = {};
  for (const { id } of questions) {
    const answer = world.answers.get(id) as Answer;
    if (!answer.ok) {
      const why = failure('OutputError', { at: id, reason: answer.reason });
      return {
        kind: 'change',
        job: finish(job, { exit: exits.definition, failure: why }, now),
      };
    }
    values[id.slice('output.'.length)] = answer.value;
  }
  const result = typeof output === 'string' ? values[''] : values;
  return succeed(job, result, now, world);
}

/** Ends a job that succeeded, unless its result violates the flow's `output_schema`: then with exit 3. */
export function succeed(job: LiveJob, result: unknown, now: number, world: World): Move {
  const { name, output_schema: schema } = job.flow_definition;
  const of = `flow "${name}"`;
  const unfit =
    schema === undefined ? undefined : unfitResult({ of, schema }, result, world.schema);
  const ending =
    unfit === undefined
      ? { exit: exits.success, result }
      : { exit: exits.definition, failure: unfit.failure };
  return { kind: 'change', job: finish(job, ending, now) };
}
