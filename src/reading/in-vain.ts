import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { isFailed, type Failure, type Step } from '../model/step.js';
import type { Leaf } from '../model/tree.js';
import { attemptsOf, completionOn, lastAttempt } from './attempts.js';
import { askedBy, isUnderWay, type DeciderAnswer, type Cancel } from './decider-answers.js';

/** Maximum number of answers in a row, within `vainMs`, of which nothing could begin. */
export const mostInVain = 100;
const vainMs = 60_000;

/**
 * Why a decider fails: within a minute it gave `mostInVain` answers in this run of the job, and nothing
 * that they asked for could begin. A decider is asked again at once after such an answer, so it would
 * never stop. It does not fail while anything that it began is open, because that may change its answers.
 */
export function askedInVain(job: LiveJob, leaf: Leaf): Failure | undefined {
  const { answers, begun } = askedBy(job, leaf);
  const lately = answers.filter(({ step }) => step.run === job.run).slice(-mostInVain);
  if (lately.length < mostInVain || !areWithin(vainMs, lately)) return undefined;
  const reasons = lately.map((answer) => whyInVain(job, answer));
  const last = reasons.at(-1);
  if (last === undefined || reasons.includes(undefined)) return undefined;
  if (isAnyOpen(job, answers, [...begun.keys()])) return undefined;
  return failure('DecidedInVain', { answers: mostInVain, last });
}

function areWithin(ms: number, answers: readonly DeciderAnswer[]): boolean {
  const ends = answers.map(({ step }) => Number(step['end']));
  return Math.max(...ends) - Math.min(...ends) <= ms;
}

/** Whether anything that a decider began runs or waits, is to be tried again, or has yet to begin. */
function isAnyOpen(
  job: LiveJob,
  answers: readonly DeciderAnswer[],
  begun: readonly string[],
): boolean {
  const cancelled = new Set(answers.flatMap(({ cancels }) => cancels.map(({ path }) => path)));
  return begun.some((path) => {
    const isDropped = cancelled.has(path) && lastAttempt(job, path) === undefined;
    return !isDropped && isUnderWay(job, path);
  });
}

/** Undefined when the answer had an effect, may still have one, or asked for nothing. */
function whyInVain(
  job: LiveJob,
  { step, begun, taken, cancels }: DeciderAnswer,
): string | undefined {
  const reasons = [
    ...begun.map((path) => whyUnbegun(job, path)),
    ...taken.map(({ id }) => `The id "${id}" is taken.`),
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
