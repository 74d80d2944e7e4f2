import { childrenOf } from '../structures/tree.js';
import { isStructure, type Entry, type Node, type Structure } from '../model/tree.js';
import { drawChain, type Drawing, type EdgeSource, type Way } from '../structures/drawing.js';
import { kindOf, wordOf } from '../structures/kinds.js';
import type { ShownJob } from '../reading/trail.js';
import type { PictureEdge, PictureFrame, PictureNode } from './picture.js';
import { entryWords, structureWords } from './words.js';

/** What is drawn so far. */
export type Pen = {
  readonly nodes: PictureNode[];
  readonly frames: PictureFrame[];
  readonly edges: PictureEdge[];
  readonly job: ShownJob;
};

/** Draws a node with all in it. `frame` is the id of the frame around it. */
export function drawTree(pen: Pen, node: Node, path: string, frame?: string): Way {
  if (!isStructure(node)) return drawEntry(pen, node, path, frame);
  const children = childrenOf(node, path);
  if (node.structure === 'sequence' && isPlain(node)) {
    const chain = drawChain(children, drawingIn(pen, path, frame));
    if (chain !== undefined) return chain;
  }
  const { structure: kind } = node;
  const { draw, isFork = false } = kindOf(node);
  const isFramed = !isFork && children.length > 0;
  const own = isFramed ? `${path}#frame` : frame;
  if (isFramed) pen.frames.push({ id: `${path}#frame`, path, kind, ...inFrame(frame) });
  pen.nodes.push({ id: path, path, kind, ...structureWords(node), ...inFrame(own) });
  const exits = draw(node, path, drawingIn(pen, path, own));
  return { entries: [{ id: path }], exits };
}

/** A sequence that says nothing of its own. */
function isPlain({ name, when, guards, optional }: Structure): boolean {
  return [name, when, guards, optional].every((one) => one === undefined);
}

function inFrame(frame: string | undefined): { readonly frame?: string } {
  return frame === undefined ? {} : { frame };
}

/** What the structure at a path is drawn with. */
function drawingIn(pen: Pen, path: string, frame: string | undefined): Drawing {
  return {
    node: (node, at) => drawTree(pen, node, at, frame),
    connect: (from, to, label) => connect(pen, from, to, label),
    meet: (exits, word = 'meet') => {
      if (exits.length < 2) return exits;
      const id = `${path}#${word}`;
      pen.nodes.push({ id, path, kind: 'meet', label: '', ...inFrame(frame) });
      connect(pen, exits, [{ id }]);
      return [{ id }];
    },
  };
}

function connect(
  pen: Pen,
  from: readonly EdgeSource[],
  to: readonly EdgeSource[],
  label?: string,
): void {
  for (const one of from) {
    for (const other of to) {
      const text = label ?? one.label;
      const labelled = text === undefined ? {} : { label: text };
      pen.edges.push({ from: one.id, to: other.id, kind: 'then', ...labelled });
    }
  }
}
/** An entry, with what handles its failure and what undoes it. */
function drawEntry(pen: Pen, entry: Entry, path: string, frame: string | undefined): Way {
  const node: PictureNode = {
    id: path,
    path,
    kind: wordOf(entry),
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
