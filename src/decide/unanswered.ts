import { failure } from '../model/failures.js';
import { exits, type Failure } from '../model/step.js';

/**
 * Why something is not known that an engine had to work out. `isPassing`: the engine could not work it
 * out now, which is no fault of the document.
 */
export type Unanswered = {
  readonly ok: false;
  readonly reason: string;
  readonly isPassing?: true;
};

/** The exit of what ends for it: what is wrong with a definition fails again, anything else may be retried. */
export function exitFor({ isPassing }: Unanswered): number {
  return isPassing === true ? exits.failed : exits.definition;
}

/** How a step fails whose condition, or other expression, has no answer; `at` is where it stands. */
export function unevaluated(
  at: string,
  why: Unanswered,
): { readonly failure: Failure; readonly exit: number } {
  return { failure: failure('ExpressionError', { at, reason: why.reason }), exit: exitFor(why) };
}
