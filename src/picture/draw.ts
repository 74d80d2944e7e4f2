import {
  below,
  callbacks,
  childPath,
  childrenOf,
  isStructure,
  type Batch,
  type Choice,
  type Entry,
  type Graph,
  type Node,
  type Structure,
} from '../model/tree.js';
import type { Pictured, PictureEdge, PictureFrame, PictureNode } from './picture.js';
import { entryWords, joinWords, kindOfEntry, structureWords } from './words.js';

/** What is drawn so far. */
export type Pen = {
  readonly nodes: PictureNode[];
  readonly frames: PictureFrame[];
  readonly edges: PictureEdge[];
  readonly job: Pictured;
};

/** An end of a way; `label` is that of the edge that goes on from it. */
type Point = { readonly id: string; readonly label?: string };

/** A part of the picture: where one comes in, and from where it goes on. Never empty. */
export type Way = { readonly entries: readonly Point[]; readonly exits: readonly Point[] };

/** Draws a node with all in it. `frame` is the id of the frame around it. */
export function drawTree(pen: Pen, node: Node, path: string, frame?: string): Way {
  if (!isStructure(node)) return drawEntry(pen, node, path, frame);
  const children = childrenOf(node, path);
  if (node.structure === 'sequence' && isPlain(node) && children.length > 0) {
    return drawChain(pen, children, frame);
  }
  const head: PictureNode = {
    id: path,
    path,
    kind: node.structure,
    ...structureWords(node),
    ...inFrame(frame),
  };
  if (node.structure === 'choice') {
    pen.nodes.push(head);
    return { entries: [{ id: path }], exits: drawCases(pen, node, path, frame) };
  }
  const own = `${path}#frame`;
  if (children.length > 0)
    pen.frames.push({ id: own, path, kind: node.structure, ...inFrame(frame) });
  pen.nodes.push(children.length > 0 ? { ...head, frame: own } : head);
  return { entries: [{ id: path }], exits: drawInside(pen, node, path, own) };
}

/** A sequence that says nothing of its own. */
function isPlain({ name, when, guards, optional }: Structure): boolean {
  return [name, when, guards, optional].every((one) => one === undefined);
}

function inFrame(frame: string | undefined): { readonly frame?: string } {
  return frame === undefined ? {} : { frame };
}

type Child = { readonly node: Node; readonly path: string };

function drawChain(pen: Pen, children: readonly Child[], frame: string | undefined): Way {
  const ways = children.map((child) => drawTree(pen, child.node, child.path, frame));
  for (const [i, way] of ways.slice(1).entries()) connect(pen, (ways[i] as Way).exits, way.entries);
  return { entries: (ways[0] as Way).entries, exits: (ways.at(-1) as Way).exits };
}

function connect(pen: Pen, from: readonly Point[], to: readonly Point[], label?: string): void {
  for (const one of from) {
    for (const other of to) {
      const text = label ?? one.label;
      const labelled = text === undefined ? {} : { label: text };
      pen.edges.push({ from: one.id, to: other.id, kind: 'then', ...labelled });
    }
  }
}

/** Ways that part meet again in one point, so that the next node has one edge from them. */
function meet(
  pen: Pen,
  exits: readonly Point[],
  path: string,
  frame: string | undefined,
  word = 'meet',
): readonly Point[] {
  if (exits.length < 2) return exits;
  const point: PictureNode = {
    id: `${path}#${word}`,
    path,
    kind: 'meet',
    label: '',
    ...inFrame(frame),
  };
  pen.nodes.push(point);
  connect(pen, exits, [point]);
  return [{ id: point.id }];
}

/** Everything in a structure, below its head. */
function drawInside(pen: Pen, node: Structure, path: string, frame: string): readonly Point[] {
  const head = [{ id: path }];
  switch (node.structure) {
    case 'sequence':
    case 'map':
    case 'loop': {
      const children = childrenOf(node, path);
      if (children.length === 0) return head;
      const way = drawChain(pen, children, frame);
      connect(pen, head, way.entries);
      return way.exits;
    }
    case 'parallel':
      return drawBeside(pen, childrenOf(node, path), path, frame);
    case 'batch':
      return drawBatch(pen, node, path, frame);
    case 'graph':
      return drawGraph(pen, node, path, frame);
    case 'choice':
      return drawCases(pen, node, path, frame);
  }
}

function drawBeside(
  pen: Pen,
  children: readonly Child[],
  path: string,
  frame: string,
): readonly Point[] {
  const exits = children.flatMap((child) => {
    const way = drawTree(pen, child.node, child.path, frame);
    connect(pen, [{ id: path }], way.entries);
    return way.exits;
  });
  return exits.length === 0 ? [{ id: path }] : meet(pen, exits, path, frame);
}

const callbackWords = {
  on_success: 'all succeeded',
  on_failure: 'one failed',
  on_complete: 'in any case',
} as const;

/** The jobs of a batch, then what follows their success or failure, then what follows both. */
function drawBatch(pen: Pen, node: Batch, path: string, frame: string): readonly Point[] {
  const jobs = node.batch.map((one, i) => ({ node: one, path: childPath(path, 'batch', i) }));
  const after = drawBeside(pen, jobs, path, frame);
  const ways = callbacks.flatMap((key) => {
    const callback = node[key];
    return callback === undefined
      ? []
      : [{ key, way: drawTree(pen, callback, below(path, key), frame) }];
  });
  const outcomes = ways.filter(({ key }) => key !== 'on_complete');
  const last = ways.find(({ key }) => key === 'on_complete');
  for (const { key, way } of outcomes) connect(pen, after, way.entries, callbackWords[key]);
  // Without a callback for one of both outcomes, that one goes on by itself.
  const otherwise = outcomes.length === 2 ? [] : after.map(({ id }) => ({ id }));
  const exits = meet(
    pen,
    [...otherwise, ...outcomes.flatMap(({ way }) => way.exits)],
    path,
    frame,
    'called',
  );
  if (last === undefined) return exits;
  connect(
    pen,
    exits,
    last.way.entries,
    outcomes.length === 0 ? callbackWords.on_complete : undefined,
  );
  return last.way.exits;
}

function drawGraph(pen: Pen, node: Graph, path: string, frame: string): readonly Point[] {
  const ways = new Map<string, Way>();
  for (const [name, one] of Object.entries(node.graph)) {
    ways.set(name, drawTree(pen, one, childPath(path, 'graph', name), frame));
  }
  const before = new Set<string>();
  for (const [name, { after = [], join }] of Object.entries(node.graph)) {
    const { entries } = ways.get(name) as Way;
    if (after.length === 0) connect(pen, [{ id: path }], entries);
    const known = after.filter((other) => ways.has(other));
    for (const other of known) {
      before.add(other);
      connect(pen, (ways.get(other) as Way).exits, entries, joinWords(join, known.length));
    }
  }
  const ends = [...ways].filter(([name]) => !before.has(name)).flatMap(([, { exits }]) => exits);
  return ends.length === 0 ? [{ id: path }] : meet(pen, ends, path, frame);
}

function drawCases(
  pen: Pen,
  node: Choice,
  path: string,
  frame: string | undefined,
): readonly Point[] {
  const exits = node.choice.flatMap(({ when, then }, i) => {
    const way = drawTree(pen, then, childPath(path, 'choice', i), frame);
    connect(pen, [{ id: path }], way.entries, when);
    return way.exits;
  });
  if (node.default === undefined) {
    return meet(pen, [...exits, { id: path, label: 'otherwise' }], path, frame);
  }
  const way = drawTree(pen, node.default, below(path, 'default'), frame);
  connect(pen, [{ id: path }], way.entries, 'otherwise');
  return meet(pen, [...exits, ...way.exits], path, frame);
}

/** An entry, with what handles its failure and what undoes it. */
function drawEntry(pen: Pen, entry: Entry, path: string, frame: string | undefined): Way {
  const node: PictureNode = {
    id: path,
    path,
    kind: kindOfEntry(entry),
    ...entryWords(entry),
    ...inFrame(frame),
  };
  pen.nodes.push(node);
  const task = pen.job.definitions?.[entry.task];
  drawHandlers(pen, { path, frame, name: entry.error ?? task?.error, seen: [entry.task] });
  const undo = entry.undo ?? task?.undo;
  if (undo !== undefined) beside(pen, { path, frame }, 'undo', undo);
  return { entries: [{ id: path }], exits: [{ id: path }] };
}

type Line = {
  readonly path: string;
  readonly frame: string | undefined;
  readonly name: string | undefined;
  /** Tasks that failed before it: none of them handles its own failure. */
  readonly seen: readonly string[];
};

function drawHandlers(pen: Pen, { path, frame, name, seen }: Line): void {
  if (name === undefined || seen.includes(name)) return;
  beside(pen, { path, frame }, 'error', name);
  const next = pen.job.definitions?.[name]?.error;
  drawHandlers(pen, { path: `${path}.error`, frame, name: next, seen: [...seen, name] });
}

function beside(
  pen: Pen,
  { path, frame }: Pick<Line, 'path' | 'frame'>,
  kind: 'error' | 'undo',
  task: string,
): void {
  const id = `${path}.${kind}`;
  const drawn = kind === 'error' ? ('handler' as const) : ('undo' as const);
  pen.nodes.push({ id, path: id, kind: drawn, label: task, ...inFrame(frame) });
  pen.edges.push({ from: path, to: id, kind, label: kind === 'error' ? 'on error' : 'undo' });
}
