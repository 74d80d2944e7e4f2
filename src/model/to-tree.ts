import { kinds, type Kind } from './node-keys.js';
import type { Entry, GraphNode, Node, Structure } from './tree.js';
import type { WrittenNode } from './written-tree.js';

/** Brings any written form to the one stored form. Idempotent. */
export function toTree(written: WrittenNode): Structure {
  const node = toNode(written);
  return 'structure' in node ? node : { structure: 'sequence', sequence: [node] };
}

type Fields = Readonly<Record<string, unknown>>;

function toNode(written: WrittenNode): Node {
  if (typeof written === 'string') return { task: written };
  if (isList(written)) return { structure: 'sequence', sequence: written.map(toNode) };
  const kind = kinds.find((key) => key !== 'task' && key in written) ?? 'task';
  return kind in toStructure
    ? (toStructure[kind as keyof typeof toStructure](written) as unknown as Structure)
    : toEntry(written, kind);
}

function toEntry(written: Fields, kind: Kind): Entry {
  if (kind === 'wait' || kind === 'delay') return { ...written, task: kind };
  if (kind === 'flow' || kind === 'decider') {
    return { ...written, task: String(written['task'] ?? written[kind]) };
  }
  return written as unknown as Entry;
}

const toStructure = {
  sequence: (it: Fields) => ({ ...it, structure: 'sequence', sequence: each(it['sequence']) }),
  parallel: (it: Fields) => ({ ...it, structure: 'parallel', parallel: each(it['parallel']) }),
  batch: (it: Fields) => ({
    ...it,
    structure: 'batch',
    batch: each(it['batch']),
    ...only(it, 'on_success', 'on_failure', 'on_complete'),
  }),
  graph: (it: Fields) => ({
    ...it,
    structure: 'graph',
    graph: Object.fromEntries(
      Object.entries(it['graph'] as Record<string, WrittenNode>).map(([name, node]) => [
        name,
        toNode(node) as GraphNode,
      ]),
    ),
  }),
  choice: (it: Fields) => ({
    ...it,
    structure: 'choice',
    choice: (it['choice'] as Fields[]).map((one) => ({
      ...one,
      then: toNode(one['then'] as WrittenNode),
    })),
    ...only(it, 'default'),
  }),
  map: (it: Fields) => ({ ...it, structure: 'map', map: withDo(it['map'] as Fields) }),
  loop: (it: Fields) => ({ ...it, structure: 'loop', loop: withDo(it['loop'] as Fields) }),
} as const;

function each(nodes: unknown): readonly Node[] {
  return (nodes as WrittenNode[]).map(toNode);
}

function only(it: Fields, ...keys: readonly string[]): Record<string, Node> {
  const there = keys.filter((key) => it[key] !== undefined);
  return Object.fromEntries(there.map((key) => [key, toNode(it[key] as WrittenNode)]));
}

function withDo(it: Fields): Fields {
  return { ...it, do: toNode(it['do'] as WrittenNode) };
}

function isList(written: WrittenNode): written is readonly WrittenNode[] {
  return Array.isArray(written);
}
