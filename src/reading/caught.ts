import type { LiveJob } from '../model/job.js';
import type { Failure, FailedStep, FailureSeen } from '../model/step.js';
import { below, childPath, isStructure } from '../model/tree.js';
import { triedPath, type Catch, type CatchClause } from '../structures/catch.js';
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

/** What the branch of a catch goes on for. `at`: path of the catch; `clause`: number of its clause, from 0. */
export type CaughtFailure = {
  readonly at: string;
  readonly clause: number;
  readonly failed: Pick<FailedStep, 'path' | 'name' | 'failure'>;
  /** The name under which the branch sees the failure. */
  readonly as?: string;
};

/** Returns what was caught in a job, in the order in which the branches began. */
export function caughtIn(job: LiveJob): readonly CaughtFailure[] {
  const found = new Map<string, CaughtFailure>();
  for (const { path } of job.steps) {
    for (let at = catchAround(path); at !== undefined; at = catchAround(at)) {
      const clause = Number(path.slice(below(at, 'catch.').length).split('.')[0]);
      const branch = childPath(at, 'catch', clause);
      const step = found.has(branch) ? undefined : caughtAround(job, branch);
      if (step === undefined) continue;
      const { as } = (nodeOf(job, at) as Catch).catch[clause] as CatchClause;
      const { path: failed, name, failure } = step;
      found.set(branch, {
        ...{ at, clause, failed: { path: failed, name, failure } },
        ...(as === undefined ? {} : { as }),
      });
    }
  }
  return [...found.values()];
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
