import type { OnFail } from '../model/tree.js';
import type { FailedStep } from '../model/step.js';
import { workOf, type Progress, type Work } from './progress.js';

/** A node among siblings, with its progress. */
export type Sibling = { readonly path: string; readonly progress: Progress };

/** When sibling nodes are done or failed as a whole. */
export type Rule = {
  /** So many must succeed. */
  readonly needed: number;
  readonly total: number;
  readonly onFail: OnFail;
  /** Once enough have succeeded the others are cancelled. */
  readonly cancelRest: boolean;
  /** Done only when all have ended. */
  readonly allEnd?: boolean;
};

/**
 * Returns the progress of sibling nodes as a whole. Each runs on its own. They are done when enough
 * of them have succeeded and failed when too many have failed: at once when the rest is cancelled,
 * otherwise when all have ended. Of several failures, the first in the definition that is no
 * cancellation counts.
 */
export function siblingsProgress(siblings: readonly Sibling[], rule: Rule): Progress {
  const { needed, total, onFail, allEnd = false } = rule;
  const work = workOf(siblings.map(({ progress }) => progress));
  const failures = siblings.flatMap(({ progress }) =>
    progress.kind === 'failed' ? [progress.step] : [],
  );
  const succeeded = siblings.filter(({ progress }) => progress.kind === 'done').length;
  const isOpen = succeeded + failures.length < total;
  if (succeeded >= needed) {
    if (allEnd && isOpen) return { kind: 'open', ...work };
    const rest = rule.cancelRest || onFail === 'cancel_rest';
    return { kind: 'done', ...(rest ? withoutRest(siblings) : work) };
  }
  if (total - failures.length >= needed) return { kind: 'open', ...work };
  const step = firstOf(failures);
  switch (onFail) {
    case 'cancel_rest':
      return { kind: 'failed', step, ...withoutRest(siblings) };
    case 'wait':
      return isOpen ? { kind: 'open', ...work } : { kind: 'failed', step, ...work };
    case 'ignore':
      return { kind: isOpen ? 'open' : 'done', ...work };
  }
}

/** Returns the failure that is the cause: the first that is not a cancellation, else the first. */
export function firstOf(failures: readonly FailedStep[]): FailedStep {
  return (failures.find(({ state }) => state !== '$$cancelled') ?? failures[0]) as FailedStep;
}

/** Nothing more begins in what is still open, and what runs there is to be cancelled. */
function withoutRest(siblings: readonly Sibling[]): Work {
  const ended = siblings.filter(({ progress }) => progress.kind !== 'open');
  const rest = siblings.filter(({ progress }) => progress.kind === 'open');
  const kept = workOf(ended.map(({ progress }) => progress));
  return { ...kept, drop: [...kept.drop, ...rest.map(({ path }) => path)] };
}
