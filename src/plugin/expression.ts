import jsonata from 'jsonata';
import { boundFunctions, mostItems } from './bounded-functions.js';
import { linearRegExp } from './linear-regexp.js';

/** Evaluating one expression may take this long and nest this deep. */
const evaluationMs = 1_000;
const evaluationDepth = 500;

/**
 * Evaluates JSONata over some data, within bounds of time (1 s) and depth. The result is plain JSON,
 * or undefined. Rejects with JSONata's own error, or one that names the bound.
 */
export async function evaluateExpression(expression: string, data: unknown): Promise<unknown> {
  const program = jsonata(expression, { sequence: mostItems, RegexEngine });
  limit(program);
  await boundFunctions(program);
  return toPlain(await program.evaluate(data));
}

/** JSONata tells of each step into and out of an expression; there the bounds are watched. */
function limit(program: jsonata.Expression): void {
  const began = Date.now();
  let depth = 0;
  const watch = (): void => {
    if (depth > evaluationDepth) throw new Error('it nests too deep');
    if (Date.now() - began > evaluationMs) {
      throw new Error(`it takes longer than ${evaluationMs} ms`);
    }
  };
  const enter = (): void => {
    depth += 1;
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
