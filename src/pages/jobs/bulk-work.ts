import { useEffect, useState } from 'preact/hooks';
import { get, send } from '../api.js';
import { shownStatuses, type BulkRequested, type JobList, type Stats } from '../answers.js';
import { isCounted, filterQuery, type ListFilter } from './filter.js';

export type Action = 'retry' | 'cancel';

/** What is asked of which jobs: of those with these ids, or of all that a filter finds. */
export type BulkRequest = {
  readonly action: Action;
  readonly chosen: ListFilter | readonly string[];
  readonly reason: string | undefined;
};

/** How far it is, and what became of the jobs so far. */
export type BulkCounts = {
  /** How many there are; while they are looked for, how many were found. */
  readonly total: number;
  readonly isLooking: boolean;
  readonly applied: number;
  readonly stored: number;
  readonly refused: number;
  readonly refusals: readonly BulkRequested['results'][number][];
  /** Those that were not asked yet; undefined while it is not known which they are. */
  readonly left?: readonly string[];
};

/** Jobs of one request: few enough to see how it goes on. */
const together = 200;
/** Jobs of one page of a search; the API gives no more. */
const page = 500;
/** So many refusals are kept to be shown. */
const mostRefusals = 100;

const open = ['queued', 'scheduled', 'running', 'waiting', 'paused'] as const;

/** The filter for the jobs of which it can be asked. */
function askable(action: Action, filter: ListFilter): ListFilter {
  const able: ListFilter['status'] = action === 'retry' ? ['failed'] : open;
  const given = filter.status.length === 0 ? shownStatuses : filter.status;
  return { ...filter, status: able.filter((one) => given.includes(one)) };
}

/**
 * Asks all jobs, part by part, and tells after each how far it is. All of them are looked up first: so
 * none is asked twice, whether engines are slow or none runs. Ends early when `signal` aborts; asked
 * again it goes on with those that are left.
 */
export async function requestAll(
  { action, chosen, reason }: BulkRequest,
  signal: AbortSignal,
  { tell, before = nothingDone }: BulkListener,
): Promise<void> {
  let done = before;
  const found = before.left ?? (isIds(chosen) ? chosen : undefined);
  const ids =
    found ??
    (await idsOf(askable(action, chosen as ListFilter), signal, (total) =>
      tell({ ...done, total }),
    ));
  // Stopped while it looked for them: nothing was asked.
  if (found === undefined && signal.aborted) return;
  const total = before.left === undefined ? ids.length : before.total;
  done = { ...done, total, isLooking: false, left: ids };
  tell(done);
  const about = reason === undefined ? {} : { reason };
  let wait = '2s';
  for (let from = 0; from < ids.length && !signal.aborted; from += together) {
    const part = ids.slice(from, from + together);
    // What was sent is sent: only what comes after it is left out.
    const one = await send<BulkRequested>('POST', `jobs/${action}`, { ids: part, wait, ...about });
    const bad = one.results.filter(({ outcome }) => outcome === 'refused');
    // No engine takes them at the moment: they are stored, and nobody waits.
    if (one.applied === 0 && one.stored > 0) wait = '0s';
    done = {
      ...done,
      applied: done.applied + one.applied,
      stored: done.stored + one.stored,
      refused: done.refused + one.refused,
      refusals: [...done.refusals, ...bad].slice(0, mostRefusals),
      left: ids.slice(from + together),
    };
    tell(done);
  }
}

/** Hears how far it is; `before`: how far it was when it was stopped. */
type BulkListener = {
  readonly tell: (progress: BulkCounts) => void;
  readonly before?: BulkCounts | undefined;
};

const nothingDone: BulkCounts = {
  ...{ total: 0, isLooking: true, applied: 0, stored: 0, refused: 0 },
  refusals: [],
};

const isIds = (chosen: BulkRequest['chosen']): chosen is readonly string[] => Array.isArray(chosen);

async function idsOf(
  filter: ListFilter,
  signal: AbortSignal,
  tell: (found: number) => void,
): Promise<readonly string[]> {
  const ids: string[] = [];
  if (filter.status.length === 0) return ids;
  let cursor: string | undefined;
  do {
    const query = { ...filterQuery(filter), limit: page, cursor };
    const found: JobList = await get<JobList>('jobs', { query });
    ids.push(...found.jobs.map(({ id }) => id));
    cursor = found.cursor;
    tell(ids.length);
  } while (cursor !== undefined && !signal.aborted);
  return signal.aborted ? [] : ids;
}

/** How many jobs it would be; undefined while that is not known, and where nobody counts them. */
export function useCount(action: Action, filter: ListFilter | undefined): number | undefined {
  const [count, setCount] = useState<number>();
  useEffect(() => {
    if (filter === undefined || !isCounted(filter)) return undefined;
    const left = new AbortController();
    const query = { owner: filter.owner };
    get<Stats>('stats', { query, signal: left.signal }).then(
      ({ jobs }) => {
        const { status } = askable(action, filter);
        setCount(status.reduce((sum, one) => sum + jobs[one], 0));
      },
      // The number is a help only: without it all that are found are asked.
      () => undefined,
    );
    return () => left.abort();
  }, [action, filter]);
  return count;
}
