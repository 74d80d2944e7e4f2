import type { StoredDocument } from '../model/document.js';
import { compareValues, type SortValue } from '../model/sort-values.js';
import { jobFacts, type JobFacts } from './jobs.js';

/** What lists of jobs can be sorted by. */
export const sortKeys = ['started', 'ended', 'took', 'flow', 'status'] as const;
type SortKey = (typeof sortKeys)[number];

/** An order of jobs. The searches give `started` by themselves; any other takes reading all jobs. */
export type JobOrder = { readonly key: SortKey; readonly isReversed: boolean };

/** Reads `took` or `-took`; undefined for a key that does not exist. */
export function jobOrderOf(text: string): JobOrder | undefined {
  const isReversed = text.startsWith('-');
  const key = sortKeys.find((one) => one === (isReversed ? text.slice(1) : text));
  return key === undefined ? undefined : { key, isReversed };
}

/** Whether a search, newest first, is in this order. */
export function isSearchOrder({ key, isReversed }: JobOrder): boolean {
  return key === 'started' && !isReversed;
}

/** The jobs that are added are sorted; `first` returns the first `most` of them. */
export type JobSorter = {
  readonly add: (job: StoredDocument) => void;
  readonly first: () => readonly StoredDocument[];
  /** Number of jobs that were added. */
  readonly count: () => number;
};

/** Keeps the first `most` jobs in an order, and never many more. */
export function createJobSorter(order: JobOrder, most: number, now: number): JobSorter {
  type Entry = { readonly job: StoredDocument; readonly facts: JobFacts };
  let kept: Entry[] = [];
  let count = 0;
  const cut = (): void => {
    const { key, isReversed } = order;
    const valueIn = ({ facts }: Entry) => valueOf(facts, key);
    kept = kept
      .toSorted((a, b) => compareValues(valueIn(a), valueIn(b), isReversed))
      .slice(0, most);
  };
  return {
    add: (job) => {
      count += 1;
      kept.push({ job, facts: jobFacts(job, now) });
      if (kept.length >= 2 * most + 1_000) cut();
    },
    first: () => {
      cut();
      return kept.map(({ job }) => job);
    },
    count: () => count,
  };
}

function valueOf(facts: JobFacts, key: SortKey): SortValue {
  switch (key) {
    case 'started':
      return momentOf(facts.start);
    case 'ended':
      return momentOf(facts.end);
    case 'took':
      return facts.took_ms;
    case 'flow':
      return facts.key;
    case 'status':
      return facts.status;
  }
}

const momentOf = (iso: string | undefined): number | undefined =>
  iso === undefined ? undefined : Date.parse(iso);
