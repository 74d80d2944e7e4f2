import type { LiveJob } from '../model/job.js';
import type { Entry, Leaf } from '../model/tree.js';
import { sliceLeaf, writtenLeaf } from './leaves.js';
import { deciderOf, decisionMaker, slicedMap } from '../structures/paths.js';
import { leafBelow } from './decider-answers.js';

/** The leaf at a path of the flow or of its cancel branch, also of what a decider began. */
export function leafAt(job: LiveJob, path: string): Leaf | undefined {
  const written = writtenLeaf(job, path);
  if (written !== undefined) return written;
  if (slicedMap(path) !== path) return sliceLeaf(job, path);
  const decider = writtenLeaf(job, deciderOf(path) ?? decisionMaker(path));
  return decider?.entry.decider === undefined ? undefined : leafBelow(job, decider, path);
}

/** The entry at a path of the flow or of its cancel branch; handlers have none. */
export function entryOf(job: LiveJob, path: string): Entry | undefined {
  return leafAt(job, path)?.entry;
}
