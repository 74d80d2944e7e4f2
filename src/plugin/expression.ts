import jsonata from 'jsonata';
import { boundFunctions, mostItems } from './bounded-functions.js';
import { linearRegExp } from './linear-regexp.js';

/** Evaluating one expression may take this much time of the processor, and nest this deep. */
const evaluationMs = 1_000;
const evaluationDepth = 500;

/**
 * Evaluates JSONata over some data, within bounds of time (1 s of the
 * processor: a busy machine is not the expression's fault) and depth. The result is plain JSON,
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
  const began = { at: Date.now(), usage: process.cpuUsage() };
  let depth = 0;
  const watch = (): void => {
    if (depth > evaluationDepth) throw new Error('it nests too deep');
    // Asking the clock costs less; what no time has passed for, no processor can have worked on.
    if (Date.now() - began.at > evaluationMs && workedMs(began.usage) > evaluationMs) {
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

function workedMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

/** JSONata makes one with `new`; what a constructor returns is what it gets. */
const RegexEngine = function (expression: RegExp) {
  return linearRegExp(expression);
} as unknown as RegExpConstructor;

/** JSONata's lists carry marks of their own; documents get plain JSON. */
function toPlain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}
