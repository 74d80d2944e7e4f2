import { branchesOf, handlerOf } from '../model/flow.js';
import type { Structure } from '../model/tree.js';
import type { NodeReading } from '../reading/node-notes.js';
import { drawTree, type Pen } from './draw.js';
import type { Picture, PictureNode } from './picture.js';
import type { ShownJob } from '../reading/trail.js';
import type { NodeState } from '../structures/node-state.js';
import { readNodes } from '../reading/node-states.js';

/** The states of nodes by path in the definition. */
type Readings = ReadonlyMap<string, NodeReading>;

/**
 * The picture of a tree: every entry and every structure is one node, with handlers, what undoes
 * them and the cancel branch beside them. Plain sequences are the order of edges alone. The same
 * node of all items of a map, or rounds of a loop, is there once and counts its runs. `read`: the
 * states of its nodes, where they were read already.
 */
export function pictureOf(tree: Structure, job: ShownJob = {}, read?: Readings): Picture {
  const pen: Pen = { nodes: [], frames: [], edges: [], job };
  const way = drawTree(pen, tree, '');
  const begin = { id: '#begin', path: '', kind: 'begin', label: 'begin' } as const;
  const end = { id: '#end', path: '', kind: 'end', label: 'end' } as const;
  for (const to of way.entries) pen.edges.push({ from: begin.id, to: to.id, kind: 'then' });
  for (const from of way.exits) {
    pen.edges.push({
      from: from.id,
      to: end.id,
      kind: 'then',
      ...(from.label === undefined ? {} : { label: from.label }),
    });
  }
  drawEnds(pen, begin.id);
  const nodes = [begin, ...pen.nodes, end];
  if (job.steps === undefined) return { ...pen, nodes };
  const readings = read ?? readNodes(tree, { ...job, steps: job.steps });
  return {
    nodes: nodes.map((node) => stood(node, readings)),
    frames: pen.frames,
    edges: pen.edges,
  };
}

const whenFailed = 'when the flow fails';

/** What runs when the flow fails, and when it is cancelled. */
function drawEnds(pen: Pen, begin: string): void {
  const ends = pen.job.flow_definition ?? {};
  const handler = handlerOf(ends);
  if (handler !== undefined) {
    pen.nodes.push({ id: 'error', path: 'error', kind: 'handler', label: handler.name });
    pen.edges.push({ from: begin, to: 'error', kind: 'error', label: whenFailed });
  }
  for (const { root, tree } of branchesOf(ends)) {
    const id = `#${root}`;
    pen.frames.push({ id, path: root, kind: root });
    for (const { id: to } of drawTree(pen, tree, root, id).entries) {
      const label = root === 'error' ? whenFailed : 'on cancel';
      pen.edges.push({ from: begin, to, kind: root, label });
    }
  }
}

function stood(node: PictureNode, readings: Readings): PictureNode {
  const { kind, path } = node;
  if (kind === 'meet') return node;
  const reading = readings.get(kind === 'begin' || kind === 'end' ? `#${kind}` : path);
  return { ...node, ...(reading ?? { state: uncalled(node, readings) }) };
}

/** A handler, or what undoes, that was not called: it may be yet, as long as its step is not over. */
function uncalled({ kind, path }: PictureNode, readings: Readings): NodeState {
  const step = readings.get(path.replace(/(?:\.(?:error|undo))+$/, ''))?.state;
  const isOver = readings.get('#end')?.state !== 'pending';
  const isPast = kind === 'handler' && ['done', 'skipped', 'recovered'].includes(step ?? '');
  return isOver || isPast || step === 'unreached' ? 'unreached' : 'pending';
}
