import { childPath, type Sequence } from '../../model/tree.js';
import { workOf, type Interpreting, type Progress, type Work } from './progress.js';

/** One after the other: the first child that is not done tells how far the sequence is. */
export function sequenceProgress(node: Sequence, path: string, { visit }: Interpreting): Progress {
  const behind: Work[] = [];
  for (const [i, child] of node.sequence.entries()) {
    const progress = visit(child, childPath(path, 'sequence', i));
    if (progress.kind !== 'done') return { ...progress, ...workOf([...behind, progress]) };
    behind.push(progress);
  }
  return { kind: 'done', ...workOf(behind) };
}
