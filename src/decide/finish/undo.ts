import type { LiveJob } from '../../model/job.js';
import { isOfFlow, type Step } from '../../model/step.js';
import type { Leaf } from '../../model/tree.js';
import { begin } from '../start/begin.js';
import { lastAttempt } from '../../reading/attempts.js';
import { entryOf, definitionFor, leafProgress, leavesIn } from '../../reading/entries.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';
import { mergeWaits } from '../waiting/together.js';
import { openWaits } from '../waiting/waits.js';

/**
 * Undoes what a failed or cancelled flow has done: the `undo` tasks of completed steps run one
 * after the other, in reverse order. One that fails for good does not stop the others. Returns
 * undefined when nothing is left to undo.
 */
export function undoMove(job: LiveJob, now: number, world: World): Move | undefined {
  for (const { step, leaf } of toUndo(job)) {
    const last = lastAttempt(job, leaf.path);
    if (last === undefined || last.run < step.run) {
      return begin(job, { leaf, phase: 'undo' }, now, world);
    }
    const progress = leafProgress(job, leaf, 'undo');
    if (progress.kind !== 'open') continue;
    const [beginning] = progress.begin;
    return beginning === undefined ? mergeWaits(openWaits(job)) : begin(job, beginning, now, world);
  }
  return undefined;
}

/** Whether any step of a job may have an undo task. */
export function mayUndo({ definitions, tasks }: LiveJob): boolean {
  return (
    Object.values(definitions).some(({ undo }) => undo !== undefined) ||
    leavesIn(tasks).list.some(({ entry }) => entry.undo !== undefined)
  );
}

/** Returns the minimum number of steps it would take to undo what was done. */
export function undoesLeft(job: LiveJob): number {
  return toUndo(job).filter(({ leaf }) => lastAttempt(job, leaf.path) === undefined).length;
}

type Undo = { readonly step: Step; readonly leaf: Leaf };

/** Completed steps that have an `undo`, the one that ended last first, of those the one begun last. */
function toUndo(job: LiveJob): readonly Undo[] {
  return job.steps
    .toReversed()
    .filter((step) => isDone(job, step))
    .flatMap((step): Undo[] => {
      const task = entryOf(job, step.path)?.undo ?? definitionFor(job, step)?.undo;
      if (task === undefined) return [];
      const { index } = step;
      const path = `${step.path}.undo`;
      const leaf = { path, index, name: task, label: `${task}-${index}`, entry: { task } };
      return [{ step, leaf }];
    })
    .toSorted((a, b) => endOf(b.step) - endOf(a.step));
}

/** The last attempt of a step of the flow, and it completed. */
function isDone(job: LiveJob, step: Step): boolean {
  return (
    step.state === '$$complete' &&
    isOfFlow(step.phase) &&
    step.structure === undefined &&
    lastAttempt(job, step.path) === step
  );
}

function endOf(step: Step): number {
  return Number(step['end']);
}
