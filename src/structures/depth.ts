import { isObject } from '../model/object.js';
import { isStructure, type Node } from '../model/tree.js';
import type { RuleBreak, WrittenNode } from './kind.js';
import { toTree } from './to-tree.js';
import { childrenOf } from './tree.js';

/** Structures may be nested this deep, in the form in which they are stored. */
const deepestStructure = 24;

/** Says which is the first structure of a tree that is nested too deep, if one is. */
export function depthBreaks(tasks: WrittenNode): readonly RuleBreak[] {
  const keys = tooDeep(toTree(tasks), 0, []);
  const message = `must not be nested deeper than ${deepestStructure} structures`;
  return keys === undefined ? [] : [{ keys: keysAsWritten(tasks, keys), message }];
}

type Keys = readonly (string | number)[];

/** The keys that lead there in the stored form. */
function tooDeep(node: Node, depth: number, keys: Keys): Keys | undefined {
  if (!isStructure(node)) return undefined;
  if (depth === deepestStructure) return keys;
  for (const child of childrenOf(node, '')) {
    const found = tooDeep(child.node, depth + 1, [...keys, ...child.keys]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The keys that lead to the same in the written form, where lists are sequences and `catch` stands beside. */
export function keysAsWritten(tasks: WrittenNode, keys: Keys): Keys {
  let at: unknown = tasks;
  return keys.filter((key) => {
    const isThere = typeof key === 'number' ? Array.isArray(at) : isObject(at) && key in at;
    if (isThere) at = (at as Readonly<Record<string | number, unknown>>)[key];
    return isThere;
  });
}
