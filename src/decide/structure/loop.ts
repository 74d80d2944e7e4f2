import { childPath, type Loop } from '../../model/tree.js';
import { marksAt } from '../marks.js';
import { done, open, type Interpreting, type Progress } from './progress.js';

/**
 * Again and again while the condition holds, at most `max` times. Before each round there is a step
 * that says whether it takes place.
 */
export function loopProgress(
  node: Loop,
  path: string,
  { job, phase, visit }: Interpreting,
): Progress {
  const marks = marksAt(job, path);
  const rounds = marks.filter(({ again }) => again === true).length;
  if (marks.length > rounds) return done;
  if (rounds > 0) {
    const progress = visit(node.loop.do, childPath(path, 'loop', rounds - 1));
    if (progress.kind !== 'done') return progress;
  }
  return { ...open, gates: [{ node, path, phase }] };
}
