import { failure } from '../../model/failures.js';
import type { FlowSettings, LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { exits, type Failure } from '../../model/step.js';
import type { Task } from '../../model/task.js';
import type { Unanswered, World } from '../world.js';

type Params = Readonly<Record<string, unknown>>;

/** Why parameters are refused; `problems` when they violate the schema. */
export type Unfit = {
  readonly failure: Failure;
  readonly exit: number;
  readonly problems?: readonly Problem[];
};

/** Returns how the parameters of a job violate the `schema` of its flow; undefined: they do not. */
export function unfitForFlow(flow: FlowSettings, params: Params, world: World): Unfit | undefined {
  const { name, schema } = flow;
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
  for (const { name, schema } of Object.values(definitions)) {
    const read = schema === undefined ? undefined : world.schema(schema);
    if (read?.ok === false) return broken(`task "${name}"`, read);
  }
  return undefined;
}

function broken(of: string, why: Unanswered): Unfit {
  return { failure: failure('SchemaInvalid', { of, reason: why.reason }), exit: exits.definition };
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
  if (!read.ok) return broken(of, read);
  const problems = read.problemsOf(params);
  if (problems.length === 0) return undefined;
  const named = problems.slice(0, mostTold).map(({ message }) => message.replace(/\.$/, ''));
  const more = problems.length - named.length;
  return {
    failure: failure('ParamsUnfit', { what, of, problem: named.join('; '), more }),
    exit: exits.definition,
    problems,
  };
}
