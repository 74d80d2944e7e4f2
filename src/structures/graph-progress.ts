import type { FailedStep } from '../model/step.js';
import { childPath, type Join, type Node, type OnFail, type Structure } from '../model/tree.js';
import { failedAt, noWork, open, workOf, type Interpreting, type Progress } from './progress.js';
import { firstOf } from './siblings.js';

/** When a node of a graph begins: as `Join`, `done`: all ended, `none_failed`: all ended, none badly. */
export type GraphJoin = Join | 'done' | 'none_failed';
export type GraphNode = Node & {
  readonly after?: readonly string[];
  readonly join?: GraphJoin;
  readonly cancel_rest?: boolean;
};
export type Graph = Structure & {
  readonly structure: 'graph';
  readonly graph: Readonly<Record<string, GraphNode>>;
  readonly on_fail?: OnFail;
};

/**
 * Returns the progress of a graph. Each node begins when those in its `after` have ended as its
 * `join` asks; a node whose `after` can no longer be satisfied is cut off. The graph ends when
 * every node has ended or is cut off. It fails when a node failed, or was cut off by a failure, and
 * no other node replaced it (`join` of `any` or a number).
 */
export function graphProgress(node: Graph, path: string, interpreting: Interpreting): Progress {
  const { on_fail: onFail = 'wait' } = node;
  const { branches, replaced, dropped } = settledBranches(node.graph, path, interpreting);
  const drops = { ...noWork, drop: dropped };
  const left = branches.filter(({ path: at }) => !dropped.includes(at));
  const begun = left.flatMap(({ progress }) => (progress === undefined ? [] : [progress]));
  const failures = left.flatMap(({ name, step }) =>
    step === undefined || replaced.has(name) ? [] : [step],
  );
  if (failures.length > 0 && onFail === 'cancel_rest') {
    return failedAt(firstOf(failures));
  }
  const all = workOf([drops, ...begun]);
  if (left.some(({ end }) => end === 'open')) return { kind: 'open', ...all };
  return failures.length > 0 && onFail === 'wait'
    ? failedAt(firstOf(failures))
    : { kind: 'done', ...all };
}

/** How far a node of the graph is; without a progress it can never begin. */
type Branch = {
  readonly name: string;
  readonly node: GraphNode;
  readonly path: string;
  readonly progress?: Progress;
  /** `failed`: it failed, or never began because something before it had; `cancelled`: not needed. */
  readonly end: 'open' | 'done' | 'failed' | 'cancelled';
  /** The step that failed. */
  readonly step?: FailedStep;
};

type Branches = {
  readonly branches: readonly Branch[];
  /** Names of nodes in whose stead another one was enough for a node that began. */
  readonly replaced: ReadonlySet<string>;
  /** Paths of nodes that are to be cancelled because a node after them has begun. */
  readonly dropped: readonly string[];
};

/**
 * What is cancelled and at rest never ends by itself: nobody waits for it. What then begins may cancel
 * more, until nothing further comes to rest.
 */
function settledBranches(
  nodes: Graph['graph'],
  path: string,
  interpreting: Interpreting,
): Branches {
  const atRest = new Set<string>();
  for (;;) {
    const found = branchesOf(nodes, path, interpreting, atRest);
    const more = found.dropped.filter((at) => !interpreting.steps.isBusyBelow(at));
    if (more.length === 0) return found;
    for (const at of more) atRest.add(at);
  }
}

function branchesOf(
  nodes: Graph['graph'],
  path: string,
  { steps, visit, visitBefore }: Interpreting,
  atRest: ReadonlySet<string>,
): Branches {
  const known = new Map<string, Branch>();
  const replaced = new Set<string>();
  const dropped: string[] = [];
  const reach = (name: string): Branch => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const node = nodes[name] as GraphNode;
    const at = childPath(path, 'graph', name);
    const after = (node.after ?? []).map(reach);
    const verdict = atRest.has(at) ? 'cancelled' : verdictOf(joinOf(node), after);
    if (verdict === 'begin' && needsSome(node)) {
      for (const one of after) replaced.add(one.name);
      if (node.cancel_rest === true) {
        const wasDecided = Number(steps.lastRunBelow(at)) < steps.run;
        for (const one of after) {
          if (one.end !== 'open') continue;
          const isDoneAgain = wasDecided && hadFailed(visitBefore(one.node, one.path));
          if (!isDoneAgain) dropped.push(one.path);
        }
      }
    }
    const branch = { name, node, path: at, ...branchState(verdict, after, () => visit(node, at)) };
    known.set(name, branch);
    return branch;
  };
  return { branches: Object.keys(nodes).map(reach), replaced, dropped };
}

function branchState(
  verdict: Verdict,
  after: readonly Branch[],
  visit: () => Progress,
): Omit<Branch, 'name' | 'node' | 'path'> {
  switch (verdict) {
    case 'begin': {
      const progress = visit();
      if (progress.kind !== 'failed') return { progress, end: progress.kind };
      const { step } = progress;
      return { progress, step, end: step.state === '$$cancelled' ? 'cancelled' : 'failed' };
    }
    case 'later':
      return { progress: open, end: 'open' };
    case 'cancelled':
      return { end: 'cancelled' };
    case 'failed': {
      // The first failure of all stands for what follows from it.
      const { step } = after.find(({ end }) => end === 'failed') as Required<Branch>;
      return { end: 'failed', step };
    }
  }
}

/** It failed by itself in the run before, and what began in its stead did not cancel it. */
function hadFailed(before: Progress | undefined): boolean {
  return before?.kind === 'failed' && before.step.state !== '$$cancelled';
}

/**
 * Returns when a node begins. The `join` of a parallel applies to its own nodes, not to its place
 * in the graph.
 */
export function joinOf(node: GraphNode): GraphJoin {
  return 'parallel' in node ? 'all' : (node.join ?? 'all');
}

/** Whether some of the nodes before it are enough. */
export function needsSome(node: GraphNode): boolean {
  const join = joinOf(node);
  return join === 'any' || typeof join === 'number';
}

/** Whether a node begins; `failed` and `cancelled`: it never can, because of what is before it. */
type Verdict = 'begin' | 'later' | 'failed' | 'cancelled';

function verdictOf(join: GraphJoin, before: readonly Branch[]): Verdict {
  const count = (end: Branch['end']): number => before.filter((one) => one.end === end).length;
  const total = before.length;
  const isOpen = count('open') > 0;
  const never = count('failed') > 0 ? 'failed' : 'cancelled';
  if (total === 0) return 'begin';
  if (join === 'done') return isOpen ? 'later' : 'begin';
  if (join === 'none_failed') {
    if (count('failed') > 0) return 'failed';
    return isOpen ? 'later' : 'begin';
  }
  const needed = join === 'all' ? total : join === 'any' ? 1 : join;
  if (count('done') >= needed) return 'begin';
  return count('done') + count('open') < needed ? never : 'later';
}
