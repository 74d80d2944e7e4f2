import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Dialog } from '../parts/dialog.js';
import { ProblemBox } from '../parts/problem-box.js';
import { requestAll, type BulkCounts, type BulkRequest } from './bulk-work.js';

type Props = { readonly work: BulkRequest; readonly onClose: () => void };

/** Sends the requests, and shows the progress and the results. Closing the dialog stops it. */
export function BulkProgress({ work, onClose }: Props) {
  const { progress, state, error, stop, goOn } = useWork(work);
  const isOver = state !== 'runs';
  const verb = work.action === 'retry' ? 'Retry' : 'Cancel';
  const left = progress?.left?.length ?? 0;
  const isUnfinished = isOver && (left > 0 || (progress?.isLooking ?? true));
  return (
    <Dialog title={`${verb} jobs`} onClose={onClose}>
      {progress !== undefined && <Bar progress={progress} />}
      {error !== undefined && <ProblemBox error={error} />}
      {isOver && progress !== undefined && <Report work={work} progress={progress} />}
      {isUnfinished && left > 0 && <p>{left.toLocaleString()} not sent yet.</p>}
      <Buttons {...{ isOver, isUnfinished, stop, goOn, onClose }} />
    </Dialog>
  );
}

type ButtonProps = {
  readonly isOver: boolean;
  /** Some requests are left: it was stopped, or one failed. */
  readonly isUnfinished: boolean;
  readonly stop: () => void;
  readonly goOn: () => void;
  readonly onClose: () => void;
};

function Buttons({ isOver, isUnfinished, stop, goOn, onClose }: ButtonProps) {
  if (!isOver) {
    return (
      <div class="buttons end">
        <button type="button" onClick={stop}>
          Stop
        </button>
      </div>
    );
  }
  return (
    <div class="buttons end">
      {isUnfinished && (
        <button type="button" class="primary" onClick={goOn}>
          Continue
        </button>
      )}
      <button type="button" class={isUnfinished ? '' : 'primary'} onClick={onClose}>
        Done
      </button>
    </div>
  );
}

/** Sends the requests until all are sent or it is stopped, and continues where it was stopped. */
function useWork(work: BulkRequest) {
  const [progress, setProgress] = useState<BulkCounts>();
  const [state, setState] = useState<'runs' | 'over'>('runs');
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>();
  const run = useCallback(
    (before?: BulkCounts) => {
      const abort = new AbortController();
      running.current = abort;
      setState('runs');
      setError(undefined);
      requestAll(work, abort.signal, { tell: setProgress, before })
        .catch(setError)
        .finally(() => setState('over'));
    },
    [work],
  );
  useEffect(() => {
    run();
    return () => running.current?.abort();
  }, [run]);
  const stop = (): void => running.current?.abort();
  return { progress, state, error, stop, goOn: () => run(progress) };
}

const doneOf = ({ applied, stored, refused }: BulkCounts): number => applied + stored + refused;

function Bar({ progress }: { readonly progress: BulkCounts }) {
  const { total, isLooking } = progress;
  const done = doneOf(progress);
  const words = isLooking
    ? `Finding the jobs: ${total.toLocaleString()} so far`
    : `${done.toLocaleString()} of ${total.toLocaleString()} jobs`;
  return (
    <div class="bulk-progress">
      <progress
        max={Math.max(1, total)}
        {...(isLooking ? {} : { value: done })}
        aria-label={words}
      />
      <span role="status">{words}</span>
    </div>
  );
}

function Report({ work: { action }, progress }: Pick<Props, 'work'> & { progress: BulkCounts }) {
  const { applied, stored, refused, refusals, total } = progress;
  const done = action === 'retry' ? 'retried' : 'cancelled';
  return (
    <>
      <ul class="report">
        {applied > 0 && (
          <li>
            {applied.toLocaleString()} {done}.
          </li>
        )}
        {stored > 0 && <li>{stored.toLocaleString()} stored; an engine will carry them out.</li>}
        {refused > 0 && <li>{refused.toLocaleString()} refused:</li>}
        {total === 0 && !progress.isLooking && <li>No matching job was found.</li>}
      </ul>
      {refusals.length > 0 && (
        <ul class="refusals">
          {refusals.map(({ id, problem }) => (
            <li key={id}>
              <Link href={`/jobs/${encodeURIComponent(id)}`} class="mono">
                {id}
              </Link>{' '}
              {problem?.reason}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
