import type { NodeReading } from '../reading/node-notes.js';

/**
 * The kinds of what is drawn: the word of an entry or a structure, `begin`, `end`, `handler`, `undo`,
 * `error` and `cancel`, and `meet`, the point where ways that parted meet again.
 */
export type PictureKind = string;

/** One node; in the picture of a job with its state. `id` is unique in the picture: the path of the node, or one with `#` for what only the picture has. */
export type PictureNode = Partial<NodeReading> & {
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

/** A place in the picture, in pixels from its upper left corner; `x` and `y` are of the middle. */
export type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};
