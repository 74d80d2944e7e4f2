import { childPath, type Node, type Sequence } from '../../model/tree.js';
import { done, type Progress } from './progress.js';

/** Asks for the progress of one child node; `recur` is passed on for nodes inside it. */
export type Visit = (node: Node, path: string, recur: Visit) => Progress;

/** One after the other: the first child that is not done tells how far the sequence is. */
export function sequenceProgress(node: Sequence, path: string, visit: Visit): Progress {
  for (const [i, child] of node.sequence.entries()) {
    const progress = visit(child, childPath(path, node, i), visit);
    if (progress.kind !== 'done') return progress;
  }
  return done;
}
