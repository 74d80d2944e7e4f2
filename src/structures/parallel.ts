import { z } from 'zod';
import { flagSchema } from '../model/scalars.js';
import { childPath, type Join, type Node, type OnFail, type Structure } from '../model/tree.js';
import { drawBeside } from './drawing.js';
import type { Fields, Kind, RuleBreak } from './kind.js';
import { beforeAllCame, together } from './node-state.js';
import { valuesByKey } from './results.js';
import { siblingsProgress } from './siblings.js';
import { failWords, eachOf, listedNodes, onFailSchema } from './written.js';

export type Parallel = Structure & {
  readonly structure: 'parallel';
  readonly parallel: readonly Node[];
  readonly join?: Join;
  readonly on_fail?: OnFail;
  /** The others are cancelled as soon as enough have succeeded. */
  readonly cancel_rest?: boolean;
};

const joinText = 'must be "all", "any" or a number of nodes (1 or more)';
const countSchema = z.int({ error: joinText }).min(1, { error: joinText });
const joinSchema = z
  .union([z.enum(['all', 'any'], { error: joinText }), countSchema], { error: joinText })
  .describe('How many must succeed.');

const children = (node: Parallel, path: string) => listedNodes(node.parallel, 'parallel', path);

/**
 * Runs all nodes at once; `join` says how many must succeed, `on_fail` what a failure does to the
 * others.
 */
export const parallel: Kind<Parallel> = {
  written: {
    shape: ({ nodes }) => ({
      parallel: nodes.describe('Nodes that run beside each other.'),
      join: z.exactOptional(joinSchema),
      on_fail: z.exactOptional(onFailSchema),
      cancel_rest: z.exactOptional(flagSchema),
    }),
    beside: ['join', 'cancel_rest', 'on_fail'],
    breaks: joinBreaks,
    normalised: (it, toNode) => ({ parallel: eachOf(it['parallel'], toNode) }),
  },
  children,

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
    value: valuesByKey,
    addBefore: (node, path, target, scope) => scope.addBeforeIn(children(node, path), target),
  },

  words(node) {
    const total = node.parallel.length;
    const { join = 'all' } = node;
    const needed =
      join === 'all' ? [] : [join === 'any' ? `any of ${total}` : `${join} of ${total}`];
    const rest = node.cancel_rest === true ? ['cancels the rest'] : [];
    return { label: 'parallel', notes: [...needed, ...rest, ...failWords(node.on_fail)] };
  },
  draw: (node, path, drawing) => drawBeside(children(node, path), path, drawing),

  state(node, path, { visit }, situation) {
    const inside = { isOver: situation.isOver, wentOn: false };
    const states = children(node, path).map((child) => visit(child.node, child.path, inside));
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

/** `join` cannot ask for more nodes than there are. */
function joinBreaks({ parallel: nodes, join }: Fields): readonly RuleBreak[] {
  const count = (nodes as readonly unknown[]).length;
  if (typeof join !== 'number' || join <= count) return [];
  const message = `must be at most ${count}, the number of nodes in "parallel"`;
  return [{ keys: ['join'], message, isComplete: false }];
}
