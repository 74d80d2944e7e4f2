import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Dialog } from '../parts/dialog.js';
import { ProblemBox } from '../parts/problem-box.js';
import { requestAll, type BulkCounts, type BulkRequest } from './bulk-work.js';

type Props = { readonly work: BulkRequest; readonly onClose: () => void };

/** Does it, shows how far it is, and at the end what became of the jobs. Closing it stops it. */
export function BulkProgress({ work, onClose }: Props) {
  const [progress, setProgress] = useState<BulkCounts>();
  const [state, setState] = useState<'runs' | 'done' | 'stopped'>('runs');
  const [error, setError] = useState<unknown>();
  const stop = useRef(new AbortController());
  useEffect(() => {
    const { signal } = stop.current;
    requestAll(work, signal, setProgress)
      .catch(setError)
      .finally(() => setState(signal.aborted ? 'stopped' : 'done'));
    return () => stop.current.abort();
  }, [work]);
  const isOver = state !== 'runs';
  const verb = work.action === 'retry' ? 'Retry' : 'Cancel';
  return (
    <Dialog title={`${verb} jobs`} onClose={onClose}>
      {progress !== undefined && <Bar progress={progress} />}
      {error !== undefined && <ProblemBox error={error} />}
      {isOver && progress !== undefined && <Report work={work} progress={progress} />}
      {isOver && state === 'stopped' && <p>It was stopped. Ask again for those that are left.</p>}
      <div class="buttons end">
        {isOver ? (
          <button type="button" class="primary" onClick={onClose}>
            Done
          </button>
        ) : (
          <button type="button" onClick={() => stop.current.abort()}>
            Stop
          </button>
        )}
      </div>
    </Dialog>
  );
}

const doneOf = ({ applied, stored, refused }: BulkCounts): number => applied + stored + refused;

function Bar({ progress }: { readonly progress: BulkCounts }) {
  const { total, isLooking } = progress;
  const done = doneOf(progress);
  const words = isLooking
    ? `Looking for them: ${total.toLocaleString()} so far`
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
  const done = action === 'retry' ? 'go on' : 'are cancelled';
  return (
    <>
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
        {total === 0 && <li>No job was found for it.</li>}
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
