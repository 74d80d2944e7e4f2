import type { LiveJob } from '../../model/job.js';
import type { Phase } from '../../model/step.js';
import { isStructure, type Leaf, type Structure } from '../../model/tree.js';
import { leavesIn } from '../leaves.js';
import { leafProgress } from './leaf.js';
import type { Progress } from './progress.js';
import { sequenceProgress } from './sequence.js';

/**
 * Says how far a tree has come. Nothing about nodes is stored: everything follows from the steps.
 * `prefix` is the path of the root (`cancel` for the cancel branch).
 */
export function interpret(job: LiveJob, tree: Structure, phase: Phase, prefix = ''): Progress {
  const leaves = leavesIn(tree, prefix).byPath;
  return sequenceProgress(tree, prefix, (node, path, recur) =>
    isStructure(node)
      ? sequenceProgress(node, path, recur)
      : leafProgress(job, leaves.get(path) as Leaf, phase),
  );
}
