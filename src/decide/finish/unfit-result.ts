import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { mostOf, problemIn } from '../../model/size.js';
import { exits, type Step } from '../../model/step.js';
import { definitionFor } from '../../reading/entries.js';
import { brokenSchemaOf, told, type Unfit } from '../start/suits.js';
import type { World } from '../world.js';

/**
 * Returns how a result violates an `output_schema`, or that it is too large to be checked; undefined: it
 * suits. The sentences have paths and no values: a result may be confidential.
 */
export function unfitResult(
  { of, schema }: { readonly of: string; readonly schema: Readonly<Record<string, unknown>> },
  result: unknown,
  read: World['schema'],
): Unfit | undefined {
  const found = read(schema);
  if (!found.ok) return brokenSchemaOf(of, found, 'output_schema');
  const large = problemIn('result', result, mostOf('data'));
  const problems = large === undefined ? found.problemsOf(result ?? null, 'result') : [large];
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
