import { failure } from '../../model/failures.js';
import type { FlowSettings, LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { exits, type Failure, type Step } from '../../model/step.js';
import type { Task } from '../../model/task.js';
import { definitionFor } from '../../reading/entries.js';
import type { Unanswered, World } from '../world.js';

type Params = Readonly<Record<string, unknown>>;

/** Why parameters are refused; `problems` when they violate the schema. */
export type Unfit = {
  readonly failure: Failure;
  readonly exit: number;
  readonly problems?: readonly Problem[];
};

/**
 * Returns how the parameters of a job violate the `schema` of its flow, or that its `output_schema` is
 * none; undefined: all is well.
 */
export function unfitForFlow(flow: FlowSettings, params: Params, world: World): Unfit | undefined {
  const { name, schema, output_schema: output } = flow;
  const read = output === undefined ? undefined : world.schema(output);
  if (read?.ok === false) return broken(`flow "${name}"`, read, 'output_schema');
  if (schema === undefined) return undefined;
  return unfit({ what: "The job's parameters", of: `flow "${name}"`, schema }, params, world);
}

/**
 * Returns how the rendered parameters of an attempt violate the `schema` of its task; undefined:
 * they do not.
 */
export function unfitForTask(
  { name, schema }: Pick<Task, 'name'> & { readonly schema: Params },
  params: Params,
  world: World,
): Unfit | undefined {
  return unfit({ what: "The step's parameters", of: `task "${name}"`, schema }, params, world);
}

/**
 * Returns the failure for the first task whose `schema` is invalid: found before the job begins.
 */
export function brokenSchema(definitions: LiveJob['definitions'], world: World): Unfit | undefined {
  for (const task of Object.values(definitions)) {
    for (const key of ['schema', 'output_schema'] as const) {
      const schema = task[key];
      const read = schema === undefined ? undefined : world.schema(schema);
      if (read?.ok === false) return broken(`task "${task.name}"`, read, key);
    }
  }
  return undefined;
}

function broken(of: string, { reason }: Unanswered, key: string): Unfit {
  return { failure: failure('SchemaInvalid', { of, reason, key }), exit: exits.definition };
}

/**
 * Returns how a result violates an `output_schema`; undefined: it does not. The sentences have paths
 * and no values: a result may be confidential.
 */
export function unfitResult(
  { of, schema }: { readonly of: string; readonly schema: Params },
  result: unknown,
  read: World['schema'],
): Unfit | undefined {
  const found = read(schema);
  if (!found.ok) return broken(of, found, 'output_schema');
  const problems = found.problemsOf(result ?? null, 'result');
  if (problems.length === 0) return undefined;
  return { failure: failure('ResultUnfit', { of, ...told(problems) }), exit: exits.failed };
}

/** Returns how the result of a step violates the `output_schema` of its task; undefined: it does not. */
export function unfitForStep(
  job: LiveJob,
  step: Pick<Step, 'path' | 'task'>,
  result: unknown,
  read: World['schema'],
): Unfit | undefined {
  const { name = '', output_schema: schema } = definitionFor(job, step) ?? {};
  return schema === undefined
    ? undefined
    : unfitResult({ of: `task "${name}"`, schema }, result, read);
}

type Demand = {
  readonly what: string;
  readonly of: string;
  readonly schema: Params;
};

/** So many problems are told in the sentence; the list has them all. */
const mostTold = 3;

function unfit({ what, of, schema }: Demand, params: Params, world: World): Unfit | undefined {
  const read = world.schema(schema);
  if (!read.ok) return broken(of, read, 'schema');
  const problems = read.problemsOf(params);
  if (problems.length === 0) return undefined;
  return {
    failure: failure('ParamsUnfit', { what, of, ...told(problems) }),
    exit: exits.definition,
    problems,
  };
}

function told(problems: readonly Problem[]): { readonly problem: string; readonly more: number } {
  const named = problems.slice(0, mostTold).map(({ message }) => message.replace(/\.$/, ''));
  return { problem: named.join('; '), more: problems.length - named.length };
}
