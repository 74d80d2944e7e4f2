import type { ChildNode, Node } from '../model/tree.js';

/** An end of a way; `label` is that of the edge that goes on from it. */
export type EdgeSource = { readonly id: string; readonly label?: string };

/** A part of the picture: where one comes in, and from where it goes on. Never empty. */
export type Way = {
  readonly entries: readonly EdgeSource[];
  readonly exits: readonly EdgeSource[];
};

/** What a structure is drawn with, in its frame. */
export type Drawing = {
  /** Draws a node with all in it. */
  readonly node: (node: Node, path: string) => Way;
  /** Draws edges from each to each. */
  readonly connect: (
    from: readonly EdgeSource[],
    to: readonly EdgeSource[],
    label?: string,
  ) => void;
  /** Ways that part meet again in one point, so that the next node has one edge from them. */
  readonly meet: (exits: readonly EdgeSource[], word?: string) => readonly EdgeSource[];
};

/** Draws nodes one after the other; returns undefined when there is none. */
export function drawChain(
  children: readonly ChildNode[],
  { node, connect }: Drawing,
): Way | undefined {
  const ways = children.map((child) => node(child.node, child.path));
  const [first, last] = [ways[0], ways.at(-1)];
  for (const [i, way] of ways.slice(1).entries()) connect((ways[i] as Way).exits, way.entries);
  return first && last && { entries: first.entries, exits: last.exits };
}

/** Draws nodes one after the other below the head at a path. */
export function drawInTurn(
  children: readonly ChildNode[],
  path: string,
  drawing: Drawing,
): readonly EdgeSource[] {
  const way = drawChain(children, drawing);
  if (way === undefined) return [{ id: path }];
  drawing.connect([{ id: path }], way.entries);
  return way.exits;
}

/** Draws nodes beside each other below the head at a path. */
export function drawBeside(
  children: readonly ChildNode[],
  path: string,
  drawing: Drawing,
): readonly EdgeSource[] {
  const exits = children.flatMap((child) => {
    const way = drawing.node(child.node, child.path);
    drawing.connect([{ id: path }], way.entries);
    return way.exits;
  });
  return exits.length === 0 ? [{ id: path }] : drawing.meet(exits);
}
