import { statuses, type Status } from '../model/status.js';
import type { JobCounts, Span } from '../model/summary.js';
import type { Store } from '../store/store.js';
import type { Figures } from '../store/views.js';

export const spanUnits = ['minute', 'hour', 'day'] as const;
export type SpanUnit = (typeof spanUnits)[number];

/** Lengths of the spans in ms. */
export const spanMs: Readonly<Record<SpanUnit, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** So the view calls all owners together. */
const everybody = '';

/** How many jobs there are; `owners`: of these only. */
export async function countJobs(store: Store, owners?: readonly string[]): Promise<JobCounts> {
  const counts = Object.fromEntries(statuses.map((one) => [one, 0])) as Record<Status, number>;
  for (const owner of owners ?? [everybody]) {
    const query = { startKey: [owner], endKey: [owner, {}], groupLevel: 2 };
    for (const { key, value } of await store.view('figures', query)) {
      counts[key[1] as Status] += value.count;
    }
  }
  return counts;
}

export type SpanQuery = {
  /** Epoch ms; the spans that hold them are whole. */
  readonly from: number;
  readonly to: number;
  readonly unit: SpanUnit;
  readonly owners?: readonly string[] | undefined;
};

const ended = ['succeeded', 'failed', 'cancelled'] as const;
type Ended = (typeof ended)[number];

/** What ended when: a span for each minute, hour or day from `from` to `to`, the oldest first. */
export async function jobSpans(store: Store, query: SpanQuery): Promise<readonly Span[]> {
  const { unit, owners = [everybody] } = query;
  const length = spanMs[unit];
  const from = Math.floor(query.from / length) * length;
  const to = (Math.floor(query.to / length) + 1) * length - 1;
  const tallies = new Map<number, Tally>();
  for (let at = from; at <= to; at += length) tallies.set(at, emptyTally());
  for (const owner of owners) {
    for (const status of ended) {
      const between = {
        startKey: [owner, status, ...timeKey(from)],
        endKey: [owner, status, ...timeKey(to), {}],
        groupLevel: 3 + spanUnits.toReversed().indexOf(unit),
      };
      for (const { key, value } of await store.view('figures', between)) {
        const tally = tallies.get(Number(key.at(-1)) * length);
        if (tally !== undefined) add(tally, status, value);
      }
    }
  }
  return [...tallies].map(([at, tally]) => toSpan(at, tally));
}

/** Day, hour and minute since 1970. */
function timeKey(at: number): readonly number[] {
  return spanUnits.toReversed().map((unit) => Math.floor(at / spanMs[unit]));
}

type Tally = Record<Ended, number> & { sum: number; min: number; max: number };

function emptyTally(): Tally {
  return { succeeded: 0, failed: 0, cancelled: 0, sum: 0, min: Infinity, max: 0 };
}

function add(tally: Tally, status: Ended, { count, sum, min, max }: Figures): void {
  tally[status] += count;
  tally.sum += sum;
  tally.min = Math.min(tally.min, min);
  tally.max = Math.max(tally.max, max);
}

function toSpan(at: number, tally: Tally): Span {
  const { succeeded, failed, cancelled, sum, min, max } = tally;
  const count = succeeded + failed + cancelled;
  const ms = count === 0 ? {} : { ms: { mean: Math.round(sum / count), min, max } };
  return { at, succeeded, failed, cancelled, ...ms };
}
