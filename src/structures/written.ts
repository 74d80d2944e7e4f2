import { z } from 'zod';
import { childPath, type ChildNode, type Node, type OnFail } from '../model/tree.js';
import type { Fields } from './kind.js';

/** Pieces of how structures are written. */

export const onFailSchema = z
  .enum(['wait', 'cancel_rest', 'ignore'], {
    error: 'must be "wait", "cancel_rest" or "ignore"',
  })
  .describe('What a failure does to the others: they go on, are cancelled, or it is ignored.');

type ToNode = (written: unknown) => Node;

/** Returns the nodes of a list. */
export function eachOf(list: unknown, toNode: ToNode): readonly Node[] {
  return (list as readonly unknown[]).map(toNode);
}

/** Returns the nodes under the given keys, where there are any. */
export function nodesUnder(
  keys: readonly string[],
  fields: Fields,
  toNode: ToNode,
): Readonly<Record<string, Node>> {
  const there = keys.filter((key) => fields[key] !== undefined);
  return Object.fromEntries(there.map((key) => [key, toNode(fields[key])]));
}

/** Returns the value of a key whose node is under `do`. */
export function withDo(own: unknown, toNode: ToNode): Fields {
  const fields = own as Fields;
  return { ...fields, do: toNode(fields['do']) };
}

/** Returns the nodes of a list under the key of its kind, as children. */
export function listedNodes(
  nodes: readonly Node[],
  kind: string,
  path: string,
): readonly ChildNode[] {
  return nodes.map((node, i) => ({ node, path: childPath(path, kind, i), keys: [kind, i] }));
}

/** Describes what a failure does to the other nodes, unless it is the usual. */
export function failWords(onFail: OnFail | undefined): readonly string[] {
  switch (onFail) {
    case 'cancel_rest':
      return ['a failure cancels the rest'];
    case 'ignore':
      return ['failures are ignored'];
    case 'wait':
    case undefined:
      return [];
  }
}
