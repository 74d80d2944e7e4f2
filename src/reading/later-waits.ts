import type { LiveJob } from '../model/job.js';
import type { Leaf } from '../model/tree.js';
import { definedPath } from '../structures/paths.js';
import { formAskedBy } from '../structures/people.js';
import { leavesIn } from './entries.js';

/** Returns the name of the signal that an entry of a flow reads, as it is written; empty: none. */
export function signalsRead({ entry, label }: Leaf): readonly string[] {
  const { wait, name = label } = entry;
  const asked = formAskedBy(entry);
  if (asked === undefined) return wait?.signal === undefined ? [] : [wait.signal];
  return [asked.signal ?? name];
}

/**
 * Whether a wait that has not begun, behind all that has, takes signals of a name: an answer that names no step may have
 * been sent ahead for it. Names that a template makes are not known.
 */
export function isAwaitedLater(job: LiveJob, signal: string): boolean {
  const { list } = leavesIn(job.tasks);
  const begun = new Set(job.steps.map(({ path }) => definedPath(path)));
  const last = list.findLastIndex(({ path }) => begun.has(path));
  return list.slice(last + 1).some((leaf) => signalsRead(leaf).includes(signal));
}
