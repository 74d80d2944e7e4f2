import { childPath, childrenOf, isStructure, type Loop, type Node } from '../../model/tree.js';
import { marksAt, roundsOf } from '../marks.js';
import { done, open, workOf, type Interpreting, type Progress, type Work } from './progress.js';

/**
 * Again and again while the condition holds, at most `max` times. Before each round there is a step
 * that says whether it takes place. What an earlier round left behind goes on beside the later ones.
 */
export function loopProgress(node: Loop, path: string, interpreting: Interpreting): Progress {
  const { job, phase, visit } = interpreting;
  const marks = marksAt(job, path);
  const rounds = roundsOf(job, path);
  const visitRound = (round: number): Progress =>
    visit(node.loop.do, childPath(path, 'loop', round));
  const behind: Work[] = leavesWork(node.loop.do)
    ? Array.from({ length: Math.max(0, rounds - 1) }, (_, round) => visitRound(round))
    : [];
  const last = rounds === 0 ? done : visitRound(rounds - 1);
  const work = workOf([...behind, last]);
  if (last.kind !== 'done') return { ...last, ...work };
  if (marks.length > rounds) return { ...done, ...work };
  return { ...open, ...workOf([work, { ...open, gates: [{ node, path, phase }] }]) };
}

/** Only nodes that run beside each other go on, or are to be cancelled, when it is done. */
function leavesWork(node: Node): boolean {
  if (!isStructure(node)) return node.decider !== undefined;
  return (
    ['parallel', 'batch', 'graph', 'map'].includes(node.structure) ||
    childrenOf(node, '').some((child) => leavesWork(child.node))
  );
}
