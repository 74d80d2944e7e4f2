import type { ComponentProps } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { get } from '../api.js';
import type { Stats } from '../answers.js';
import { LiveWord } from '../live/live-word.js';
import { throttled } from '../live/throttle.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { mayOperate } from '../session/session.js';
import { Bulk } from './bulk.js';
import { ColumnMenu } from './column-menu.js';
import { shownColumns } from './columns.js';
import { isCounted, searchParamsOf, type ListFilter } from './filter.js';
import { FilterBar } from './filter-bar.js';
import { StatusTabs } from './status-tabs.js';
import { inOrder, mostSorted, sorted, type ListOrder } from './sort.js';
import { SavedMenu } from './saved-menu.js';
import { SortChoice } from './sort-choice.js';
import { JobTable } from './table.js';
import { useAddress } from './use-address.js';
import { useList, type LiveList } from './use-list.js';

/** The page of all jobs: live, filtered, to be repaired many at a time. */
export function JobsPage() {
  const { filter, setFilter, sort, setSort, columns, setColumns } = useAddress();
  const shown = useMemo(() => shownColumns(columns), [columns]);
  const { selected, select, clear } = useSelection();
  const box = useRef<HTMLDivElement>(null);
  const hold = (): boolean => selected.size > 0 || (box.current?.scrollTop ?? 0) > 4;
  const listed = useList(filter, hold);
  const { list, error } = listed;
  // What somebody waits for comes first; the rest is read when that is there.
  const isThere = list !== undefined || error !== undefined;
  const counts = useCounts(filter, listed.changes, isThere);
  const flows = useFlowNames(isThere);
  const toTop = (): void => box.current?.scrollTo(0, 0);
  const asked = searchParamsOf(filter).toString();
  // Also when a link or the way back leads to another list.
  useEffect(() => {
    clear();
    toTop();
  }, [asked]);
  const order = (next: ListOrder): void => {
    setSort(next);
    toTop();
  };
  return (
    <div class="jobs-page">
      <PageHead title="Jobs">
        <SavedMenu />
        <ColumnMenu choice={columns} onChoice={setColumns} jobs={list?.jobs ?? []} />
        <LiveWord state={listed.live} />
      </PageHead>
      <StatusTabs
        counts={counts}
        chosen={filter.status}
        onChoose={(status) => setFilter({ ...filter, status })}
      />
      <FilterBar filter={filter} onFilter={setFilter} flows={flows} />
      <SortChoice sort={sort} onSort={order} />
      <Bulk
        selected={selected}
        filter={filter}
        jobs={list?.jobs ?? []}
        onClear={clear}
        onDone={listed.reload}
      />
      {error !== undefined && <ProblemBox error={error} again={listed.retry} />}
      <NewerButton
        count={list?.above.length ?? 0}
        onShow={() => {
          listed.showAbove();
          toTop();
        }}
      />
      <Listed
        {...{ listed, filter, selected, box, sort, hold }}
        columns={shown}
        onSelect={select}
        onSort={order}
      />
    </div>
  );
}

/** The ids of the jobs that are chosen for a bulk action. */
function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback((ids: readonly string[], isSelected: boolean) => {
    setSelected((before) => {
      const after = new Set(before);
      for (const id of ids)
        if (isSelected) after.add(id);
        else after.delete(id);
      return after;
    });
  }, []);
  const clear = useCallback(() => setSelected(new Set()), []);
  return { selected, select, clear };
}

/** Shows the jobs that were held back so that the list does not move. */
function NewerButton({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  if (count === 0) return null;
  return (
    <button type="button" class="above primary" onClick={onShow}>
      Show {count.toLocaleString()} newer
    </button>
  );
}

type ListedProps = Pick<
  ComponentProps<typeof JobTable>,
  'selected' | 'onSelect' | 'box' | 'columns' | 'sort' | 'onSort'
> & {
  readonly listed: LiveList;
  readonly filter: ListFilter;
  readonly hold: () => boolean;
};

/** The jobs, or why there are none to see. */
function Listed({ listed, filter, sort, hold, ...given }: ListedProps) {
  const { list, error, isLoading, loadMore } = listed;
  const jobs = useSorted(listed, sort, hold);
  const [at, setAt] = useState<string>();
  const loading = error === undefined ? <Loading what="jobs" /> : null;
  if (list === undefined) return loading;
  const isWhole = list.cursor === undefined;
  if (list.jobs.length === 0) return isWhole ? <NoJobs filter={filter} /> : loading;
  return (
    <>
      <JobTable
        {...given}
        sort={sort}
        jobs={jobs}
        isWhole={isWhole}
        isLoading={isLoading}
        onEnd={loadMore}
        at={at}
        onAt={setAt}
        mayChoose={mayOperate.value}
      />
      <p class="muted foot" role="status">
        {list.jobs.length.toLocaleString()} {isWhole ? 'jobs' : unfinishedWords(sort)}
        {isLoading && ' …'}
      </p>
    </>
  );
}

function unfinishedWords(sort: ListOrder): string {
  return sort === undefined
    ? 'jobs loaded, older ones follow'
    : 'jobs loaded and sorted; older jobs are not loaded';
}

/**
 * The jobs in their order; they are all read first, as far as they are not too many. `hold`: whether
 * somebody would lose the row that he reads or chooses; rows then stay where they are.
 */
function useSorted(
  { list, error, isLoading, loadMore }: LiveList,
  sort: ListOrder,
  hold: () => boolean,
) {
  const before = useRef<{ readonly sort: ListOrder; readonly ids: readonly string[] }>();
  const isOpen = list?.cursor !== undefined && list.jobs.length < mostSorted;
  const jobs = useMemo(() => {
    const { sort: last, ids = [] } = before.current ?? {};
    const isKept = sort !== undefined && last === sort && !isOpen && hold();
    const read = list?.jobs ?? [];
    const next = isKept ? inOrder(read, ids) : sorted(read, sort, Date.now());
    before.current = { sort, ids: next.map(({ id }) => id) };
    return next;
  }, [list, sort, isOpen]);
  useEffect(() => {
    if (sort !== undefined && isOpen && !isLoading && error === undefined) loadMore();
  }, [sort, isOpen, isLoading, error, loadMore]);
  return jobs;
}

function NoJobs({ filter }: { readonly filter: ListFilter }) {
  const asked = searchParamsOf(filter).toString() !== '';
  return (
    <div class="box empty">
      {asked ? (
        <p>No job matches. Remove a filter, or wait: the list is live.</p>
      ) : (
        <p>
          There are no jobs yet. Submit one from the page of <Link href="/flows">a flow</Link>, or
          with <code>tws submit FLOW</code>. The <Link href="/">overview</Link> says what comes
          first.
        </p>
      )}
    </div>
  );
}

/** Counts are read again while jobs change, but not more often than this, ms. */
const countsMs = 3_000;

function useCounts(filter: ListFilter, changes: number, isWanted: boolean) {
  const owner = filter.owner ?? '';
  const { value, reload } = useLoaded(`counts of ${owner} ${isWanted}`, async (signal) =>
    isWanted ? get<Stats>('stats', { query: { owner }, signal }) : undefined,
  );
  const soon = useMemo(() => throttled(reload, countsMs), [reload]);
  useEffect(() => {
    if (changes > 0) soon.ask();
  }, [changes, soon]);
  useEffect(() => soon.stop, [soon]);
  return isCounted(filter) ? value?.jobs : undefined;
}

function useFlowNames(isWanted: boolean): readonly string[] {
  const { value } = useLoaded(`flows ${isWanted}`, async (signal) =>
    isWanted
      ? get<{ readonly flows: readonly { readonly name: string }[] }>('flows', { signal })
      : undefined,
  );
  return [...new Set((value?.flows ?? []).map(({ name }) => name))].toSorted();
}
