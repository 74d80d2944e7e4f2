import type { Wait } from '../intent.js';

/** So many reasons to wait are named. */
const namedReasons = 3;

/** Combines several waits into one: until the first of their times, asleep if all of them are. */
export function mergeWaits(waits: readonly Wait[]): Wait {
  const [first] = waits;
  if (first === undefined) return { kind: 'wait', because: 'Nothing can be done now.' };
  if (waits.length === 1) return first;
  const reasons = [...new Set(waits.map(({ because }) => because))];
  const more = reasons.length > namedReasons ? ` (${reasons.length - namedReasons} more)` : '';
  const until = earliest(waits.map((wait) => wait.until ?? Infinity));
  const forSlot = waits.filter((wait) => wait.for === 'slot');
  const forEngine = waits.some((wait) => wait.for === 'engine');
  const forPermit = waits.every((wait) => wait.for === 'permit');
  const lines = new Map(waits.flatMap((wait) => wait.lines ?? []).map((one) => [one.key, one]));
  const forRate = waits.some((wait) => wait.for === 'rate');
  const rank = earliest(forSlot.map((wait) => wait.rank ?? 0));
  // Any slot will do when one of them lacks nothing else.
  const lacking = forSlot.flatMap(({ tasks }) => (tasks === undefined ? [] : [tasks]));
  const tasks = lacking.length < forSlot.length ? {} : { tasks: lacking.flat() };
  return {
    kind: 'wait',
    because: `${reasons.slice(0, namedReasons).join(' ')}${more}`,
    ...(until === Infinity ? {} : { until }),
    ...ofAll(waits),
    ...(forSlot.length > 0 ? { for: 'slot', rank, ...tasks } : {}),
    ...(forSlot.length === 0 && forEngine ? { for: 'engine' } : {}),
    ...(forSlot.length === 0 && !forEngine && forRate ? { for: 'rate' } : {}),
    ...(forPermit ? { for: 'permit' } : {}),
    ...(lines.size === 0 ? {} : { lines: [...lines.values()] }),
  };
}

/** What holds for the whole when it holds for each of them. */
function ofAll(waits: readonly Wait[]): Pick<Wait, 'asleep' | 'unserved'> {
  return {
    ...(waits.every(({ asleep }) => asleep) ? { asleep: true } : {}),
    ...(waits.every(({ unserved }) => unserved) ? { unserved: true } : {}),
  };
}

/** Of any number of values: `Math.min` takes only so many. */
function earliest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity);
}
