import { exits, isFailed, isOfFlow, isOpen, type FailedStep, type Step } from '../../model/step.js';
import type { LiveJob } from '../../model/job.js';
import { itemsAtOnce } from '../../model/limits.js';
import { leavesOf, type Entry, type MapOver } from '../../model/tree.js';
import { lastAttempt } from '../history.js';
import { sliceLeaf } from '../leaves.js';
import { slicesOf, type SliceOfItems } from '../marks.js';
import { isWithin } from '../paths.js';
import { definitionOf } from '../serving.js';
import { done, failedAt, noWork, type Gate, type Interpreting, type Progress } from './progress.js';
import { firstOf } from './siblings.js';

/**
 * A map whose list is gone over by child jobs: each has a slice of the items and tells how many of
 * them failed. All together count as if they were worked on in one job.
 */
export function slicesProgress(
  node: MapOver,
  path: string,
  { total, slice }: { readonly total: number; readonly slice: number },
  { job, view, phase }: Interpreting,
): Progress {
  const { on_fail: onFail = 'wait' } = node.map;
  const parts = slicesOf(path, total, slice);
  const slices = parts.map((part) => standingOf(part, job, view === 'now'));
  const busy = slices.filter(({ kind }) => kind === 'open');
  const waiting = slices.filter(({ kind }) => kind === 'waiting');
  const failures = slices.flatMap(({ step }) => (step === undefined ? [] : [step]));
  const failed = slices.reduce((sum, one) => sum + one.failed, 0);
  const isFailing = failed > toleratedOf(node, total);
  if (isFailing && onFail === 'cancel_rest') {
    return { ...failedAt(firstOf(failures)), drop: busy.map((one) => one.path) };
  }
  if (busy.length + waiting.length === 0) {
    return isFailing && onFail === 'wait' ? failedAt(firstOf(failures)) : done;
  }
  const most = Math.max(1, Math.floor(itemsAtOnce(node.map) / slice));
  const admitted = waiting.slice(0, Math.max(0, most - busy.length));
  const begin = admitted.map((one) => ({ leaf: sliceLeaf(job, one.path), phase }));
  return { kind: 'open', ...noWork, begin };
}

/** How a slice stands; `failed`: so many of its items did, `step` says why. */
type Standing = {
  readonly path: string;
  readonly kind: 'waiting' | 'open' | 'ended';
  readonly failed: number;
  readonly step?: FailedStep;
};

/** In a further run of the flow a slice of which something failed goes on. */
function standingOf({ path, size }: SliceOfItems, job: LiveJob, isNow: boolean): Standing {
  const last = lastAttempt(job, path);
  if (last === undefined) return { path, kind: 'waiting', failed: 0 };
  if (isOpen(last)) return { path, kind: 'open', failed: 0 };
  const failed = failedIn(last) ?? (isFailed(last) ? size : 0);
  if (failed > 0 && last.run < job.run && isNow) return { path, kind: 'waiting', failed: 0 };
  return failed === 0
    ? { path, kind: 'ended', failed }
    : { path, kind: 'ended', failed, step: asFailed(last) };
}

function failedIn(step: Step): number | undefined {
  return 'failed' in step ? (step.failed as number) : undefined;
}

/** A slice in which no more failed than the whole map tolerates is complete, and warns of them. */
function asFailed(step: Step): FailedStep {
  if (isFailed(step)) return step;
  const { warning } = step as { readonly warning: FailedStep['failure'] };
  return { ...step, state: '$$error', exit: exits.failed, failure: warning } as FailedStep;
}

/** So many of the items of a map may fail. */
export function toleratedOf({ map: { tolerate = 0 } }: MapOver, total: number): number {
  if (typeof tolerate === 'number') return Math.min(tolerate, total);
  return Math.floor((Number.parseInt(tolerate, 10) * total) / 100);
}

/**
 * Whether the list of a map is gone over in slices. It is not where steps would have to know of
 * each other over the borders of a job: with an `undo`, with signals to this job, with deciders, and
 * in the cancel branch.
 */
export function sliceFor(
  job: LiveJob,
  { node, path, phase }: Gate,
  total: number,
): { readonly slice?: number } {
  const { slice = Infinity, do: each } = (node as MapOver).map;
  if (total <= slice || !isOfFlow(phase) || isWithin(path, 'cancel')) return {};
  return leavesOf(each).some(({ entry }) => needsWholeJob(job, entry)) ? {} : { slice };
}

function needsWholeJob(job: LiveJob, entry: Entry): boolean {
  const undo = entry.undo ?? definitionOf(job, entry)?.undo;
  return undo !== undefined || entry.wait?.signal !== undefined || entry.decider !== undefined;
}
