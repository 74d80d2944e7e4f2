import { z } from 'zod';
import { isOfFlow } from '../model/step.js';
import {
  below,
  childPath,
  isWithin,
  type ChildNode,
  type Node,
  type OnFail,
  type Structure,
} from '../model/tree.js';
import { drawBeside, type Drawing } from './drawing.js';
import type { Fields, Kind, Place, RuleBreak } from './kind.js';
import { beforeAllCame, brokenOff, together, type NodeState } from './node-state.js';
import { workOf, type Interpreting, type Progress } from './progress.js';
import { valuesByKey } from './results.js';
import { siblingsProgress } from './siblings.js';
import { failWords, eachOf, listedNodes, nodesUnder, onFailSchema } from './written.js';

export type Batch = Structure & {
  readonly structure: 'batch';
  readonly batch: readonly Node[];
  readonly on_fail?: OnFail;
  readonly on_success?: Node;
  readonly on_failure?: Node;
  readonly on_complete?: Node;
};

/** The callbacks of a batch; those that are called run beside each other. */
export const callbacks = ['on_success', 'on_failure', 'on_complete'] as const;

/**
 * Runs nodes in parallel, each to its end, also when some are cancelled; then the callbacks, each
 * exactly once and beside each other: `on_success` when all succeeded, else `on_failure`, and always
 * `on_complete`. A batch fails when one of its nodes failed (unless `on_fail` says to ignore that) or a
 * callback did, and ends when its callbacks have.
 */
export const batch: Kind<Batch> = {
  written: {
    shape: ({ node, nodes }) => ({
      batch: nodes.describe('Nodes that run beside each other, with callbacks after all.'),
      on_fail: z.exactOptional(onFailSchema),
      on_success: z.exactOptional(node),
      on_failure: z.exactOptional(node),
      on_complete: z.exactOptional(node),
    }),
    beside: ['on_fail', ...callbacks],
    breaks: callbackBreaks,
    normalised: (it, toNode) => ({
      batch: eachOf(it['batch'], toNode),
      ...nodesUnder(callbacks, it, toNode),
    }),
  },
  children,

  progress(node, path, interpreting) {
    const { steps, visit } = interpreting;
    const { batch: nodes, on_fail: onFail = 'wait' } = node;
    const siblings = nodes.map((child, i) => {
      const at = childPath(path, 'batch', i);
      return { path: at, progress: visit(child, at) };
    });
    const total = nodes.length;
    const jobs = siblingsProgress(siblings, { needed: total, total, onFail, cancelRest: false });
    const isRunning = siblings.some(({ path: at }) => steps.isBusyBelow(at));
    // A node that is done may have something left that begins yet, as an attempt that is due later.
    const isLeft = jobs.begin.length + jobs.conditions.length > 0;
    if (jobs.kind === 'open' || isRunning || isLeft) return { kind: 'open', ...workOf([jobs]) };
    const failed = siblings.some(({ progress }) => progress.kind !== 'done');
    const called = [failed ? 'on_failure' : 'on_success', 'on_complete'] as const;
    const calls = called.flatMap(
      (key) => callback(node[key], below(path, key), interpreting) ?? [],
    );
    const ends = [jobs, ...calls];
    if (calls.some(({ kind }) => kind === 'open')) return { kind: 'open', ...workOf(ends) };
    const failure = ends.find((end) => end.kind === 'failed');
    return { ...(failure ?? jobs), ...workOf(ends) };
  },

  isConcurrent: true,
  onFail: (node) => node.on_fail,
  isAfter: (_node, one, other) => callbackRank(one) > callbackRank(other),

  results: {
    isGroup: true,
    parts: jobsOf,
    value: valuesByKey,
    /** Callbacks see by number what became of all, good or bad, and nothing else there. */
    addBefore(node, path, target, scope) {
      const jobs = jobsOf(node, path);
      if (jobs.some((child) => isWithin(target, child.path))) {
        return scope.addBeforeIn(jobs, target);
      }
      for (const child of jobs) scope.enter(child.node, child.path);
      const ends = jobs.map((child, i) => [i, scope.endOf(child.node, child.path)] as const);
      scope.startOver(Object.fromEntries(ends));
      const own = callbacksOf(node, path).filter((one) => isWithin(target, one.path));
      scope.addBeforeIn(own, target);
    },
  },

  words: (node) => ({ label: 'batch', notes: failWords(node.on_fail) }),
  draw: drawBatch,

  state(node, path, { visit, hasBegun }, situation) {
    const { isOver, wentOn } = situation;
    const called = callbacks.filter((key) => hasBegun(below(path, key)));
    const states = children(node, path).map((child) => {
      const key = child.keys[0];
      const isBehind = key === 'batch' && called.length > 0;
      const inside = { isOver: isOver || isBehind, wentOn: false };
      return { key, state: visit(child.node, child.path, inside) };
    });
    const of = (isWanted: (key: unknown) => boolean): readonly NodeState[] =>
      states.filter(({ key }) => isWanted(key)).map(({ state }) => state);
    const ofBatch = of((key) => key === 'batch');
    const tolerated = node.on_fail === 'ignore' ? Infinity : 0;
    const jobs = beforeAllCame(ofBatch, together(ofBatch, isOver, tolerated), situation);
    // A failure that is ignored calls on_failure all the same. Where there is nothing in the batch, only what was called tells that it went well.
    const isEmpty = jobs === 'pending' || jobs === 'unreached';
    const isCalledWell = called.includes('on_success') && !called.includes('on_failure');
    const isWell =
      ['done', 'skipped', 'undone'].includes(together(ofBatch, isOver)) ||
      (isEmpty && isCalledWell);
    const last = ['on_complete', isWell ? 'on_success' : 'on_failure'] as const;
    // The other one may have been called in an earlier run.
    const state = together([jobs, ...of((key) => last.some((one) => one === key))], isOver);
    const isCut = isOver && last.some((key) => node[key] !== undefined && !called.includes(key));
    return brokenOff(isCut && !wentOn, state);
  },
};

/** A batch without a callback is a parallel. */
function callbackBreaks(fields: Fields): readonly RuleBreak[] {
  const message =
    'must have a callback beside it: "on_complete", "on_success" or "on_failure" (without one, write "parallel")';
  const has = callbacks.some((key) => fields[key] !== undefined);
  return has ? [] : [{ keys: ['batch'], message }];
}

function children(node: Batch, path: string): readonly ChildNode[] {
  return [...jobsOf(node, path), ...callbacksOf(node, path)];
}

/** Callbacks run in a phase of their own, but for those in what follows a failure or a cancel. */
function callback(
  node: Node | undefined,
  path: string,
  { phase, visitAs }: Interpreting,
): Progress | undefined {
  return node === undefined ? undefined : visitAs(isOfFlow(phase) ? 'callback' : phase, node, path);
}

function jobsOf(node: Batch, path: string): readonly ChildNode[] {
  return listedNodes(node.batch, 'batch', path);
}

function callbacksOf(node: Batch, path: string) {
  return callbacks.flatMap((key) => {
    const one = node[key];
    return one === undefined ? [] : [{ node: one, path: below(path, key), keys: [key] as const }];
  });
}

/** The callbacks of a batch come after its nodes. */
function callbackRank({ key }: Place): number {
  return callbacks.some((one) => one === key) ? 1 : 0;
}

const callbackWords = {
  on_success: 'all succeeded',
  on_failure: 'one failed',
  on_complete: 'in any case',
} as const;

/** The jobs of a batch, then what follows their success or failure, and beside that what follows both. */
function drawBatch(node: Batch, path: string, drawing: Drawing) {
  const { connect, meet } = drawing;
  const after = drawBeside(jobsOf(node, path), path, drawing);
  const ways = callbacksOf(node, path).map((one) => ({
    key: one.keys[0],
    way: drawing.node(one.node, one.path),
  }));
  const outcomes = ways.filter(({ key }) => key !== 'on_complete');
  const last = ways.find(({ key }) => key === 'on_complete');
  for (const { key, way } of outcomes) connect(after, way.entries, callbackWords[key]);
  // Without a callback for one of both outcomes, that one goes on by itself.
  const otherwise = outcomes.length === 2 ? [] : after.map(({ id }) => ({ id }));
  const passed = [...otherwise, ...outcomes.flatMap(({ way }) => way.exits)];
  if (last === undefined) return meet(passed, 'called');
  connect(after, last.way.entries, callbackWords.on_complete);
  // Without another callback everything goes on from this one.
  return outcomes.length === 0 ? last.way.exits : meet([...passed, ...last.way.exits], 'called');
}
