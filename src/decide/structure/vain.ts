import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { isFailed, type Failure, type Step } from '../../model/step.js';
import type { Leaf } from '../../model/tree.js';
import { attemptsOf, completionOn, lastAttempt } from '../history.js';
import { askedBy, type Answer, type Cancel } from './answers.js';

/** So many answers in a row may lead to nothing; then the decider is taken not to learn from it. */
export const mostInVain = 100;

/**
 * Why a decider is not listened to any more: nothing came of what it asked for lately, in this run of
 * the job. It is told what came of it at once, so it would ask for ever.
 */
export function askedInVain(job: LiveJob, leaf: Leaf): Failure | undefined {
  const { answers } = askedBy(job, leaf);
  const lately = answers.filter(({ step }) => step.run === job.run).slice(-mostInVain);
  if (lately.length < mostInVain) return undefined;
  const reasons = lately.map((answer) => whyInVain(job, answer));
  const last = reasons.at(-1);
  if (last === undefined || reasons.includes(undefined)) return undefined;
  return failure('DecidedInVain', { answers: mostInVain, last });
}

/** Undefined: something came of the answer, or may yet, or it asked for nothing. */
function whyInVain(job: LiveJob, { step, begun, taken, cancels }: Answer): string | undefined {
  const reasons = [
    ...begun.map((path) => whyUnbegun(job, path)),
    ...taken.map((id) => `The id "${id}" is taken.`),
    ...cancels.map((cancel) => whyUncancelled(job, cancel, step)),
  ];
  return reasons.includes(undefined) ? undefined : reasons.at(-1);
}

function whyUnbegun(job: LiveJob, path: string): string | undefined {
  const last = lastAttempt(job, path);
  const isOver = last !== undefined && isFailed(last) && last.due === undefined;
  if (!isOver || completionOn(job, path) !== undefined) return undefined;
  const hasBegun = attemptsOf(job, path).some((attempt) => 'start' in attempt);
  return hasBegun ? undefined : last.failure.message;
}

function whyUncancelled(job: LiveJob, { id, path }: Cancel, decision: Step): string | undefined {
  if (path === undefined) return `There is no "${id}" to cancel.`;
  const last = lastAttempt(job, path);
  if (last === undefined || !('end' in last)) return undefined;
  const [end, decided] = [Number(last.end), Number(decision['end'])];
  const isOver = end < decided || (end === decided && last.state !== '$$cancelled');
  return isOver ? `"${id}" had ended when it was to be cancelled.` : undefined;
}
