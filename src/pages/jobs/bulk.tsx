import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { send } from '../api.js';
import type { BulkRequested } from '../answers.js';
import { Ask, textIn } from '../parts/ask.js';
import { Dialog } from '../parts/dialog.js';
import { LevelButton } from '../parts/level-button.js';
import { bodyOf, type Filter } from './filter.js';

type Props = {
  readonly selected: ReadonlySet<string>;
  readonly filter: Filter;
  readonly onClear: () => void;
  readonly onDone: () => void;
};

type Action = 'retry' | 'cancel';
type Wish = { readonly action: Action; readonly all: boolean };

/** Jobs of one request; the API takes no more. */
const together = 1_000;

/** What can be done with the jobs that are selected, or with all that the filter finds. */
export function Bulk({ selected, filter, onClear, onDone }: Props) {
  const [wish, setWish] = useState<Wish>();
  const [report, setReport] = useState<Report>();
  const count = selected.size;
  const act = async (form: FormData): Promise<void> => {
    if (wish === undefined) return;
    const reason = textIn(form, 'reason');
    const about = { wait: '2s', ...(reason === undefined ? {} : { reason }) };
    setReport({ action: wish.action, ...(await ask(wish, { selected, filter, about })) });
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
          <LevelButton level="operator" onClick={() => setWish({ action: 'retry', all: false })}>
            Retry
          </LevelButton>
          <LevelButton
            level="operator"
            kind="danger"
            onClick={() => setWish({ action: 'cancel', all: false })}
          >
            Cancel jobs
          </LevelButton>
          <span class="bulk-all">
            or all that the filter finds:{' '}
            <LevelButton level="operator" onClick={() => setWish({ action: 'retry', all: true })}>
              Retry all
            </LevelButton>{' '}
            <LevelButton level="operator" onClick={() => setWish({ action: 'cancel', all: true })}>
              Cancel all
            </LevelButton>
          </span>
          <button type="button" class="quiet" onClick={onClear}>
            Clear selection
          </button>
        </div>
      )}
      {wish !== undefined && (
        <BulkQuestion wish={wish} count={count} onClose={() => setWish(undefined)} act={act} />
      )}
      {report !== undefined && <ReportOf report={report} onClose={() => setReport(undefined)} />}
    </>
  );
}

type QuestionProps = {
  readonly wish: Wish;
  readonly count: number;
  readonly onClose: () => void;
  readonly act: (form: FormData) => Promise<void>;
};

function BulkQuestion({ wish: { action, all }, count, onClose, act }: QuestionProps) {
  const which = all
    ? action === 'retry'
      ? 'all failed jobs that the filter finds'
      : 'all unfinished jobs that the filter finds'
    : `${count.toLocaleString()} ${count === 1 ? 'job' : 'jobs'}`;
  const verb = action === 'retry' ? 'Retry' : 'Cancel';
  return (
    <Ask
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
        {all && ' At most 1,000 jobs at a time.'}
      </p>
      <label>
        Why (kept in the jobs)
        <input name="reason" autocomplete="off" />
      </label>
    </Ask>
  );
}

type Report = BulkRequested & { readonly action: Action };

async function ask(
  { action, all }: Wish,
  {
    selected,
    filter,
    about,
  }: { selected: ReadonlySet<string>; filter: Filter; about: Record<string, string> },
): Promise<BulkRequested> {
  const path = `jobs/${action}`;
  if (all) return send<BulkRequested>('POST', path, { filter: bodyOf(filter), ...about });
  const ids = [...selected];
  let sum: BulkRequested = { applied: 0, stored: 0, refused: 0, more: false, results: [] };
  for (let from = 0; from < ids.length; from += together) {
    const part = ids.slice(from, from + together);
    const one = await send<BulkRequested>('POST', path, { ids: part, ...about });
    sum = {
      applied: sum.applied + one.applied,
      stored: sum.stored + one.stored,
      refused: sum.refused + one.refused,
      more: false,
      results: [...sum.results, ...one.results],
    };
  }
  return sum;
}

function ReportOf({ report, onClose }: { readonly report: Report; readonly onClose: () => void }) {
  const { action, applied, stored, refused, more, results } = report;
  const bad = results.filter(({ outcome }) => outcome === 'refused');
  const done = action === 'retry' ? 'go on' : 'are cancelled';
  return (
    <Dialog title={`What became of "${action}"`} onClose={onClose}>
      <ul class="report">
        {applied > 0 && (
          <li>
            {applied.toLocaleString()} {done}.
          </li>
        )}
        {stored > 0 && (
          <li>{stored.toLocaleString()} are asked; an engine will see to it in a moment.</li>
        )}
        {refused > 0 && <li>{refused.toLocaleString()} were refused:</li>}
        {results.length === 0 && <li>No job was found for it.</li>}
      </ul>
      {bad.length > 0 && (
        <ul class="refusals">
          {bad.slice(0, 100).map(({ id, problem }) => (
            <li key={id}>
              <Link href={`/jobs/${encodeURIComponent(id)}`} class="mono">
                {id}
              </Link>{' '}
              {problem?.reason}
            </li>
          ))}
        </ul>
      )}
      {more && <p>There are more; do it again for them.</p>}
      <div class="buttons end">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
