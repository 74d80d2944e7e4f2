import { isFinal, isNew, type Job, type LiveJob } from '../model/job.js';
import { below, isStructure, isWithin, type Leaf } from '../model/tree.js';
import { callbacks } from '../structures/batch.js';
import { kindOf } from '../structures/kinds.js';
import { batchesAround, isOfEnd, repetitionsAround } from '../structures/paths.js';
import { jobSteps } from './attempts.js';
import { leavesIn, nodeOf } from './entries.js';
import { progressAt } from './progress.js';

/**
 * Why a step cannot be skipped. `missing`: the job has no such step; `repeated`: it is in a map or a
 * loop, and the path does not say in which item or round; `ending`: the job does already what follows
 * a failure or a cancel; `called_back`: the batch around it calls back already; `done`: it is done.
 */
export type SkipRefusal = 'missing' | 'repeated' | 'ending' | 'called_back' | 'done';

/** Returns why a step of a job that has begun cannot be skipped; undefined: it can. */
export function skipRefusal(job: LiveJob, leaf: Leaf): SkipRefusal | undefined {
  const { path, entry } = leaf;
  if (!isThere(job, path)) return 'missing';
  if (path.includes('.*')) return 'repeated';
  if (job.steps.some((step) => step.run === job.run && isOfEnd(step.path))) return 'ending';
  if (batchesAround(path).some((batch) => callsBack(job, batch))) return 'called_back';
  return progressAt(job, entry, path).kind === 'done' ? 'done' : undefined;
}

/**
 * Returns the test whether the step at a path of the job may be skipped now. A job that has ended
 * without success continues after the step, in its next run.
 */
export function skippableIn(job: Job): (path: string) => boolean {
  if (isNew(job) || (isFinal(job) && job.exit === 0)) return () => false;
  const open = isFinal(job) ? ({ ...job, run: Number(job.run) + 1 } as unknown as LiveJob) : job;
  const { at } = leavesIn(open.tasks);
  return (path) => {
    const leaf = at(path);
    return leaf !== undefined && skipRefusal(open, leaf) === undefined;
  };
}

/** Which callbacks run was settled when the first of them began; there is no second verdict. */
function callsBack(job: LiveJob, batch: string): boolean {
  return job.steps.some(
    ({ path, run, state }) =>
      run === job.run &&
      state !== '$$skipped' &&
      callbacks.some((key) => isWithin(path, below(batch, key))),
  );
}

/** The items of the maps and the rounds of the loops around a path are known. */
function isThere(job: LiveJob, path: string): boolean {
  const steps = jobSteps(job);
  return repetitionsAround(path).every(({ path: at, number }) => {
    const node = nodeOf(job, at);
    const isKnown = node !== undefined && isStructure(node);
    return isKnown && kindOf(node).repeats?.isThere(at, number, steps) === true;
  });
}
