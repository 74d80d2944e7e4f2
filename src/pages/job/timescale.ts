import { lengthOf } from '../../words.js';

/** A long wait that the axis cuts short. Times are epoch ms. */
export type Break = { readonly from: number; readonly to: number };

/** Where moments are on an axis. */
export type Timescale = {
  /** 0: the left end, 1: the right one. */
  readonly place: (at: number) => number;
  readonly breaks: readonly Break[];
  /** Length of what is shown in full, ms. */
  readonly shownMs: number;
};

/** What a break takes of the whole axis. */
const breakShare = 0.05;
/** Shorter times are never cut, ms. */
const leastMs = 1_000;
/** A few at the most: an axis of breaks alone tells nothing. */
const mostBreaks = 6;

/**
 * Returns an axis from one moment to another. Times in which nothing ran are cut short where each of them is longer
 * than all that is left: beside one long wait, or several of the same length, short steps would not be seen.
 * `busy`: when something ran; `marks`: other moments that count.
 */
export function timescaleOf(
  [from, to]: readonly [number, number],
  busy: readonly (readonly [number, number])[],
  marks: readonly number[] = [],
): Timescale {
  const breaks = longestIdle([from, to], idleTimes([from, to], busy, marks));
  const cut = breaks.reduce((sum, one) => sum + one.to - one.from, 0);
  const shownMs = Math.max(1, to - from - cut);
  const share = 1 - breaks.length * breakShare;
  const place = (at: number): number => {
    const moment = Math.min(to, Math.max(from, at));
    let [ms, extra] = [moment - from, 0];
    for (const one of breaks) {
      if (moment <= one.from) continue;
      const inside = Math.min(moment, one.to) - one.from;
      ms -= inside;
      extra += (inside / (one.to - one.from)) * breakShare;
    }
    return (ms / shownMs) * share + extra;
  };
  return { place, breaks, shownMs };
}

/** Times between two moments in which nothing ran. */
function idleTimes(
  [from, to]: readonly [number, number],
  busy: readonly (readonly [number, number])[],
  marks: readonly number[],
): readonly Break[] {
  const points = marks.map((at) => [at, at] as const);
  const all = [...busy, ...points, [to, to] as const].toSorted((a, b) => a[0] - b[0]);
  const idle: Break[] = [];
  let last = from;
  for (const [begin, end] of all) {
    if (begin > last) idle.push({ from: last, to: Math.min(begin, to) });
    last = Math.max(last, end);
  }
  return idle;
}

function longestIdle(
  [from, to]: readonly [number, number],
  idle: readonly Break[],
): readonly Break[] {
  const lengthOfOne = (one: Break): number => one.to - one.from;
  const longest = idle
    .filter((one) => lengthOfOne(one) >= leastMs)
    .toSorted((a, b) => lengthOfOne(b) - lengthOfOne(a))
    .slice(0, mostBreaks);
  let rest = to - from;
  const counts = longest.map((one, i) => {
    rest -= lengthOfOne(one);
    return lengthOfOne(one) >= rest ? i + 1 : 0;
  });
  return longest.slice(0, Math.max(0, ...counts)).toSorted((a, b) => a.from - b.from);
}

/** A moment that is named on the axis: epoch ms, and the time since its left end. */
export type TimeMark = { readonly at: number; readonly text: string };

/** Lengths between two marks of an axis of time, ms. */
export const roundLengths: readonly number[] = [
  ...[10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168].map((hours) => hours * 3_600_000),
];

/** Returns the marks of an axis that is `zoom` times as wide as the page; a break has none. */
export function marksIn(
  { breaks, shownMs }: Timescale,
  [from, to]: readonly [number, number],
  zoom: number,
): readonly TimeMark[] {
  const every = roundLengths.find((one) => shownMs / one <= 6 * zoom) ?? shownMs / 5;
  const begins = [from, ...breaks.map((one) => one.to)];
  const ends = [...breaks.map((one) => one.from), to];
  return begins.flatMap((begin, i) => {
    // Where the words are too coarse, marks count from the end of the break, which the break names.
    const isSince = i > 0 && !isToldApart(begin - from, every);
    const origin = isSince ? begin : from;
    const first = i === 0 ? 0 : Math.floor((begin - origin) / every) + 1;
    const last = Math.floor(((ends[i] ?? to) - origin) / every);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => {
      const ms = (first + k) * every;
      return { at: origin + ms, text: `${isSince ? '+' : ''}${markText(ms, every)}` };
    });
  });
}

/** A text on the axis, and where its box begins and ends, px. */
export type AxisLabel<T> = {
  readonly of: T;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** It stands before its place instead of behind it, since there is no room to the right. */
  readonly isBefore: boolean;
};

/** About the width of a character of the axis, and what is around a text, px. */
const characterPx = 7;
const aroundPx = 8;

/** Returns the box of a text at a place (0 to 1) of an axis that is `width` px wide. */
export function axisLabel<T>(of: T, text: string, place: number, width: number): AxisLabel<T> {
  const at = place * width;
  const length = text.length * characterPx + aroundPx;
  const isBefore = at + length > width;
  return { of, text, from: isBefore ? at - length : at, to: isBefore ? at : at + length, isBefore };
}

/** Returns those of the labels, in their order, that cover neither one before them nor one of `others`. */
export function withRoom<T>(
  labels: readonly AxisLabel<T>[],
  others: readonly AxisLabel<unknown>[] = [],
): readonly AxisLabel<T>[] {
  const shown: AxisLabel<T>[] = [];
  for (const one of labels) {
    const isFree = [...others, ...shown].every(({ from, to }) => one.to <= from || one.from >= to);
    if (isFree && one.from >= 0) shown.push(one);
  }
  return shown;
}

/** Marks that are close together are told apart. */
function markText(ms: number, every: number): string {
  if (ms === 0) return '0';
  return every < 1_000 && ms < 60_000 && ms >= 100
    ? `${Number((ms / 1_000).toFixed(2))} s`
    : lengthOf(ms);
}

/** Whether the words for so many ms, and for one step more, differ: long times have no seconds. */
function isToldApart(ms: number, every: number): boolean {
  return markText(ms, every) !== markText(ms + every, every);
}
