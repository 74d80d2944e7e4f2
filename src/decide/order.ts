import { definedPath, isStructure, type Graph, type Node, type Structure } from '../model/tree.js';
import { nodeAt } from './leaves.js';

/**
 * A step is the one at `from`, belongs to it (a handler, its undoing), or comes after it in the
 * flow: what follows in a sequence, a graph or a later round; not what just runs beside it. What the
 * flow itself does at its end (its handler, its cancel branch) comes after everything.
 */
export function isFrom(path: string, from: string, tree: Structure): boolean {
  const one = path.split('.');
  const other = from.split('.');
  const parting = other.findIndex((segment, i) => segment !== one[i]);
  if (parting < 0) return true;
  if (one.length === parting) return isDecidedBelow(path, tree);
  if (parting === 0 && /^(error|cancel)$/.test(one[0] ?? '')) return true;
  const kind = parting === 0 ? 'sequence' : (one[parting - 1] ?? '');
  const [a, b] = [one[parting] ?? '', other[parting] ?? ''];
  switch (kind) {
    case 'sequence':
    case 'loop':
      return Number(a) > Number(b);
    case 'graph':
      return follows(tree, one.slice(0, parting - 1).join('.'), a, b);
    case 'parallel':
    case 'batch':
    case 'map':
    case 'choice':
      return false;
    default:
      // Callbacks of a batch come after its nodes, and after each other.
      return parting > 0 ? callbackRank(a) > callbackRank(b) : Number(a) > Number(b);
  }
}

/** What was found out for a loop before a round is asked again after the round. */
function isDecidedBelow(path: string, tree: Structure): boolean {
  const node = nodeAt(tree, definedPath(path));
  return node !== undefined && isStructure(node) && node.structure === 'loop';
}

const ranks: readonly string[] = ['batch', 'on_success', 'on_failure', 'on_complete'];

function callbackRank(segment: string): number {
  return ranks.indexOf(segment);
}

/** A node of a graph comes after another, over any number of nodes between. */
function follows(tree: Node, path: string, name: string, before: string): boolean {
  const node = nodeAt(tree, path);
  const graph = node !== undefined && 'graph' in node ? node.graph : ({} as Graph['graph']);
  const reach = (at: string): boolean =>
    (graph[at]?.after ?? []).some((other) => other === before || reach(other));
  return reach(name);
}
