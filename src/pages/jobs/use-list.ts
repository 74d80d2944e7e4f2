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
  const { begin, end, missed, setList, ...pages } = usePages(filter, key);
  const [live, setLive] = useState<LiveState>('opening');
  const [changes, setChanges] = useState(0);
  const holds = useRef(hold);
  holds.current = hold;

  // Before the page is painted without it: the first jobs are on their way already.
  useLayoutEffect(() => {
    begin();
    const following = new AbortController();
    followJobs({
      query: streamQueryOf(filter),
      signal: following.signal,
      onState: setLive,
      onMissed: () => {
        setChanges((count) => count + 1);
        missed();
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
      following.abort();
      end();
    };
  }, [key]);
  return { ...pages, live, changes };
}

/** The list as its pages tell it: the first one when the list begins, older ones on demand. */
function usePages(filter: ListFilter, key: string) {
  const [list, setList] = useState<List>();
  const shown = useRef(0);
  shown.current = list?.jobs.length ?? 0;
  const isStale = useRef(false);
  const reload = useRef<() => void>(() => undefined);
  const reading = usePageReader(filter, key, () => {
    // Something was missed while the list was on its way. What somebody waits for is shown first.
    if (isStale.current) setTimeout(readAgain, againMs);
  });
  const readAgain = (): void => {
    if (isStale.current && !reading.isUnderWay()) reload.current();
  };
  reload.current = () => {
    isStale.current = false;
    const limit = Math.min(nextSize, Math.max(firstSize, shown.current));
    reading.read({ limit }, (page) => setList(firstPageOf(page)));
  };
  const begin = (): void => {
    setList(undefined);
    reading.clear();
    shown.current = 0;
    reload.current();
  };
  const end = (): void => {
    reading.stop();
    isStale.current = false;
  };
  const missed = (): void => {
    if (reading.isUnderWay()) isStale.current = true;
    else reload.current();
  };

  const loadMore = useOlder(list, reading, setList, isStale);
  const showAbove = useCallback(() => setList((before) => before && joined(before)), []);
  const again = useCallback(() => reload.current(), []);
  return {
    list,
    setList,
    error: reading.error,
    isLoading: reading.isLoading,
    retry: reading.retry,
    reload: again,
    begin,
    end,
    missed,
    loadMore,
    showAbove,
  };
}

type PageReader = ReturnType<typeof usePageReader>;
type Change = (change: (before: List | undefined) => List | undefined) => void;

/** Reads older jobs when they are asked for, and by itself while a page held none. */
function useOlder(
  list: List | undefined,
  reading: PageReader,
  change: Change,
  isStale: { readonly current: boolean },
): () => void {
  const { error, isLoading, isUnderWay, read } = reading;
  const cursor = list?.cursor;
  const loadMore = useCallback(() => {
    // An effect of a list that was left may call this late: what is under way is not cut off.
    if (cursor === undefined || error !== undefined || isUnderWay() || isStale.current) return;
    read({ limit: nextSize, cursor }, (page) =>
      change((before) => before && withPage(before, page)),
    );
  }, [cursor, error, read]);
  // Of very many jobs a page may hold none that was looked for, and others follow.
  const isBare = list !== undefined && list.jobs.length === 0 && cursor !== undefined;
  useEffect(() => {
    if (isBare && !isLoading) loadMore();
  }, [isBare, isLoading, loadMore]);
  return loadMore;
}

type Page = { readonly limit: number; readonly cursor?: string };

/** Reads one page at a time: a new reading aborts the one before. `onEnded` may use refs only. */
function usePageReader(filter: ListFilter, key: string, onEnded: () => void) {
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const current = useRef<AbortController>();
  const repeat = useRef<() => void>(() => undefined);
  const read = useCallback(
    (page: Page, take: (page: JobList) => void) => {
      current.current?.abort();
      const abort = new AbortController();
      const { signal } = abort;
      repeat.current = () => read(page, take);
      current.current = abort;
      setLoading(true);
      const ended = (act: () => void): void => {
        if (signal.aborted) return;
        current.current = undefined;
        act();
        setLoading(false);
        onEnded();
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
  const retry = useCallback(() => {
    setError(undefined);
    repeat.current();
  }, []);
  const stop = (): void => {
    current.current?.abort();
    current.current = undefined;
  };
  const isUnderWay = (): boolean => current.current !== undefined;
  return { error, isLoading, read, retry, stop, isUnderWay, clear: () => setError(undefined) };
}
