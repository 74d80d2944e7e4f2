import { addTo } from '../model/grouped.js';
import type { Box, Picture, PictureEdge, PictureNode } from './picture.js';
import { nodeText } from './text.js';

/** Nodes that stand beside each other and are too many for one line: they are drawn in several. */
export type Block = {
  readonly id: string;
  /** Path of what they come from. */
  readonly path: string;
  readonly nodes: readonly PictureNode[];
  readonly columns: number;
  /** Of each node in it, the room around it included; in pixels. */
  readonly cell: { readonly width: number; readonly height: number };
  /** Of the whole. */
  readonly width: number;
  readonly height: number;
};

/** More nodes beside each other are drawn in several lines. */
const mostBeside = 8;
const gap = 16;
/** A block is not wider than this, in pixels, as long as it has several columns. */
const widest = 900;

/**
 * Finds the nodes that come from the same node, lead to the same one and have no other edges. More than
 * eight of them become one node of the picture, which a block has the contents of.
 */
export function withBlocks(picture: Picture): {
  readonly picture: Picture;
  readonly blocks: readonly Block[];
} {
  const groups = groupsIn(picture).filter(({ length }) => length > mostBeside);
  if (groups.length === 0) return { picture, blocks: [] };
  const blockOfNode = new Map<string, string>();
  const blocks = groups.map((nodes, i) => blockOf(nodes, i, picture));
  for (const { id, nodes } of blocks) for (const node of nodes) blockOfNode.set(node.id, id);
  const stand = blocks.map(({ id, path, nodes: [first] }): PictureNode => {
    const frame = first?.frame;
    return { id, path, kind: 'block', label: '', ...(frame === undefined ? {} : { frame }) };
  });
  const nodes = picture.nodes.filter(({ id }) => !blockOfNode.has(id));
  return {
    picture: { ...picture, nodes: [...nodes, ...stand], edges: redirected(picture, blockOfNode) },
    blocks,
  };
}

/** Edges lead to a block instead of each node in it, and from it, once. */
function redirected({ edges }: Picture, blocks: ReadonlyMap<string, string>) {
  const seen = new Set<string>();
  return edges.flatMap((edge): readonly PictureEdge[] => {
    const [from, to] = [blocks.get(edge.from) ?? edge.from, blocks.get(edge.to) ?? edge.to];
    if (from === edge.from && to === edge.to) return [edge];
    const key = `${from} ${to}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ ...edge, from, to }];
  });
}

function groupsIn({ nodes, edges }: Picture): readonly (readonly PictureNode[])[] {
  const [into, from] = [new Map<string, PictureEdge[]>(), new Map<string, PictureEdge[]>()];
  for (const edge of edges) {
    addTo(into, edge.to, edge);
    addTo(from, edge.from, edge);
  }
  const groups = new Map<string, PictureNode[]>();
  for (const node of nodes) {
    const [[before, ...others] = [], [after, ...more] = []] = [
      into.get(node.id),
      from.get(node.id),
    ];
    if (before === undefined || after === undefined || others.length + more.length > 0) continue;
    const isPlain = [before, after].every(
      ({ kind, label }) => kind === 'then' && label === undefined,
    );
    if (!isPlain) continue;
    const key = JSON.stringify([before.from, after.to, node.frame]);
    addTo(groups, key, node);
  }
  return [...groups.values()];
}

function blockOf(nodes: readonly PictureNode[], i: number, { edges }: Picture): Block {
  const sizes = nodes.map(nodeText);
  const cell = {
    width: Math.max(...sizes.map(({ width }) => width)) + gap,
    height: Math.max(...sizes.map(({ height }) => height)) + gap,
  };
  const good = Math.ceil(Math.sqrt((nodes.length * 2 * cell.height) / cell.width));
  const columns = Math.max(1, Math.min(good, Math.floor(widest / cell.width)));
  const path = edges.find(({ to }) => to === nodes[0]?.id)?.from ?? '';
  return {
    ...{ id: `#block-${i}`, path, nodes, columns, cell },
    width: columns * cell.width + gap,
    height: Math.ceil(nodes.length / columns) * cell.height + gap,
  };
}

/** The places of the nodes of a block, line by line; `box`: where the block is. */
export function blockPlaces(
  { nodes, columns, cell, width, height }: Block,
  { x, y }: Box,
): readonly (readonly [id: string, box: Box])[] {
  const [left, top] = [x - width / 2 + gap / 2, y - height / 2 + gap / 2];
  return nodes.map((node, i) => {
    const size = nodeText(node);
    const place = {
      x: left + ((i % columns) + 0.5) * cell.width,
      y: top + (Math.floor(i / columns) + 0.5) * cell.height,
      width: size.width,
      height: size.height,
    };
    return [node.id, place] as const;
  });
}
