import type { FailedStep } from '../../model/step.js';
import { childPath, type Graph, type GraphJoin, type GraphNode } from '../../model/tree.js';
import { isBusyBelow } from '../history.js';
import { failedAt, noWork, open, workOf, type Interpreting, type Progress } from './progress.js';
import { firstOf } from './siblings.js';

/** How far a node of the graph is; without a progress it can never begin. */
type Place = {
  readonly name: string;
  readonly path: string;
  readonly progress?: Progress;
  /** `failed`: it failed, or never began because something before it had; `cancelled`: not needed. */
  readonly end: 'open' | 'done' | 'failed' | 'cancelled';
  /** The step that failed. */
  readonly step?: FailedStep;
};

/**
 * Each node begins when those in its `after` have ended as its `join` asks; one whose `after` can
 * not come true any more is cut off. The graph ends when every node has ended or is cut off, and
 * fails when one of them failed, or was cut off by a failure, for which no other came in (`join` of
 * `any` or a number).
 */
export function graphProgress(node: Graph, path: string, interpreting: Interpreting): Progress {
  const { graph, on_fail: onFail = 'wait' } = node;
  const { places, replaced, dropped } = settledPlaces(graph, path, interpreting);
  const drops = { ...noWork, drop: dropped };
  const left = places.filter(({ path: at }) => !dropped.includes(at));
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

type Places = {
  readonly places: readonly Place[];
  /** Names of nodes in whose stead another one was enough for a node that began. */
  readonly replaced: ReadonlySet<string>;
  /** Paths of nodes that are to be cancelled because a node after them has begun. */
  readonly dropped: readonly string[];
};

/**
 * What is cancelled and at rest never ends by itself: nobody waits for it. What then begins may cancel
 * more, until nothing further comes to rest.
 */
function settledPlaces(graph: Graph['graph'], path: string, interpreting: Interpreting): Places {
  const atRest = new Set<string>();
  for (;;) {
    const found = placesOf(graph, path, interpreting, atRest);
    const more = found.dropped.filter((at) => !isBusyBelow(interpreting.job, at));
    if (more.length === 0) return found;
    for (const at of more) atRest.add(at);
  }
}

function placesOf(
  graph: Graph['graph'],
  path: string,
  { visit }: Interpreting,
  atRest: ReadonlySet<string>,
): Places {
  const known = new Map<string, Place>();
  const replaced = new Set<string>();
  const dropped: string[] = [];
  const reach = (name: string): Place => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const node = graph[name] as GraphNode;
    const at = childPath(path, 'graph', name);
    const after = (node.after ?? []).map(reach);
    const join = isOwnRule(node) ? 'all' : (node.join ?? 'all');
    const verdict = atRest.has(at) ? 'cancelled' : verdictOf(join, after);
    if (verdict === 'begin' && (join === 'any' || typeof join === 'number')) {
      for (const one of after) replaced.add(one.name);
      if (node.cancel_rest === true) {
        for (const { end, path: open } of after) if (end === 'open') dropped.push(open);
      }
    }
    const place = { name, path: at, ...standing(verdict, after, () => visit(node, at)) };
    known.set(name, place);
    return place;
  };
  return { places: Object.keys(graph).map(reach), replaced, dropped };
}

function standing(
  verdict: Verdict,
  after: readonly Place[],
  visit: () => Progress,
): Omit<Place, 'name' | 'path'> {
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
      const { step } = after.find(({ end }) => end === 'failed') as Required<Place>;
      return { end: 'failed', step };
    }
  }
}

/** A parallel's `join` and `cancel_rest` are about what is in it, not about its place in the graph. */
function isOwnRule(node: GraphNode): boolean {
  return 'parallel' in node;
}

/** Whether a node begins; `failed` and `cancelled`: it never can, because of what is before it. */
type Verdict = 'begin' | 'later' | 'failed' | 'cancelled';

function verdictOf(join: GraphJoin, before: readonly Place[]): Verdict {
  const count = (end: Place['end']): number => before.filter((place) => place.end === end).length;
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
