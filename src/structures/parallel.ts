import { childPath, childrenOf, type Parallel } from '../model/tree.js';
import { drawBeside } from './drawing.js';
import type { Kind } from './kind.js';
import { beforeAllCame, together } from './node-state.js';
import { listOf, valuesByKey } from './results.js';
import { siblingsProgress } from './siblings.js';
import { failWords } from './words.js';

/** All at once; `join` says how many must succeed, `on_fail` what a failure does to the others. */
export const parallel: Kind<Parallel> = {
  progress(node, path, { visit }) {
    const { on_fail: onFail = 'wait', cancel_rest: cancelRest = false } = node;
    const siblings = node.parallel.map((child, i) => {
      const at = childPath(path, 'parallel', i);
      return { path: at, progress: visit(child, at) };
    });
    const total = node.parallel.length;
    return siblingsProgress(siblings, {
      needed: Math.min(neededOf(node), total),
      total,
      onFail,
      cancelRest,
    });
  },

  isConcurrent: true,
  onFail: (node) => node.on_fail,
  isAfter: () => false,

  results: {
    isGroup: true,
    parts: (node, path) => listOf(node.parallel, 'parallel', path),
    value: valuesByKey,
    addBefore: (node, path, target, scope) =>
      scope.addBeforeIn(listOf(node.parallel, 'parallel', path), target),
  },

  words(node) {
    const total = node.parallel.length;
    const { join = 'all' } = node;
    const needed =
      join === 'all' ? [] : [join === 'any' ? `any of ${total}` : `${join} of ${total}`];
    const rest = node.cancel_rest === true ? ['cancels the rest'] : [];
    return { label: 'parallel', notes: [...needed, ...rest, ...failWords(node.on_fail)] };
  },
  draw: (node, path, drawing) => drawBeside(childrenOf(node, path), path, drawing),

  state(node, path, { visit }, situation) {
    const inside = { isOver: situation.isOver, wentOn: false };
    const states = childrenOf(node, path).map((child) => visit(child.node, child.path, inside));
    const unneeded = Math.max(0, node.parallel.length - neededOf(node));
    const tolerated = node.on_fail === 'ignore' ? Infinity : unneeded;
    const state = together(states, situation.isOver, tolerated);
    return beforeAllCame(states, state, situation, unneeded);
  },
};

/** So many of its nodes must succeed. */
function neededOf({ parallel: nodes, join = 'all' }: Parallel): number {
  if (join === 'all') return nodes.length;
  return join === 'any' ? 1 : join;
}
