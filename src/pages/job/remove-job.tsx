import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { counted } from '../../words.js';
import { send } from '../api.js';
import { isEnded, type StoredJob } from '../answers.js';
import { AskDialog } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';
import type { StoredAttempt } from './attempts.js';

type Props = { readonly job: StoredJob; readonly attempts: readonly StoredAttempt[] };

/** Deletes a job that has ended, with its child jobs if wanted. */
export function RemoveJob({ job: { id, status }, attempts }: Props) {
  const [isAsking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  const remove = async (form: FormData): Promise<void> => {
    const children = form.get('children') !== null;
    const path = `jobs/${encodeURIComponent(id)}`;
    const { removed } = await send<{ readonly removed: readonly string[] }>(
      'DELETE',
      path,
      undefined,
      { query: { children } },
    );
    say(`${counted(removed.length, 'job')} deleted.`);
    navigate('/jobs');
  };
  if (!isEnded(status)) return null;
  const hasChildren = attempts.some(({ child }) => child !== undefined);
  return (
    <>
      <LevelButton level="admin" kind="risky" onClick={() => setAsking(true)}>
        Delete …
      </LevelButton>
      {isAsking && (
        <AskDialog
          title="Delete this job?"
          does="Delete it"
          destroys
          onClose={() => setAsking(false)}
          act={remove}
        >
          <p>Its history and its results are deleted too. This cannot be undone.</p>
          {hasChildren && (
            <label class="check">
              <input type="checkbox" name="children" defaultChecked /> Also delete its child jobs
              and their children
            </label>
          )}
        </AskDialog>
      )}
    </>
  );
}
