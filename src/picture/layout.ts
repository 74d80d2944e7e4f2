import untyped from '@dagrejs/dagre';
import type { Box, Picture, PictureEdge, PictureFrame, PictureNode } from './picture.js';
import { labelWidth, shortLabel, nodeText } from './text.js';
import { blockPlaces, withBlocks, type Block } from './blocks.js';

export type Point = { readonly x: number; readonly y: number };

/** A node at its place, with the lines of text that fit into it. */
export type PlacedNode = PictureNode & Box & { readonly lines: readonly string[] };
export type PlacedFrame = PictureFrame & Box;
/** An edge as the points it goes through; `at` is the middle of `text`, its label as far as it fits. */
export type PlacedEdge = PictureEdge & {
  readonly points: readonly Point[];
  readonly at?: Point;
  readonly text?: string;
};

/** A picture with places, `width` and `height` in pixels. */
export type Laid = {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  /** Outer ones before those inside them. */
  readonly frames: readonly PlacedFrame[];
  readonly edges: readonly PlacedEdge[];
};

const options = { rankdir: 'TB', nodesep: 28, ranksep: 30, edgesep: 14, marginx: 16, marginy: 16 };
const labelHeight = 18;

/** What is used of dagre: its own types name a package that is not found from here. */
type Graph = {
  readonly setGraph: (options: object) => void;
  readonly setNode: (name: string, size: object) => void;
  readonly setParent: (name: string, parent: string) => void;
  readonly setEdge: (from: string, to: string, label: object, name: string) => void;
  readonly graph: () => Partial<Box>;
  readonly node: (name: string) => Box;
  readonly edge: (from: string, to: string, name: string) => LaidEdge;
};
type LaidEdge = Partial<Point> & { readonly points: readonly Point[] };
const dagre = untyped as unknown as {
  readonly graphlib: {
    readonly Graph: new (options: { readonly compound: true; readonly multigraph: true }) => Graph;
  };
  readonly layout: (graph: Graph) => void;
};

type Names = ReadonlyMap<string, string>;

/** Finds places for everything in a picture, top to bottom, so that nothing covers anything else. */
export function layout(whole: Picture): Laid {
  const { picture, blocks } = withBlocks(whole);
  const names = namesOf(picture);
  const graph = graphOf(picture, names, blocks);
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const boxOf = (id: string): Box => {
    const { x, y, width: w, height: h } = graph.node(names.get(id) as string);
    return { x, y, width: w, height: h };
  };
  const inBlocks = new Map(blocks.flatMap((block) => blockPlaces(block, boxOf(block.id))));
  return {
    width,
    height,
    nodes: whole.nodes.map((node) => ({
      ...node,
      ...(inBlocks.get(node.id) ?? boxOf(node.id)),
      lines: nodeText(node).lines,
    })),
    frames: [
      ...picture.frames.map((frame) => ({ ...frame, ...boxOf(frame.id) })),
      ...blocks.map(({ id, path }) => ({ id, path, kind: 'block', ...boxOf(id) })),
    ],
    edges: picture.edges.map((edge, i) => placedEdge(edge, i, graph, names)),
  };
}

/** Names of our own for nodes and frames: some ids, as that of the root, are none to dagre. */
function namesOf({ nodes, frames }: Picture): Names {
  return new Map([
    ...nodes.map(({ id }, i) => [id, `n${i}`] as const),
    ...frames.map(({ id }, i) => [id, `f${i}`] as const),
  ]);
}

function graphOf({ nodes, frames, edges }: Picture, names: Names, blocks: readonly Block[]): Graph {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: true });
  graph.setGraph(options);
  const nameOf = (id: string): string => names.get(id) as string;
  for (const { id } of frames) graph.setNode(nameOf(id), { width: 0, height: 0 });
  // Of what stands side by side dagre puts last what it was told first.
  for (const node of nodes.toReversed()) {
    const { width, height } = blocks.find(({ id }) => id === node.id) ?? nodeText(node);
    graph.setNode(nameOf(node.id), { width, height });
  }
  for (const { id, frame } of [...frames, ...nodes]) {
    if (frame !== undefined) graph.setParent(nameOf(id), nameOf(frame));
  }
  const aside = new Set(edges.filter(({ kind }) => kind !== 'then').map(({ from }) => from));
  for (const [i, { from, to, kind, label }] of [...edges.entries()].reverse()) {
    const weight = kind === 'then' ? 3 : 1;
    // What goes on comes below what is drawn beside the node.
    const minlen = kind === 'then' && aside.has(from) && from !== '#begin' ? 2 : 1;
    const size =
      label === undefined
        ? {}
        : { width: labelWidth(label), height: labelHeight, labelpos: 'c' as const };
    graph.setEdge(nameOf(from), nameOf(to), { ...size, weight, minlen }, String(i));
  }
  return graph;
}

function placedEdge(edge: PictureEdge, i: number, graph: Graph, names: Names): PlacedEdge {
  const [from, to] = [names.get(edge.from) as string, names.get(edge.to) as string];
  const laid = graph.edge(from, to, String(i));
  const points = laid.points.map(({ x, y }) => ({ x, y }));
  const { x, y } = laid;
  if (edge.label === undefined || x === undefined || y === undefined) return { ...edge, points };
  return { ...edge, points, text: shortLabel(edge.label), at: { x, y } };
}
