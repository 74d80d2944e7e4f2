import type { Outcome } from '../../decide/finish/outcome.js';
import { BigResult, mostResultBytes } from '../../model/big-result.js';
import { jsonPieces } from '../../model/json-pieces.js';
import { takeTurns } from '../../turns.js';

/**
 * The outcome of an attempt, ready to be settled: a large result goes into an attachment. However large
 * it is, the event loop goes on meanwhile.
 */
export async function withBigResult(outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== 'done' || outcome.big !== undefined) return outcome;
  if (longestOf(outcome.result, mostResultBytes) <= mostResultBytes) return outcome;
  const big = bigOf(outcome.result, await takeTurns(countBytes(outcome.result)));
  return big === undefined ? outcome : { ...outcome, big };
}

/**
 * A result in the form of an attachment; undefined when it is small enough for the document. It is
 * measured at once: for what came in a document, and is no longer than one.
 */
export function bigResult(result: unknown): BigResult | undefined {
  if (longestOf(result, mostResultBytes) <= mostResultBytes) return undefined;
  const counting = countBytes(result);
  for (;;) {
    const { done, value } = counting.next();
    if (done === true) return bigOf(result, value);
  }
}

function bigOf(result: unknown, bytes: number): BigResult | undefined {
  return bytes <= mostResultBytes ? undefined : new BigResult(result, bytes);
}

function* countBytes(result: unknown): Generator<void, number, undefined> {
  let bytes = 0;
  for (const piece of jsonPieces(result)) {
    bytes += Buffer.byteLength(piece);
    yield;
  }
  return bytes;
}

/** In JSON one unit of a text takes six bytes at the most (`\u0001`); a number is never so long. */
const longestUnit = 6;
const longestNumber = 25;

/**
 * How long the JSON of a value is at the most, without making it: most results are small, and that is
 * all that has to be known of them. Counting stops beyond `enough`.
 */
function longestOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length * longestUnit + 2;
  if (typeof value !== 'object' || value === null) return longestNumber;
  let sum = 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && sum <= enough; i += 1) {
      sum += 1 + longestOf(value[i], enough - sum);
    }
    return sum;
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    sum += key.length * longestUnit + 4 + longestOf(inner, enough - sum);
    if (sum > enough) return sum;
  }
  return sum;
}
