import type { Node } from 'jsonc-parser';
import { spanOf } from './read-json.js';

/** Where something stands in the text. */
type Place = { readonly from: number; readonly to: number };

/**
 * Where a JSON path (`tasks[1].params["a b"]`) stands in the text: the value, or where it is missing, the
 * key of the nearest thing around it that is there. Keys may stand in the path as they are, dots and all.
 */
export function spanAt(tree: Node | undefined, path: string): Place {
  if (tree === undefined) return { from: 0, to: 0 };
  const found = follow(tree, path);
  return found.rest === '' ? spanOf(found.node) : headOf(found.node);
}

type Found = { readonly node: Node; readonly rest: string };

/** As far as the path leads; `rest` is what is left of it. */
function follow(node: Node, rest: string): Found {
  if (rest === '') return { node, rest };
  const ways = stepsFrom(node, rest).map((step) => follow(step.node, step.rest));
  return ways.reduce<Found>((best, way) => (way.rest.length < best.rest.length ? way : best), {
    node,
    rest,
  });
}

function stepsFrom(node: Node, rest: string): readonly Found[] {
  if (node.type === 'array') return stepsFromList(node, rest);
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) return [];
    return writingsOf(String(key.value))
      .filter(
        (writing) => rest.startsWith(writing) && /^(?:$|[.[])/.test(rest.slice(writing.length)),
      )
      .map((writing) => ({ node: value, rest: afterDot(rest.slice(writing.length)) }));
  });
}

/** A key as it may stand in a path. */
function writingsOf(key: string): readonly string[] {
  return [key, `[${JSON.stringify(key)}]`];
}

function stepsFromList(node: Node, rest: string): readonly Found[] {
  const index = /^\[(\d+)\]/.exec(rest);
  const item = node.children?.[Number(index?.[1])];
  if (index !== null && item !== undefined) {
    return [{ node: item, rest: afterDot(rest.slice(index[0].length)) }];
  }
  // A plain list of steps is a sequence; paths may name it so.
  return rest.startsWith('sequence[') ? stepsFromList(node, rest.slice('sequence'.length)) : [];
}

function afterDot(rest: string): string {
  return rest.startsWith('.') ? rest.slice(1) : rest;
}

/** A whole object or list would be too much to mark: its key, or its first character. */
function headOf(node: Node): Place {
  const { parent } = node;
  const key = parent?.type === 'property' ? parent.children?.[0] : undefined;
  if (key !== undefined) return spanOf(key);
  return node.children === undefined
    ? spanOf(node)
    : { from: node.offset, to: Math.min(node.offset + 1, node.offset + node.length) };
}
