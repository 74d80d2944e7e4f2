import { branchesOf, handlerOf } from '../model/flow.js';
import type { Structure } from '../model/tree.js';
import type { FlowSettings, LiveJob } from '../model/job.js';
import { drawTree, type Pen } from './draw.js';
import type { Standing } from './book.js';
import { standingsOf } from './standings.js';

/** The kinds of what is drawn; `meet` is the point where ways that parted meet again. */
export type PictureKind =
  | 'begin'
  | 'end'
  | 'meet'
  | 'task'
  | 'wait'
  | 'delay'
  | 'flow'
  | 'decider'
  | 'handler'
  | 'undo'
  | 'error'
  | 'cancel'
  | Structure['structure'];

/**
 * How a node stands in a job. `pending`: not begun; `retrying`: the next attempt is due later;
 * `recovered`: it failed and its handler succeeded; `undone`: done and taken back; `unreached`: it
 * will not begin any more.
 */
export type NodeState =
  | 'pending'
  | 'active'
  | 'waiting'
  | 'retrying'
  | 'done'
  | 'recovered'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'undone'
  | 'unreached';

/** How the items of a map, the rounds of a loop, or the runs of a node in them stand together. */
export type Runs = {
  /** How many are known to be to do; of a loop those that have begun. */
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Running, waiting, or between two attempts. */
  readonly open: number;
};

/** One node. `id` is unique in the picture: the path of the node, or one with `#` for what only the picture has. */
export type PictureNode = {
  readonly id: string;
  /** Path in the definition: `2.map.*.0`, `1.error` for a handler. */
  readonly path: string;
  readonly kind: PictureKind;
  /** What people call it: the name of the step, or what the structure does. */
  readonly label: string;
  /** A second line: the task behind another name, for what it waits, how many runs. */
  readonly detail?: string;
  /** Id of the frame it is in. */
  readonly frame?: string;
  /** Only in the picture of a job. */
  readonly state?: NodeState;
  /** Attempts that were made, when more than one. */
  readonly attempts?: number;
  readonly runs?: Runs;
  /** The sentence of its last failure. */
  readonly failure?: string;
};

/** A frame around all nodes of a structure; its head is the node of the same path. */
export type PictureFrame = {
  readonly id: string;
  readonly path: string;
  readonly kind: PictureKind;
  /** Id of the frame around it. */
  readonly frame?: string;
};

/** `then`: what comes next; `error`, `undo`, `cancel`: only when it comes to that, drawn dashed. */
export type EdgeKind = 'then' | 'error' | 'undo' | 'cancel';

export type PictureEdge = {
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  readonly label?: string;
};

/** A flow, or a job, as nodes and edges without places. Edges form no circle. */
export type Picture = {
  readonly nodes: readonly PictureNode[];
  readonly frames: readonly PictureFrame[];
  readonly edges: readonly PictureEdge[];
};

/**
 * What is known besides the tree: a job document, or for a flow that nobody runs its settings and
 * tasks alone. With `steps` the picture has states.
 */
export type Pictured = Partial<
  Pick<LiveJob, 'steps' | 'definitions' | 'run' | 'first_run' | 'slice'>
> & {
  readonly state?: string;
  readonly exit?: number;
  readonly flow_definition?: Partial<FlowSettings>;
};

/**
 * The picture of a tree: every entry and every structure is one node, with handlers, what undoes
 * them and the cancel branch beside them. Plain sequences are the order of edges alone. The same
 * node of all items of a map, or rounds of a loop, is there once and counts its runs.
 */
export function pictureOf(tree: Structure, job: Pictured = {}): Picture {
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
  const standings = standingsOf(tree, { ...job, steps: job.steps });
  return {
    nodes: nodes.map((node) => stood(node, standings)),
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

function stood(node: PictureNode, standings: ReadonlyMap<string, Standing>): PictureNode {
  const { kind, path } = node;
  if (kind === 'meet') return node;
  const standing = standings.get(kind === 'begin' || kind === 'end' ? `#${kind}` : path);
  return { ...node, ...(standing ?? { state: uncalled(node, standings) }) };
}

/** A handler, or what undoes, that was not called: it may be yet, as long as its step is not over. */
function uncalled(
  { kind, path }: PictureNode,
  standings: ReadonlyMap<string, Standing>,
): NodeState {
  const step = standings.get(path.replace(/(?:\.(?:error|undo))+$/, ''))?.state;
  const isOver = standings.get('#end')?.state !== 'pending';
  const isPast = kind === 'handler' && ['done', 'skipped', 'recovered'].includes(step ?? '');
  return isOver || isPast || step === 'unreached' ? 'unreached' : 'pending';
}
