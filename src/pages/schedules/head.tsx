import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { slotJobPrefix } from '../../model/schedule.js';
import { send } from '../api.js';
import { definitionPath } from '../definitions/stored.js';
import { RemoveButton } from '../definitions/remove-button.js';
import { LevelButton } from '../parts/level-button.js';
import { PageHead } from '../parts/page-head.js';
import { say } from '../parts/toasts.js';
import { mayAdmin } from '../session/session.js';
import { BackfillDialog } from './backfill-dialog.js';
import type { ScheduleAnswer } from './stored-schedule.js';
import { ScheduleWord } from './words.js';

type Props = {
  readonly schedule: ScheduleAnswer;
  readonly reload: () => void;
  readonly onRemoved: () => void;
};

/** The name, the status and the owner of a schedule, and the buttons that act on it. */
export function ScheduleHead({ schedule, reload, onRemoved }: Props) {
  const [, navigate] = useLocation();
  const [fills, setFills] = useState(false);
  const { id, name, owner, status, document } = schedule;
  const isPaused = document['paused'] === true;
  const path = definitionPath('schedule', id);
  const run = async (): Promise<void> => {
    const { id: job } = await send<{ readonly id: string }>('POST', `${path}/run`);
    navigate(`/jobs/${encodeURIComponent(job)}`);
  };
  const turn = async (): Promise<void> => {
    await send('POST', `${path}/${isPaused ? 'resume' : 'pause'}`);
    say(isPaused ? `Schedule ${name} goes on.` : `Schedule ${name} is paused.`);
    reload();
  };
  return (
    <PageHead title={name}>
      <ScheduleWord status={status} />
      <span class="muted">owner {owner}</span>
      <span class="buttons">
        <LevelButton level="operator" kind="primary" onClick={() => void trying(run)}>
          Run now
        </LevelButton>
        <LevelButton level="operator" onClick={() => void trying(turn)}>
          {isPaused ? 'Resume' : 'Pause'}
        </LevelButton>
        <LevelButton
          level="operator"
          refused={document['backfill'] === undefined ? undefined : 'A backfill runs already.'}
          onClick={() => setFills(true)}
        >
          Backfill …
        </LevelButton>
        <Link class="button" href={`/jobs?id_prefix=${encodeURIComponent(slotJobPrefix(id))}`}>
          Jobs
        </Link>
        {mayAdmin.value && (
          <Link class="button" href={`/schedules?copy=${encodeURIComponent(id)}`}>
            Duplicate
          </Link>
        )}
        <RemoveButton kind="schedule" stored={schedule} onRemoved={onRemoved} />
      </span>
      {fills && (
        <BackfillDialog schedule={schedule} onClose={() => setFills(false)} onStored={reload} />
      )}
    </PageHead>
  );
}

/** Does something and says why when it cannot be done. */
export async function trying(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), 'problem');
  }
}
