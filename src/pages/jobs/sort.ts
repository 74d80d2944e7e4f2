import { compareValues, type SortValue } from '../../model/sort-values.js';
import { begunAt, type Summary } from '../answers.js';

/** What the list can be sorted by; the same words as those of `tws list --sort`, where it has them. */
export const columnKeys = ['status', 'id', 'flow', 'started', 'took', 'owner'] as const;
export type ColumnKey = (typeof columnKeys)[number];

/** The order of the list; undefined: as it is read, the newest first. */
export type ListOrder = { readonly key: ColumnKey; readonly isReversed: boolean } | undefined;

/** Jobs that are read to be sorted, at most. */
export const mostSorted = 10_000;

/** The order that an address asks for: `sort=took`, `sort=-took`. */
export function sortOf(search: URLSearchParams): ListOrder {
  const text = search.get('sort') ?? '';
  const isReversed = text.startsWith('-');
  const key = columnKeys.find((one) => one === text.slice(Number(isReversed)));
  return key === undefined || (key === 'started' && !isReversed) ? undefined : { key, isReversed };
}

/** The words of an order in an address; undefined: there are none. */
export function sortWords(sort: ListOrder): string | undefined {
  return sort && `${sort.isReversed ? '-' : ''}${sort.key}`;
}

/** Returns the order after a click on a column: its own, then the reverse, then the usual one again. */
export function nextSort(sort: ListOrder, key: ColumnKey): ListOrder {
  if (sort?.key === key) return sort.isReversed ? undefined : { key, isReversed: true };
  // The usual order is by start time.
  return key === 'started' && sort !== undefined
    ? undefined
    : { key, isReversed: key === 'started' };
}

/** What a column is sorted by now, as `aria-sort` says it. */
export function directionOf(
  sort: ListOrder,
  key: ColumnKey,
): 'ascending' | 'descending' | undefined {
  const { key: by, isReversed } = sort ?? { key: 'started', isReversed: false };
  if (by !== key) return undefined;
  return isNumeric(key) === isReversed ? 'ascending' : 'descending';
}

/** Sorts jobs, as `compareValues` says. `now`: epoch ms, for what has not ended. */
export function sorted(jobs: readonly Summary[], sort: ListOrder, now: number): readonly Summary[] {
  if (sort === undefined) return jobs;
  const { key, isReversed } = sort;
  const entries = jobs.map((job) => ({ job, value: valueOf(job, key, now) }));
  return entries
    .toSorted((a, b) => compareValues(a.value, b.value, isReversed))
    .map(({ job }) => job);
}

/** Jobs in the order of these ids; others follow. */
export function inOrder(jobs: readonly Summary[], ids: readonly string[]): readonly Summary[] {
  const places = new Map(ids.map((id, i) => [id, i]));
  const placeOf = ({ id }: Summary): number => places.get(id) ?? ids.length;
  return jobs.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function isNumeric(key: ColumnKey): boolean {
  return key === 'started' || key === 'took';
}

function valueOf(job: Summary, key: ColumnKey, now: number): SortValue {
  const { end = now } = job;
  const start = begunAt(job);
  switch (key) {
    case 'started':
      return start;
    case 'took':
      return start === undefined ? undefined : end - start;
    case 'status':
    case 'id':
    case 'flow':
    case 'owner':
      return job[key];
  }
}
