import type { LiveJob } from '../model/job.js';
import type { Phase } from '../model/step.js';
import { childrenOf } from '../structures/tree.js';
import { isStructure, type Node } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import { interpret } from './progress.js';

/**
 * Paths in a tree of which nothing is needed any more, where one node may be the end of others. A
 * tree in which none can is not looked at.
 */
export function unneededIn(job: LiveJob, tree: Node, phase: Phase, prefix = ''): readonly string[] {
  return hasRace(tree) ? interpret(job, tree, phase, prefix).drop : [];
}

function hasRace(node: Node): boolean {
  const { cancel_rest: isFirst, decider } = node as { cancel_rest?: boolean; decider?: string };
  if (isFirst === true || decider !== undefined) return true;
  if (!isStructure(node)) return false;
  const isRace = kindOf(node).onFail?.(node) === 'cancel_rest';
  return isRace || childrenOf(node, '').some((child) => hasRace(child.node));
}
