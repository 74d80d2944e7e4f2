import type { LiveJob } from '../model/job.js';
import { below, childPath, type Node, type Structure } from '../model/tree.js';
import { markAt, roundsOf } from './marks.js';

/** A node and where it is. */
export type Placed = { readonly node: Node; readonly path: string };
/** One of the nodes of a structure, with its number or name in it. */
export type Keyed = Placed & { readonly key: string };

/** The nodes of a list. */
export function listOf(
  nodes: readonly Node[],
  kind: 'sequence' | 'parallel' | 'batch' | 'choice',
  path: string,
): readonly Keyed[] {
  return nodes.map((node, i) => ({ key: String(i), node, path: childPath(path, kind, i) }));
}

/** The nodes in a structure whose values make up its own; those of a map are lists by themselves. */
export function endedIn(job: LiveJob, node: Structure, path: string): readonly Keyed[] {
  switch (node.structure) {
    case 'sequence':
      return listOf(node.sequence, 'sequence', path);
    case 'parallel':
      return listOf(node.parallel, 'parallel', path);
    case 'batch':
      return listOf(node.batch, 'batch', path);
    case 'graph':
      return Object.entries(node.graph).map(([key, child]) => ({
        key,
        node: child,
        path: childPath(path, 'graph', key),
      }));
    case 'choice': {
      const chosen = markAt(job, path)?.chosen;
      const taken = typeof chosen === 'number' ? node.choice[chosen]?.then : undefined;
      if (taken !== undefined) {
        return [{ key: '0', node: taken, path: childPath(path, 'choice', Number(chosen)) }];
      }
      return chosen === 'default' && node.default !== undefined
        ? [{ key: '0', node: node.default, path: below(path, 'default') }]
        : [];
    }
    case 'loop': {
      const rounds = roundsOf(job, path);
      if (rounds === 0) return [];
      return [{ key: '0', node: node.loop.do, path: childPath(path, 'loop', rounds - 1) }];
    }
    case 'map':
      return [];
  }
}
