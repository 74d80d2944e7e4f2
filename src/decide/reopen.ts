import type { FinalJob, Job, LiveJob } from '../model/job.js';
import type { RetryWish } from '../model/request.js';
import type { Leaf } from '../model/tree.js';
import { leavesIn } from './leaves.js';
import { isPlain, merge, without } from './record.js';

type Reopened =
  | { readonly kind: 'applied'; readonly job: Job }
  | { readonly kind: 'refused'; readonly because: string };

/**
 * Lets a final job go on: at the step that failed, or at `from` and with all that comes after it.
 * Nothing that was done is done again unless `from` asks for it; all attempts stay on record. The
 * flow's time begins anew. A job that ended before its first step begins from nothing.
 */
export function reopened(
  job: FinalJob,
  { from, params, latest }: RetryWish,
  now: number,
): Reopened {
  if (!hasSnapshot(job)) return { kind: 'applied', job: asNew(job, params) };
  const ended = job as unknown as LiveJob;
  const run = ended.run + 1;
  const leaf = from === undefined ? undefined : leafNamed(ended, from);
  if (from !== undefined && leaf === undefined) {
    return { kind: 'refused', because: `Job ${job._id} has no step "${from}".` };
  }
  if (leaf === undefined && job.exit === 0) {
    const because = `Job ${job._id} succeeded; say with "from" at which step it is to begin again.`;
    return { kind: 'refused', because };
  }
  const kept = without(
    ended as LiveJob & Readonly<Record<string, unknown>>,
    ...(['end', 'exit', 'result', 'failure', 'cancel', 'retry'] as const),
    ...(['held_ms', 'held_since', 'resume_at', 'next_due', 'paused'] as const),
  );
  const last = ended.steps.findLast((step) => step.structure === undefined);
  const redo = leaf === undefined ? [] : [{ from: leaf.path, run }];
  return {
    kind: 'applied',
    job: {
      ...kept,
      state: last === undefined ? '$$ready' : `${last.task}-${last.index}`,
      run,
      timed_from: now,
      ...(redo.length + (ended.redo ?? []).length === 0
        ? {}
        : { redo: [...(ended.redo ?? []), ...redo] }),
      ...(latest === true ? { refresh: true } : {}),
      ...(params === undefined ? {} : { params: withParams(ended, params) }),
    } as LiveJob,
  };
}

function hasSnapshot(job: FinalJob): boolean {
  return isPlain(job['definitions']) && isPlain(job['tasks']) && Array.isArray(job.steps);
}

function asNew(job: FinalJob, params: RetryWish['params']): Job {
  const kept = without(
    job,
    ...(['state', 'start', 'end', 'exit', 'result', 'failure', 'steps'] as const),
    ...(['problems', 'run', 'cancel', 'retry', 'next_due'] as const),
  );
  const given = isPlain(kept['params']) ? kept['params'] : undefined;
  const changed = params === undefined ? {} : { params: merge(given, params) };
  return { ...kept, ...changed };
}

/** Changes for a task go to all its steps; the parameters of a job are kept by step. */
function withParams(
  job: LiveJob,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const bySteps = leavesIn(job.tasks)
    .list.filter(({ entry }) => isPlain(changes[entry.task]))
    .map(({ entry, label }) => ({ [label]: changes[entry.task] }));
  return merge(job.params, ...bySteps, changes);
}

/** The leaf that a person means: by name, `<task>-<n>` or path; by task when only one has it. */
export function leafNamed(job: LiveJob, word: string): Leaf | undefined {
  const { list, at } = leavesIn(job.tasks);
  const byPath = at(word);
  if (byPath !== undefined) return byPath;
  const byLabel = list.find(({ label }) => label === word);
  if (byLabel !== undefined) return byLabel;
  const named = list.filter(({ name, entry }) => name === word || entry.task === word);
  return named.length === 1 ? named[0] : undefined;
}
