import type { Picture, PictureKind, PictureNode } from './picture.js';

/** How far a job is: steps of the flow that are done, of those that are known to come. */
type Progress = {
  readonly done: number;
  readonly failed: number;
  /** Grows as lists of maps and rounds of loops become known. */
  readonly total: number;
  /** What is under way now, top to bottom. */
  readonly current: readonly PictureNode[];
};

const steps: readonly PictureKind[] = ['task', 'wait', 'delay', 'flow', 'decider'];
const underWay = ['active', 'waiting', 'retrying'];
const succeeded = ['done', 'recovered', 'skipped', 'undone'];

/** Counts the steps in the picture of a job; those that will not come any more do not count. */
export function progressOf({ nodes }: Picture): Progress {
  const counted = nodes.filter(({ kind, state }) => steps.includes(kind) && state !== 'unreached');
  const sum = (count: (node: PictureNode) => number): number =>
    counted.reduce((total, node) => total + count(node), 0);
  return {
    done: sum(({ runs, state }) => runs?.done ?? (succeeded.includes(state ?? '') ? 1 : 0)),
    failed: sum(({ runs, state }) => runs?.failed ?? (state === 'failed' ? 1 : 0)),
    total: sum(({ runs }) => runs?.total ?? 1),
    current: nodes.filter(
      ({ kind, state }) =>
        (steps.includes(kind) || kind === 'handler' || kind === 'undo') &&
        underWay.includes(state ?? ''),
    ),
  };
}
