import { isStructure, type Node, type Structure } from '../model/tree.js';
import { batch } from './batch.js';
import { choice } from './choice.js';
import { graph } from './graph.js';
import type { Kind } from './kind.js';
import { loop } from './loop.js';
import { map } from './map.js';
import { parallel } from './parallel.js';
import { sequence } from './sequence.js';

/** All kinds of structures, by their word: to add one, add its file and a line here. */
export const structureKinds: Readonly<Record<string, Kind>> = toKinds({
  sequence,
  parallel,
  batch,
  graph,
  choice,
  map,
  loop,
});

/** Each kind is only ever asked about its own structures. */
function toKinds(kinds: Readonly<Record<string, unknown>>) {
  return kinds as Readonly<Record<string, Kind>>;
}

/** The words of the nodes that run as one step each. */
export const entryKinds = ['task', 'wait', 'delay', 'flow', 'decider'] as const;

/** The keys of which each node has one: it tells what kind of node it is. */
export const nodeKinds: readonly string[] = [...entryKinds, ...Object.keys(structureKinds)];

/** Returns the kind of a structure. */
export function kindOf({ structure }: Structure): Kind {
  return structureKinds[structure] as Kind;
}

/** Whether something in a node may continue, or is to be cancelled, when the node is done. */
export function leavesWork(node: Node): boolean {
  if (!isStructure(node)) return node.decider !== undefined;
  const { isConcurrent, children } = kindOf(node);
  return isConcurrent || children(node, '').some((child) => leavesWork(child.node));
}
