import type { FailedStep } from '../../model/step.js';
import type { Leaf } from '../../model/tree.js';
import type { Phase } from '../../model/step.js';

/** A step that may begin: an entry of the flow, or a handler made from one. */
export type Beginning = {
  readonly leaf: Leaf;
  readonly phase: Phase;
  /** Not before this time (epoch ms). */
  readonly due?: number;
};

/** How far a node has come, computed from the steps. */
export type Progress =
  | { readonly kind: 'done' }
  | { readonly kind: 'begin'; readonly beginning: Beginning }
  | { readonly kind: 'failed'; readonly step: FailedStep };

export const done: Progress = { kind: 'done' };
