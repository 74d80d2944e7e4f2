import type { LiveJob } from '../model/job.js';
import type { Failure, FailedStep, FailureSeen } from '../model/step.js';
import { isStructure } from '../model/tree.js';
import { triedPath, type Catch } from '../structures/catch.js';
import { catchAround } from '../structures/paths.js';
import { nodeOf } from './entries.js';
import { progressAt, progressBefore } from './progress.js';

/**
 * Returns the step that failed for good, and for which the innermost catch around a path goes on
 * there. Undefined: the path is in no branch of a catch, or what was tried has not failed.
 */
export function caughtAround(job: LiveJob, path: string): FailedStep | undefined {
  const at = catchAround(path);
  if (at === undefined) return undefined;
  const node = nodeOf(job, at);
  if (node === undefined || !isStructure(node)) return undefined;
  const { try: tried } = node as Catch;
  const now = progressAt(job, tried, triedPath(at));
  const progress = now.kind === 'open' ? progressBefore(job, tried, triedPath(at)) : now;
  return progress.kind === 'failed' ? progress.step : undefined;
}

/** Returns the failure of a step; in a branch of a catch it says what was caught there. */
export function withCause(job: LiveJob, { path, failure }: FailedStep): Failure {
  const caught = caughtAround(job, path);
  if (caught === undefined) return failure;
  const { name, message, code, cause } = withCause(job, caught);
  return {
    ...failure,
    cause: {
      ...{ name, message, step: caught.name },
      ...(code === undefined ? {} : { code }),
      ...(cause === undefined ? {} : { cause }),
    },
  };
}

/** Returns how what follows the failure of a step sees it. */
export function failureSeen({ failure, name, exit, attempt }: FailedStep): FailureSeen {
  return { ...seenAs(failure, exit), step: name, attempt };
}

/** Returns how what follows a failure sees it, where that is of no step. */
export function seenAs({ name, message, code, ...more }: Failure, exit: number): FailureSeen {
  const kind = typeof more['kind'] === 'string' ? more['kind'] : null;
  return { name, message, code: code ?? null, kind, step: null, exit, attempt: null };
}
