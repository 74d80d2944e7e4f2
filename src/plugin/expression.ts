import type { Expression } from 'jsonata';
import { threadProcessorMs } from '../processor-time.js';
import { boundFunctions, mostItems } from './bounded-functions.js';
import { calculate, tooLong } from './calculations.js';
import { isCheap } from './cheap-expression.js';
import { loadJsonata } from './late-packages.js';
import { linearRegExp } from './linear-regexp.js';

/** Evaluating one expression may take this much time of the processor, and nest this deep. */
const evaluationMs = 1_000;
const evaluationDepth = 500;
/** What is evaluated in this thread is no longer than this, and takes no more steps. */
const longestHere = 500;
const mostStepsHere = 2_000;
/** A longer expression takes too long to read. */
const longestExpression = 100_000;

/**
 * Evaluates JSONata over some data, within bounds of time (1 s of the processor: a busy machine is not
 * the expression's fault), memory and depth. Paths and comparisons are evaluated here, everything else
 * in a thread, which it is tried `starts` times to start, so that it holds up nobody. The result is
 * plain JSON, or undefined. Rejects with JSONata's own error, one that names the bound, or a
 * `NoThreadError`.
 */
export async function evaluateExpression(
  expression: string,
  data: unknown,
  starts?: number,
): Promise<unknown> {
  if (expression.length > longestExpression) {
    throw new Error(`it is longer than ${longestExpression} characters`);
  }
  if (expression.length <= longestHere) {
    const program = loadJsonata()(expression);
    if (isCheap(program.ast())) {
      try {
        limit(program, mostStepsHere);
        return toPlain(await program.evaluate(data));
      } catch (error) {
        if (!(error instanceof TooManySteps)) throw error;
      }
    }
  }
  return calculate({ kind: 'expression', expression, data }, starts);
}

/** The same in this thread, whatever it takes. */
export async function evaluateHere(expression: string, data: unknown): Promise<unknown> {
  const program = loadJsonata()(expression, { sequence: mostItems, RegexEngine });
  limit(program, Infinity);
  await boundFunctions(program);
  return toPlain(await program.evaluate(data));
}

class TooManySteps extends Error {}

/** JSONata tells of each step into and out of an expression; there the bounds are watched. */
function limit(program: Expression, mostSteps: number): void {
  const began = { at: Date.now(), usedMs: threadProcessorMs() };
  let depth = 0;
  let steps = 0;
  const watch = (): void => {
    if (depth > evaluationDepth) throw new Error('it nests too deep');
    if (steps > mostSteps) throw new TooManySteps();
    // Asking the clock costs less; what no time has passed for, no processor can have worked on.
    if (Date.now() - began.at <= evaluationMs) return;
    if (threadProcessorMs() - began.usedMs > evaluationMs) throw tooLong();
    began.at = Date.now() - evaluationMs + 50;
  };
  const enter = (): void => {
    depth += 1;
    steps += 1;
    watch();
  };
  const leave = (): void => {
    depth -= 1;
    watch();
  };
  program.assign(Symbol.for('jsonata.__evaluate_entry') as unknown as string, enter);
  program.assign(Symbol.for('jsonata.__evaluate_exit') as unknown as string, leave);
}

/** JSONata makes one with `new`; what a constructor returns is what it gets. */
const RegexEngine = function (expression: RegExp) {
  return linearRegExp(expression);
} as unknown as RegExpConstructor;

/** JSONata's lists carry marks of their own; documents get plain JSON. */
function toPlain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}
