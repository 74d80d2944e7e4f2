import { useMemo } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { chosenWords, columnsOf, type ColumnChoice } from './columns.js';
import { filterOf, searchParamsOf, type ListFilter } from './filter.js';
import { sortOf, sortWords, type ListOrder } from './sort.js';

/** Which jobs are listed, in which order, with which columns. */
type View = {
  readonly filter: ListFilter;
  readonly sort: ListOrder;
  readonly columns: ColumnChoice;
};

/** The list is what the address says; each change can be gone back from. */
export function useAddress() {
  const search = useSearch();
  const [location, navigate] = useLocation();
  const view = useMemo(() => viewOf(search), [search]);
  // What changes late, after a moment of typing, leaves the rest as it is by then.
  const go = (change: Partial<View>): void => {
    const text = searchOf({ ...viewOf(window.location.search), ...change });
    navigate(`${location}${text === '' ? '' : `?${text}`}`);
  };
  return {
    ...view,
    setFilter: (filter: ListFilter) => go({ filter }),
    setSort: (sort: ListOrder) => go({ sort }),
    setColumns: (columns: ColumnChoice) =>
      go({ columns, ...orderWith(viewOf(window.location.search), columns) }),
  };
}

/** An order by a column that is not shown any more ends. */
function orderWith({ sort }: View, columns: ColumnChoice): Pick<View, 'sort'> {
  const shown = ['status', 'id', ...chosenWords(columns)];
  return { sort: sort !== undefined && shown.includes(sort.key) ? sort : undefined };
}

/** The part of an address that stands for a list, always written in the same way. */
export function listSearch(search: string): string {
  return searchOf(viewOf(search));
}

function viewOf(search: string): View {
  const said = new URLSearchParams(search);
  return { filter: filterOf(said), sort: sortOf(said), columns: columnsOf(said) };
}

function searchOf({ filter, sort, columns }: View): string {
  const params = searchParamsOf(filter);
  const words = sortWords(sort);
  if (words !== undefined) params.set('sort', words);
  if (columns !== undefined) params.set('columns', chosenWords(columns).join());
  return params.toString();
}
