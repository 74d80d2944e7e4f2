import { failure } from '../../model/failures.js';
import type { FlowSettings, LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { exits, type Failure } from '../../model/step.js';
import type { Task } from '../../model/task.js';
import type { Unanswered, World } from '../world.js';

type Params = Readonly<Record<string, unknown>>;
type Schemas = Pick<World, 'schema'>;

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
export function unfitForFlow(
  flow: FlowSettings,
  params: Params,
  world: Schemas,
): Unfit | undefined {
  const { name, schema, output_schema: output } = flow;
  const read = output === undefined ? undefined : world.schema(output);
  if (read?.ok === false) return brokenSchemaOf(`flow "${name}"`, read, 'output_schema');
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
export function brokenSchema(
  definitions: LiveJob['definitions'],
  world: Schemas,
): Unfit | undefined {
  for (const task of Object.values(definitions)) {
    for (const key of ['schema', 'output_schema'] as const) {
      const schema = task[key];
      const read = schema === undefined ? undefined : world.schema(schema);
      if (read?.ok === false) return brokenSchemaOf(`task "${task.name}"`, read, key);
    }
  }
  return undefined;
}

/** The failure for a stored schema that is none; `key`: where it is stored. */
export function brokenSchemaOf(of: string, { reason }: Unanswered, key: string): Unfit {
  return { failure: failure('SchemaInvalid', { of, reason, key }), exit: exits.definition };
}

type Demand = {
  readonly what: string;
  readonly of: string;
  readonly schema: Params;
};

/** So many problems are told in the sentence; the list has them all. */
const mostTold = 3;

function unfit({ what, of, schema }: Demand, params: Params, world: Schemas): Unfit | undefined {
  const read = world.schema(schema);
  if (!read.ok) return brokenSchemaOf(of, read, 'schema');
  const problems = read.problemsOf(params);
  if (problems.length === 0) return undefined;
  return {
    failure: failure('ParamsUnfit', { what, of, ...told(problems) }),
    exit: exits.definition,
    problems,
  };
}

/** The problems as a failure tells them. */
export function told(problems: readonly Problem[]): {
  readonly problem: string;
  readonly more: number;
} {
  const named = problems.slice(0, mostTold).map(({ message }) => message.replace(/\.$/, ''));
  return { problem: named.join('; '), more: problems.length - named.length };
}
