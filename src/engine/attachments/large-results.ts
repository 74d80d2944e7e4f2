import type { Outcome } from '../../decide/finish/outcome.js';
import { mostResultBytes, type BigResult } from '../../model/big-result.js';

/** The outcome of an attempt, ready to be settled: a large result goes into an attachment. */
export function withBigResult(outcome: Outcome): Outcome {
  if (outcome.kind !== 'done' || outcome.big !== undefined) return outcome;
  const big = bigResult(outcome.result);
  return big === undefined ? outcome : { ...outcome, big };
}

/** A result in the form of an attachment; undefined when it is small enough for the document. */
export function bigResult(result: unknown): BigResult | undefined {
  if (upperBound(result, mostResultBytes) <= mostResultBytes) return undefined;
  const json = Buffer.from(JSON.stringify(result));
  if (json.length <= mostResultBytes) return undefined;
  return { bytes: json.length, data: json.toString('base64') };
}

/** In JSON one unit of a text takes six bytes at the most (`\u0001`); a number is never so long. */
const longestUnit = 6;
const longestNumber = 25;

/**
 * How long the JSON of a value is at the most, without making it: most results are small, and that is
 * all that has to be known of them. Counting stops beyond `enough`.
 */
function upperBound(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length * longestUnit + 2;
  if (typeof value !== 'object' || value === null) return longestNumber;
  let sum = 2;
  for (const [key, inner] of Object.entries(value)) {
    sum += key.length * longestUnit + 4 + upperBound(inner, enough - sum);
    if (sum > enough) return sum;
  }
  return sum;
}
