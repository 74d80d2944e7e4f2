import { useMemo, useState } from 'preact/hooks';
import { isEnded, shownStatuses, type Summary } from '../answers.js';
import { AskDialog, formText } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { BulkProgress } from './bulk-progress.js';
import { useCount, type Action, type BulkRequest } from './bulk-work.js';
import type { ListFilter } from './filter.js';

type Props = {
  readonly selected: ReadonlySet<string>;
  readonly filter: ListFilter;
  /** The jobs of the list, as far as it is loaded. */
  readonly jobs: readonly Summary[];
  readonly onClear: () => void;
  readonly onDone: () => void;
};

type BulkChoice = { readonly action: Action; readonly all: boolean };

/** What can be done with the jobs that are selected, or with all that the filter finds. */
export function Bulk({ selected, filter, jobs, onClear, onDone }: Props) {
  const able = useMemo(() => ableOf(jobs, selected, filter), [jobs, selected, filter]);
  const [choice, setChoice] = useState<BulkChoice>();
  const [work, setWork] = useState<BulkRequest>();
  const count = selected.size;
  const ask = (action: Action, all: boolean): void => setChoice({ action, all });
  const act = (form: FormData): Promise<void> => {
    if (choice === undefined) return Promise.resolve();
    const { action, all } = choice;
    setWork({ action, chosen: all ? filter : [...selected], reason: formText(form, 'reason') });
    return Promise.resolve();
  };
  const close = (): void => {
    setWork(undefined);
    onClear();
    onDone();
  };
  return (
    <>
      {count > 0 && (
        <div class="bulk box" role="region" aria-label="Selected jobs">
          <strong>
            {count.toLocaleString()} {count === 1 ? 'job' : 'jobs'} selected
          </strong>
          <BulkButtons able={able} ask={ask} />
          <button type="button" class="quiet" onClick={onClear}>
            Clear selection
          </button>
        </div>
      )}
      {choice !== undefined && (
        <BulkQuestion
          choice={choice}
          count={count}
          filter={filter}
          onClose={() => setChoice(undefined)}
          act={act}
        />
      )}
      {work !== undefined && <BulkProgress work={work} onClose={close} />}
    </>
  );
}

type BulkButtonProps = {
  readonly able: ReturnType<typeof ableOf>;
  readonly ask: (action: Action, all: boolean) => void;
};

function BulkButtons({ able, ask }: BulkButtonProps) {
  return (
    <>
      {able.retry && (
        <LevelButton level="operator" kind="primary" onClick={() => ask('retry', false)}>
          Retry
        </LevelButton>
      )}
      {able.cancel && (
        <LevelButton level="operator" kind="risky" onClick={() => ask('cancel', false)}>
          Cancel jobs
        </LevelButton>
      )}
      <span class="bulk-all">
        or all that the filter finds:{' '}
        {able.retryAll && (
          <LevelButton level="operator" onClick={() => ask('retry', true)}>
            Retry all
          </LevelButton>
        )}{' '}
        {able.cancelAll && (
          <LevelButton level="operator" kind="risky" onClick={() => ask('cancel', true)}>
            Cancel all
          </LevelButton>
        )}
      </span>
    </>
  );
}

/** What makes sense for the jobs that are selected, and for those that the filter finds. */
function ableOf(
  jobs: readonly Summary[],
  selected: ReadonlySet<string>,
  { status }: ListFilter,
): Readonly<Record<'retry' | 'cancel' | 'retryAll' | 'cancelAll', boolean>> {
  const chosen = jobs.filter(({ id }) => selected.has(id)).map((job) => job.status);
  const finds = status.length === 0 ? shownStatuses : status;
  return {
    retry: chosen.some((one) => one === 'failed' || one === 'cancelled'),
    cancel: chosen.some((one) => !isEnded(one)),
    retryAll: finds.includes('failed'),
    cancelAll: finds.some((one) => !isEnded(one)),
  };
}

type QuestionProps = {
  readonly choice: BulkChoice;
  readonly count: number;
  readonly filter: ListFilter;
  readonly onClose: () => void;
  readonly act: (form: FormData) => Promise<void>;
};

function BulkQuestion({ choice: { action, all }, count, filter, onClose, act }: QuestionProps) {
  const found = useCount(action, all ? filter : undefined);
  const kind = action === 'retry' ? 'failed' : 'unfinished';
  const which = all
    ? `${found === undefined ? 'all' : `all ${found.toLocaleString()}`} ${kind} jobs that the filter finds`
    : `${count.toLocaleString()} ${count === 1 ? 'job' : 'jobs'}`;
  const verb = action === 'retry' ? 'Retry' : 'Cancel';
  return (
    <AskDialog
      title={`${verb} ${which}?`}
      does={`${verb} ${all ? 'all' : which}`}
      destroys={action === 'cancel'}
      onClose={onClose}
      act={act}
    >
      <p>
        {action === 'retry'
          ? 'Each goes on at the step where it failed; what was done is not done again.'
          : 'Steps that run are stopped; what was done stays done unless the flow undoes it.'}
      </p>
      <label>
        Why (kept in the jobs)
        <input name="reason" autocomplete="off" />
      </label>
    </AskDialog>
  );
}
