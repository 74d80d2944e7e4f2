import { isObject } from '../../model/object.js';

/** How far a step is: its share in percent, where it tells one, and what it says besides. */
export type ReadProgress = { readonly share: number | undefined; readonly words: string };

/**
 * Reads what a step says of its progress: a number, a text, or an object with `percent`, or `done` and
 * `total`. Engines keep such an object as JSON text.
 */
export function readProgress(value: unknown): ReadProgress {
  if (typeof value === 'number') {
    const share = value > 0 && value < 1 ? value * 100 : inPercent(value);
    return { share, words: share === undefined ? String(value) : '' };
  }
  const told = typeof value === 'string' ? objectIn(value) : value;
  if (!isObject(told)) return { share: undefined, words: textOfProgress(value) };
  const { percent, done, total, ...others } = told;
  if (typeof percent === 'number') return ofShare(percent, others, value);
  const isPart = typeof done === 'number' && typeof total === 'number' && total > 0;
  return isPart
    ? ofShare((done / total) * 100, { done: `${done} of ${total}`, ...others }, value)
    : { share: undefined, words: textOfProgress(value) };
}

function ofShare(percent: number, others: Record<string, unknown>, value: unknown): ReadProgress {
  const share = inPercent(percent);
  if (share === undefined) return { share, words: textOfProgress(value) };
  const words = Object.entries(others).map(([name, one]) => `${name}: ${textOfProgress(one)}`);
  return { share, words: words.join(', ') };
}

function inPercent(value: number): number | undefined {
  return value >= 0 && value <= 100 ? value : undefined;
}

function textOfProgress(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The object that a text is the JSON of; undefined: it is another text. */
function objectIn(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
