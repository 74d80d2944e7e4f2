import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../api.js';
import type { JobList } from '../answers.js';
import { followChanges, type LiveState } from '../live/changes.js';
import { matches, queryOf, searchOf, streamQueryOf, type Filter } from './filter.js';
import { joined, listOf, withBatch, withPage, type List } from './list.js';

/** Jobs of a page; a page is read before somebody scrolls to its end. */
const pageSize = 100;

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
};

/** The jobs of a filter, live. `hold`: whether new ones would disturb somebody now. */
export function useList(filter: Filter, hold: () => boolean): LiveList {
  const key = searchOf(filter).toString();
  const [list, setList] = useState<List>();
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const [live, setLive] = useState<LiveState>('opening');
  const [changes, setChanges] = useState(0);
  const reading = useRef<AbortController>();
  const holds = useRef(hold);
  holds.current = hold;

  const read = useCallback(
    (cursor: string | undefined, take: (page: JobList) => void) => {
      reading.current?.abort();
      const { signal } = (reading.current = new AbortController());
      setLoading(true);
      const query = { ...queryOf(filter), limit: pageSize, cursor };
      get<JobList>('jobs', { query, signal })
        .then((page) => {
          if (signal.aborted) return;
          take(page);
          setError(undefined);
          setLoading(false);
        })
        .catch((problem: unknown) => {
          if (signal.aborted) return;
          setError(problem);
          setLoading(false);
        });
    },
    [key],
  );
  const reload = useCallback(() => read(undefined, (page) => setList(listOf(page))), [read]);

  useEffect(() => {
    setList(undefined);
    setError(undefined);
    reload();
    const end = new AbortController();
    let opened = false;
    followChanges({
      query: streamQueryOf(filter),
      signal: end.signal,
      onState: setLive,
      onMissed: () => {
        // The list was just read when the stream opens for the first time, and what came between
        // is read once more.
        if (opened) setChanges((count) => count + 1);
        opened = true;
        reload();
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
    };
  }, [key]);

  const cursor = list?.cursor;
  const loadMore = useCallback(() => {
    if (cursor === undefined || isLoading) return;
    read(cursor, (page) => setList((before) => before && withPage(before, page)));
  }, [cursor, isLoading, read]);
  const showAbove = useCallback(() => setList((before) => before && joined(before)), []);
  return { list, error, isLoading, live, changes, loadMore, showAbove, reload };
}
