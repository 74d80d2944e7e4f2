import type { RefObject } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Summary } from '../answers.js';
import { useKeys } from '../keys/keys.js';
import { useMedia } from '../parts/use-media.js';
import { Cell } from './cells.js';
import { leastWidth, tracks, type JobColumn } from './columns.js';
import { directionOf, nextSort, type ListOrder, type ColumnKey } from './sort.js';
import { useVirtual } from './use-virtual.js';

type Props = {
  readonly jobs: readonly Summary[];
  readonly isWhole: boolean;
  readonly isLoading: boolean;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (ids: readonly string[], selected: boolean) => void;
  readonly onEnd: () => void;
  readonly box: RefObject<HTMLDivElement>;
  /** The job that the keys are at. */
  readonly at: string | undefined;
  readonly onAt: (id: string) => void;
  readonly mayChoose: boolean;
  readonly columns: readonly JobColumn[];
  readonly sort: ListOrder;
  readonly onSort: (sort: ListOrder) => void;
};

const rowHeight = 44;
/** On a phone a row is a card. */
const cardHeight = 92;

/** The jobs, of which only those in view are in the document. */
export function JobTable(props: Props) {
  const { jobs, isWhole, isLoading, selected, onSelect, onEnd, box, at, onAt, mayChoose } = props;
  const { columns, sort, onSort } = props;
  const isNarrow = useMedia('(max-width: 48rem)');
  const { rows, height, show } = useVirtual({
    count: jobs.length,
    rowHeight: isNarrow ? cardHeight : rowHeight,
    element: () => box.current,
  });
  const last = rows.at(-1)?.index ?? 0;
  if (!isWhole && !isLoading && last > jobs.length - 25) queueMicrotask(onEnd);
  useRowKeys({ jobs, at, onAt, show, onSelect, selected, mayChoose });
  return (
    <div
      class={`jobs-table ${mayChoose ? 'choosing' : ''}`}
      role="grid"
      aria-label="Jobs"
      aria-rowcount={isWhole ? jobs.length + 1 : -1}
      aria-multiselectable={mayChoose}
      style={{ '--columns': tracks(columns), '--least-width': `${leastWidth(columns)}rem` }}
    >
      <HeadRow {...{ jobs, columns, selected, onSelect, mayChoose, sort, onSort }} />
      <div class="rows" role="rowgroup" ref={box} tabIndex={0} aria-label="Rows">
        <div class="rows-inner" role="presentation" style={{ height: `${height}px` }}>
          {rows.map(({ index, start, size }) => {
            const job = jobs[index];
            if (job === undefined) return null;
            return (
              <Row
                key={job.id}
                job={job}
                columns={columns}
                index={index}
                top={start}
                height={size}
                isAt={job.id === at}
                isSelected={selected.has(job.id)}
                onSelect={onSelect}
                onAt={onAt}
                mayChoose={mayChoose}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

type HeadRowProps = Pick<
  Props,
  'jobs' | 'columns' | 'selected' | 'onSelect' | 'mayChoose' | 'sort' | 'onSort'
>;

/** The names of the columns, by which the jobs are sorted, and the box that selects all jobs. */
function HeadRow(props: HeadRowProps) {
  const { jobs, columns, selected, onSelect, mayChoose, sort, onSort } = props;
  const name = (title: string, by: ColumnKey | undefined) =>
    by === undefined ? (
      title
    ) : (
      <button type="button" class="sort" onClick={() => onSort(nextSort(sort, by))}>
        {title}
      </button>
    );
  const all = jobs.length > 0 && jobs.every(({ id }) => selected.has(id));
  return (
    <div class="list-row job-row head" role="row" aria-rowindex={1}>
      {mayChoose && (
        <span role="columnheader">
          <input
            type="checkbox"
            aria-label="Select all jobs that are loaded"
            checked={all}
            onChange={() =>
              onSelect(
                jobs.map(({ id }) => id),
                !all,
              )
            }
          />
        </span>
      )}
      {columns.map(({ word, title, sort: by }) => (
        <span
          key={word}
          role="columnheader"
          title={title}
          aria-sort={by === undefined ? undefined : directionOf(sort, by)}
        >
          {name(title, by)}
        </span>
      ))}
    </div>
  );
}

type RowProps = Pick<Props, 'columns' | 'onSelect' | 'onAt' | 'mayChoose'> & {
  readonly job: Summary;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly isAt: boolean;
  readonly isSelected: boolean;
};

function Row(props: RowProps) {
  const { job, columns, index, top, height, isAt, isSelected, onSelect, onAt, mayChoose } = props;
  const { id } = job;
  return (
    <div
      class={`list-row job-row ${isAt ? 'at' : ''} ${isSelected ? 'selected' : ''}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-job={id}
      style={{ height: `${height}px`, transform: `translateY(${top}px)` }}
      onClick={() => onAt(id)}
    >
      {mayChoose && (
        <span role="gridcell" class="choose">
          <input
            type="checkbox"
            aria-label={`Select job ${id}`}
            checked={isSelected}
            onChange={() => onSelect([id], !isSelected)}
          />
        </span>
      )}
      {columns.map(({ word }) => (
        <Cell key={word} word={word} job={job} />
      ))}
    </div>
  );
}

type RowKeys = Pick<Props, 'jobs' | 'at' | 'onAt' | 'onSelect' | 'selected' | 'mayChoose'> & {
  readonly show: (index: number) => void;
};

/** Whether a key belongs to the link, button or menu that has the focus. */
function isOnControl({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('a, button, summary') !== null;
}

/** Arrows and letters go through the rows. */
function useRowKeys(given: RowKeys): void {
  const [, navigate] = useLocation();
  const now = useRef(given);
  now.current = given;
  const actions = useMemo(() => {
    const move = (by: number, event: KeyboardEvent): void => {
      const { jobs, at, onAt, show } = now.current;
      event.preventDefault();
      const from = jobs.findIndex(({ id }) => id === at);
      const to = Math.min(Math.max(0, from + by), jobs.length - 1);
      const job = jobs[to];
      if (job === undefined) return;
      onAt(job.id);
      show(to);
    };
    const toggle = (event: KeyboardEvent): void => {
      const { at, selected, onSelect, mayChoose } = now.current;
      if (at === undefined || !mayChoose || isOnControl(event)) return;
      event.preventDefault();
      onSelect([at], !selected.has(at));
    };
    return [
      { keys: ['j', 'ArrowDown'], does: 'Next job', act: (event: KeyboardEvent) => move(1, event) },
      {
        keys: ['k', 'ArrowUp'],
        does: 'Job before',
        act: (event: KeyboardEvent) => move(-1, event),
      },
      {
        keys: ['Enter', 'o'],
        does: 'Open the job',
        act: (event: KeyboardEvent) => {
          const { at } = now.current;
          if (at !== undefined && !isOnControl(event)) navigate(`/jobs/${encodeURIComponent(at)}`);
        },
      },
      { keys: ['x', ' '], does: 'Select the job', act: toggle },
    ];
  }, [navigate]);
  useKeys(actions);
}
