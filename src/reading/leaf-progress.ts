import type { LiveJob } from '../model/job.js';
import { isFailed, isOpen, type Phase, type Step } from '../model/step.js';
import type { Leaf } from '../model/tree.js';
import { completionOn, lastAttempt, lineOf } from './attempts.js';
import { definitionOf } from './entries.js';
import {
  done,
  failedAt,
  noWork,
  open,
  type Beginning,
  type Progress,
  type View,
} from '../structures/progress.js';

/**
 * How far one entry has come. Its attempts count first, then its error handlers: a handler that
 * succeeds recovers the step, one that fails changes nothing. Seen from now, what failed in an earlier
 * run of the flow begins anew.
 */
export function leafProgress(job: LiveJob, leaf: Leaf, phase: Phase, view: View = 'now'): Progress {
  const last = lastAttempt(job, leaf.path);
  if (last === undefined) return beginning({ leaf, phase });
  if (isOpen(last)) return open;
  if (!isFailed(last)) return isUndone(job, last) ? beginning({ leaf, phase }) : done;
  if (last.due !== undefined) {
    // Both times are of one clock: "at once" must not wait for another engine's clock to get there.
    return beginning(last.due > last.end ? { leaf, phase, due: last.due } : { leaf, phase });
  }
  if (completionOn(job, leaf.path) !== undefined) return done;
  const optional = isOptional(job, leaf);
  if (last.run < job.run && view === 'now') return optional ? done : beginning({ leaf, phase });
  const handler = handlerLeaf(job, leaf);
  if (handler !== undefined) {
    const handled = leafProgress(job, handler, 'error', view);
    if (handled.kind !== 'failed') return handled;
  }
  return optional ? done : failedAt(last);
}

function beginning(one: Beginning): Progress {
  return { kind: 'open', ...noWork, begin: [one] };
}

/** What was undone in an earlier run is to be done again. */
function isUndone(job: LiveJob, { path, run }: Step): boolean {
  if (job.run === 1) return false;
  const undo = lastAttempt(job, `${path}.undo`);
  return undo?.state === '$$complete' && undo.run < job.run && undo.run >= run;
}

function handlerLeaf(job: LiveJob, { path, index, entry }: Leaf): Leaf | undefined {
  const name = entry.error ?? definitionOf(job, entry)?.error;
  if (name === undefined || isHandling(job, path, name)) return undefined;
  return {
    path: `${path}.error`,
    index,
    name,
    label: `${name}-${index}`,
    entry: { task: name },
  };
}

/** Cuts a circle of handlers: a task that already failed on this line does not handle it again. */
function isHandling(job: LiveJob, path: string, name: string): boolean {
  return lineOf(path).some((at) => lastAttempt(job, at)?.task === name);
}

function isOptional(job: LiveJob, { entry }: Leaf): boolean {
  return entry.optional ?? definitionOf(job, entry)?.optional ?? false;
}
