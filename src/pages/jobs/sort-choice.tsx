import { sortOf, sortWords, type ListOrder } from './sort.js';

/** The orders that a phone offers, where the list has no heads of columns. */
const orders = [
  ['', 'newest first'],
  ['-started', 'oldest first'],
  ['took', 'longest first'],
  ['-took', 'shortest first'],
  ['flow', 'by flow'],
  ['-flow', 'by flow, reversed'],
  ['status', 'by status'],
  ['-status', 'by status, reversed'],
  ['id', 'by id'],
  ['-id', 'by id, reversed'],
  ['owner', 'by owner'],
  ['-owner', 'by owner, reversed'],
] as const;

type Props = { readonly sort: ListOrder; readonly onSort: (sort: ListOrder) => void };

/** Chooses the order of the jobs on a narrow screen. */
export function SortChoice({ sort, onSort }: Props) {
  return (
    <div class="sort-choice">
      <select
        aria-label="Order of the jobs"
        value={sortWords(sort) ?? ''}
        onChange={({ currentTarget }) =>
          onSort(sortOf(new URLSearchParams({ sort: currentTarget.value })))
        }
      >
        {orders.map(([words, name]) => (
          <option key={words} value={words}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
