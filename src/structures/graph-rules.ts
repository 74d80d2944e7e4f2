import { isObject } from '../model/object.js';
import type { Fields, RuleBreak } from './kind.js';

/**
 * Checks `after`: it names other nodes of the same graph, and no node waits for itself in a circle.
 */
export function orderBreaks({ graph }: Fields): readonly RuleBreak[] {
  const nodes = graph as Fields;
  const names = Object.keys(nodes);
  const afterOf = (name: string): readonly string[] => {
    const node = nodes[name];
    const after = isObject(node) ? node['after'] : undefined;
    return Array.isArray(after) ? after.filter((one) => typeof one === 'string') : [];
  };
  const unknown = names.flatMap((name) =>
    afterOf(name).flatMap((before, i): RuleBreak[] => {
      const keys = ['graph', name, 'after', i];
      if (before === name) return [{ keys, message: `must name another node than ${name} itself` }];
      if (afterOf(name).indexOf(before) < i) {
        return [{ keys, message: `must name each node once: ${before} stands there twice` }];
      }
      if (names.includes(before)) return [];
      const message = `must name a node of this graph (${names.join(', ')})`;
      return [{ keys, message, isComplete: false }];
    }),
  );
  if (unknown.length > 0) return unknown;
  const circle = circleIn(names, afterOf);
  return circle === undefined
    ? joinsOf(nodes, afterOf)
    : [{ keys: ['graph'], message: `must have no circle: ${circle.join(' after ')}` }];
}

function joinsOf(graph: Fields, afterOf: (name: string) => readonly string[]): RuleBreak[] {
  return Object.entries(graph).flatMap(([name, node]): RuleBreak[] => {
    if (!isObject(node) || typeof node['join'] !== 'number' || 'parallel' in node) return [];
    const count = afterOf(name).length;
    if (node['join'] <= count) return [];
    const message = `must be at most ${count}, the number of nodes in "after"`;
    return [{ keys: ['graph', name, 'join'], message, isComplete: false }];
  });
}

/** Follows `after` from every node; the names of the first circle found, first name repeated. */
function circleIn(
  names: readonly string[],
  afterOf: (name: string) => readonly string[],
): readonly string[] | undefined {
  const safe = new Set<string>();
  const follow = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (safe.has(name)) return undefined;
    const at = way.indexOf(name);
    if (at >= 0) return [...way.slice(at), name];
    for (const before of afterOf(name)) {
      const circle = follow(before, [...way, name]);
      if (circle !== undefined) return circle;
    }
    safe.add(name);
    return undefined;
  };
  for (const name of names) {
    const circle = follow(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
