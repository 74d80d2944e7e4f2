import { childPath, isWithin, type Node, type Structure } from '../model/tree.js';
import { drawInTurn } from './drawing.js';
import type { Kind } from './kind.js';
import { brokenOff, together } from './node-state.js';
import { done, workOf, type Work } from './progress.js';
import { lastValue } from './results.js';
import { eachOf, listedNodes } from './written.js';

export type Sequence = Structure & {
  readonly structure: 'sequence';
  readonly sequence: readonly Node[];
};

const children = (node: Sequence, path: string) => listedNodes(node.sequence, 'sequence', path);

/**
 * Runs nodes one after the other: the first child that is not done determines the progress of the
 * sequence.
 */
export const sequence: Kind<Sequence> = {
  written: {
    shape: ({ nodes }) => ({ sequence: nodes }),
    normalised: (it, toNode) => ({ sequence: eachOf(it['sequence'], toNode) }),
  },
  children,

  progress(node, path, { visit }) {
    const behind: Work[] = [];
    for (const [i, child] of node.sequence.entries()) {
      const progress = visit(child, childPath(path, 'sequence', i));
      if (progress.kind !== 'done') {
        return behind.length === 0 ? progress : { ...progress, ...workOf([...behind, progress]) };
      }
      // Most nodes that are done leave no work behind.
      if (progress !== done) behind.push(progress);
    }
    return behind.length === 0 ? done : { kind: 'done', ...workOf(behind) };
  },

  isConcurrent: false,
  isAfter: (_node, one, other) => Number(one.at) > Number(other.at),

  results: {
    isGroup: false,
    value: lastValue,
    addBefore(node, path, target, scope) {
      for (const [i, child] of node.sequence.entries()) {
        const at = childPath(path, 'sequence', i);
        if (isWithin(target, at)) return scope.addBefore(child, at, target);
        scope.add(child, at);
      }
    },
  },

  words: (node) => ({
    label: 'sequence',
    notes: node.sequence.length === 0 ? ['nothing in it'] : [],
  }),
  draw: (node, path, drawing) => drawInTurn(children(node, path), path, drawing),

  state(node, path, { visit, hasNoSteps, hasBegun, hasRun, isUnfit }, situation) {
    const { isOver, wentOn } = situation;
    const all = children(node, path);
    const begun = all.findLastIndex((child) => hasBegun(child.path));
    // A step may have been left out by hand before its turn.
    const ran = all.findLastIndex((child) => hasRun(child.path));
    // What was done may fail after all, for what is on record about it.
    const past = (i: number, at: string) => ({
      isOver: true,
      wentOn: (i < ran || wentOn) && !isUnfit(at),
    });
    const states = all.map((child, i) =>
      visit(child.node, child.path, i < begun ? past(i, child.path) : situation),
    );
    // What is empty is done as soon as it is reached.
    const last = all.findLastIndex((child) => !hasNoSteps(child.node));
    const isBrokenOff = begun >= 0 && !wentOn && states[last] === 'unreached';
    return brokenOff(isBrokenOff, together(states, isOver));
  },
};
