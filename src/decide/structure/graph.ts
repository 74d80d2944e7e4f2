import { childPath, type Graph, type GraphJoin, type GraphNode } from '../../model/tree.js';
import { noWork, open, workOf, type Interpreting, type Progress } from './progress.js';

/** How far a node of the graph is; `cut_off`: it can never begin. */
type Place = {
  readonly name: string;
  readonly path: string;
  readonly progress: Progress | 'cut_off';
};

/**
 * Each node begins when those in its `after` have ended as its `join` asks; one whose `after` can
 * not come true any more is cut off. The graph ends when every node has ended or is cut off, and
 * fails when one of them failed for which no other came in (`join` of `any` or a number).
 */
export function graphProgress(node: Graph, path: string, interpreting: Interpreting): Progress {
  const { graph, on_fail: onFail = 'wait' } = node;
  const { places, replaced, dropped } = placesOf(graph, path, interpreting);
  const work = { ...noWork, drop: dropped };
  const left = places.filter(({ path: at }) => !dropped.includes(at));
  const reached = left.flatMap(({ progress }) => (progress === 'cut_off' ? [] : [progress]));
  const failure = left
    .filter(({ name }) => !replaced.has(name))
    .flatMap(({ progress }) =>
      progress !== 'cut_off' && progress.kind === 'failed' ? [progress] : [],
    )
    .at(0);
  if (failure !== undefined && onFail === 'cancel_rest') {
    const ended = reached.filter(({ kind }) => kind !== 'open');
    const rest = left.filter(isOpenPlace).map(({ path: at }) => at);
    return { ...failure, ...workOf([work, ...ended, { ...noWork, drop: rest }]) };
  }
  const all = workOf([work, ...reached]);
  if (left.some(isOpenPlace)) return { kind: 'open', ...all };
  return failure !== undefined && onFail === 'wait'
    ? { ...failure, ...all }
    : { kind: 'done', ...all };
}

function isOpenPlace({ progress }: Place): boolean {
  return progress !== 'cut_off' && progress.kind === 'open';
}

type Places = {
  readonly places: readonly Place[];
  /** Names of nodes in whose stead another one was enough for a node that began. */
  readonly replaced: ReadonlySet<string>;
  /** Paths of nodes that are to be cancelled because a node after them has begun. */
  readonly dropped: readonly string[];
};

function placesOf(graph: Graph['graph'], path: string, { visit }: Interpreting): Places {
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
    const verdict = verdictOf(join, after);
    if (verdict === 'begin' && (join === 'any' || typeof join === 'number')) {
      for (const one of after) replaced.add(one.name);
      if (node.cancel_rest === true) {
        dropped.push(...after.filter(isOpenPlace).map((one) => one.path));
      }
    }
    const progress = verdict === 'begin' ? visit(node, at) : verdict === 'later' ? open : verdict;
    const place = { name, path: at, progress };
    known.set(name, place);
    return place;
  };
  return { places: Object.keys(graph).map(reach), replaced, dropped };
}

/** A parallel's `join` and `cancel_rest` are about what is in it, not about its place in the graph. */
function isOwnRule(node: GraphNode): boolean {
  return 'parallel' in node;
}

function verdictOf(join: GraphJoin, before: readonly Place[]): 'begin' | 'later' | 'cut_off' {
  const total = before.length;
  if (total === 0) return 'begin';
  const count = (kind: Progress['kind']): number =>
    before.filter(({ progress }) => progress !== 'cut_off' && progress.kind === kind).length;
  const succeeded = count('done');
  const ended = total - count('open');
  if (join === 'done') return ended === total ? 'begin' : 'later';
  if (join === 'none_failed') {
    if (count('failed') > 0) return 'cut_off';
    return ended === total ? 'begin' : 'later';
  }
  const needed = join === 'all' ? total : join === 'any' ? 1 : join;
  if (succeeded >= needed) return 'begin';
  return total - (ended - succeeded) < needed ? 'cut_off' : 'later';
}
