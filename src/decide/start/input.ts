import type { LiveJob } from '../../model/job.js';
import { isOfFlow, type Step } from '../../model/step.js';
import { handlerParams, stepParams } from './params.js';
import {
  resultsAround,
  resultsBefore,
  type Contents,
  type Results,
} from '../../reading/results.js';
import { isOfDecider } from '../../structures/paths.js';
import { scopeOf } from '../../reading/scope.js';
import type { Beginning } from '../../structures/progress.js';

/**
 * What a step works with before templates are rendered: parameters, the results it sees, its scope.
 */
export type Input = Results & {
  readonly params: Readonly<Record<string, unknown>>;
  /** `item`, `index`, `round`: what the maps and loops around it add. */
  readonly scope: Readonly<Record<string, unknown>>;
};

/** A step to begin; `params` when they are not simply those of the job. */
export type Filling = Beginning & { readonly params?: Readonly<Record<string, unknown>> };

/** Returns the parameters of a step as they are in the job. */
export function writtenParams(job: LiveJob, beginning: Beginning): Input['params'] {
  const { leaf } = beginning;
  return isOwn(beginning) ? stepParams(job, leaf) : handlerParams(job, leaf.entry);
}

/**
 * Whether a step belongs to the flow itself; handlers, and what a decider began, bring their own
 * parameters.
 */
export function isOwn({ leaf, phase }: Beginning): boolean {
  return isOfFlow(phase) && !isOfDecider(leaf.path);
}

/**
 * Returns the input of a step. A step of the flow sees the results before it; handlers and the
 * cancel branch see all of them.
 */
export function inputOf(job: LiveJob, beginning: Filling, contents?: Contents): Input {
  const { leaf, phase, params = writtenParams(job, beginning) } = beginning;
  const { path } = leaf;
  return { ...resultsFor(job, { path, phase }, contents), scope: scopeOf(job, path), params };
}

/** Returns the results that a step sees. */
export function resultsFor(
  job: LiveJob,
  { path, phase }: Pick<Step, 'path' | 'phase'>,
  contents?: Contents,
): Results {
  return isOfFlow(phase) ? resultsBefore(job, path, contents) : resultsAround(job, path, contents);
}
