import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { get } from '../api.js';
import type { JobList } from '../answers.js';
import { followJobs, type LiveState } from '../live/changes.js';
import { matches, filterQuery, searchParamsOf, streamQueryOf, type ListFilter } from './filter.js';
import { joined, firstPageOf, withBatch, withPage, type List } from './list.js';

/** Jobs of the first page, which somebody waits for, and of those that are read while he scrolls. */
const firstSize = 100;
const nextSize = 500;
/** How long what has just been read is shown before it is read again. */
const againMs = 250;

/** A list that keeps itself up to date. */
export type LiveList = {
  readonly list: List | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly live: LiveState;
  /** Changes since the page was opened: whoever shows figures knows when to read them again. */
  readonly changes: number;
  readonly loadMore: () => void;
  readonly showAbove: () => void;
  readonly reload: () => void;
  /** Repeats the reading that failed; until then no older jobs are read. */
  readonly retry: () => void;
};

/** The jobs of a filter, live. `hold`: whether new ones would disturb somebody now. */
export function useList(filter: ListFilter, hold: () => boolean): LiveList {
  const key = searchParamsOf(filter).toString();
  const [list, setList] = useState<List>();
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const [live, setLive] = useState<LiveState>('opening');
  const [changes, setChanges] = useState(0);
  const reading = useRef<AbortController>();
  const isStale = useRef(false);
  const repeat = useRef<() => void>(() => undefined);
  const holds = useRef(hold);
  holds.current = hold;

  const read = useCallback(
    (page: { readonly limit: number; readonly cursor?: string }, take: (page: JobList) => void) => {
      reading.current?.abort();
      const abort = new AbortController();
      const { signal } = abort;
      repeat.current = () => read(page, take);
      reading.current = abort;
      setLoading(true);
      const ended = (act: () => void): void => {
        if (signal.aborted) return;
        reading.current = undefined;
        act();
        setLoading(false);
        // Something was missed while the list was on its way. What somebody waits for is shown first.
        if (isStale.current) setTimeout(readAgain, againMs);
      };
      get<JobList>('jobs', { query: { ...filterQuery(filter), ...page }, signal }).then(
        (answer) =>
          ended(() => {
            take(answer);
            setError(undefined);
          }),
        (problem: unknown) => ended(() => setError(problem)),
      );
    },
    [key],
  );
  const readAgain = (): void => {
    if (isStale.current && reading.current === undefined) reload.current();
  };
  const shown = useRef(0);
  shown.current = list?.jobs.length ?? 0;
  const reload = useRef<() => void>(() => undefined);
  reload.current = () => {
    isStale.current = false;
    const limit = Math.min(nextSize, Math.max(firstSize, shown.current));
    read({ limit }, (page) => setList(firstPageOf(page)));
  };

  // Before the page is painted without it: the first jobs are on their way already.
  useLayoutEffect(() => {
    setList(undefined);
    setError(undefined);
    shown.current = 0;
    reload.current();
    const end = new AbortController();
    followJobs({
      query: streamQueryOf(filter),
      signal: end.signal,
      onState: setLive,
      onMissed: () => {
        setChanges((count) => count + 1);
        if (reading.current === undefined) reload.current();
        else isStale.current = true;
      },
      onBatch: (batch) => {
        setList(
          (before) =>
            before &&
            withBatch(before, batch, {
              wanted: (job) => matches(job, filter),
              hold: holds.current(),
            }),
        );
        setChanges((count) => count + batch.changed.size + batch.removed.size);
      },
    });
    return () => {
      end.abort();
      reading.current?.abort();
      reading.current = undefined;
      isStale.current = false;
    };
  }, [key]);

  const cursor = list?.cursor;
  const loadMore = useCallback(() => {
    if (cursor === undefined || isLoading || error !== undefined) return;
    read({ limit: nextSize, cursor }, (page) =>
      setList((before) => before && withPage(before, page)),
    );
  }, [cursor, isLoading, error, read]);
  // Of very many jobs a page may hold none that was looked for, and others follow.
  const isBare = list !== undefined && list.jobs.length === 0 && cursor !== undefined;
  useEffect(() => {
    if (isBare && !isLoading) loadMore();
  }, [isBare, isLoading, loadMore]);
  const showAbove = useCallback(() => setList((before) => before && joined(before)), []);
  const again = useCallback(() => reload.current(), []);
  const retry = useCallback(() => {
    setError(undefined);
    repeat.current();
  }, []);
  return { list, error, isLoading, live, changes, loadMore, showAbove, reload: again, retry };
}
