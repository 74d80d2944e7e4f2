import { readlinkSync } from 'node:fs';
import type { Calculated, Calculation } from '../plugin/calculations.js';
import { evaluateHere } from '../plugin/expression.js';
import { createMemo } from '../memo.js';
import { compileParams, type ParamsCheck } from '../plugin/params.js';
import { readSchema } from './schemas.js';

/** So many compiled schemas of plugins are kept. */
const kept = 100;
const paramsChecks = createMemo<ParamsCheck>(kept);

/** What a pool has its threads do: one calculation. The number of this thread is written into `thread`. */
export default async function calculateHere({
  calculation,
  thread,
}: {
  readonly calculation: Calculation;
  readonly thread: Int32Array;
}): Promise<Calculated> {
  Atomics.store(thread, 0, threadNumber());
  try {
    return { ok: true, value: await valueOf(calculation) };
  } catch (error) {
    return { ok: false, error: plainError(error) };
  }
}

async function valueOf(calculation: Calculation): Promise<unknown> {
  switch (calculation.kind) {
    case 'expression':
      return evaluateHere(calculation.expression, calculation.data);
    case 'schema': {
      const read = readSchema(calculation.schema);
      const { value, of } = calculation;
      return read.ok ? { ok: true, problems: read.problemsOf(value, of) } : read;
    }
    case 'params':
      return paramsCheck(calculation.schema)(calculation.params);
  }
}

function paramsCheck(schema: Readonly<Record<string, unknown>>): ParamsCheck {
  return paramsChecks(JSON.stringify(schema), () => compileParams(schema));
}

/** What of an error can be sent: JSONata's are objects with a code and a place. */
function plainError(error: unknown): Readonly<Record<string, unknown>> {
  const { message, ...more } = error as Error;
  const plain = Object.entries(more).filter(([, value]) => typeof value !== 'object');
  return { ...Object.fromEntries(plain), message: String(message ?? error) };
}

/** The number of this thread on Linux; negative on other systems. */
function threadNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return -1;
  }
}
