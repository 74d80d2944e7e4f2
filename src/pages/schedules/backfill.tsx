import { toEpochMs } from '../../model/scalars.js';
import { usualAtOnce } from '../../model/schedule.js';
import { counted } from '../../words.js';
import { send } from '../api.js';
import { definitionPath } from '../definitions/stored.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';
import { trying } from './head.js';
import { scheduleProgress } from './progress.js';
import { JobNames } from './standing.js';
import type { ScheduleAnswer } from './stored-schedule.js';
import { zoneIn } from './when.js';
import { SlotTime } from './words.js';

type Props = { readonly schedule: ScheduleAnswer; readonly reload: () => void };

type Period = {
  readonly from: number | string;
  readonly until: number | string;
  readonly at_once?: number;
};

/** How far the backfill of a schedule is; nothing where none runs. */
export function Backfill({ schedule: { id, document }, reload }: Props) {
  const { backfill } = document;
  if (typeof backfill !== 'object' || backfill === null) return null;
  const { from, until, at_once: atOnce = usualAtOnce } = backfill as Period;
  const zone = zoneIn(document);
  const [begin, end] = [toEpochMs(from), toEpochMs(until)];
  const { handled = begin, started = 0, running = [] } = scheduleProgress(document)?.backfill ?? {};
  const callOff = async (): Promise<void> => {
    await send('DELETE', `${definitionPath('schedule', id)}/backfill`);
    say('The backfill is called off; jobs that it has started go on.');
    reload();
  };
  return (
    <section class="box" aria-labelledby="backfill-title">
      <h2 id="backfill-title">Backfill</h2>
      <p>
        From <SlotTime slot={begin} zone={zone} /> until <SlotTime slot={end} zone={zone} />,{' '}
        {counted(atOnce, 'job')} at once.
      </p>
      <p>
        <progress
          max={Math.max(1, end - begin)}
          value={Math.min(Math.max(0, handled - begin), end - begin)}
          aria-label="How much of the period is dealt with"
        />{' '}
        {counted(started, 'job')} started
        {started > 0 && (
          <>
            , up to <SlotTime slot={handled} zone={zone} />
          </>
        )}
      </p>
      {running.length > 0 && (
        <p>
          {counted(running.length, 'job')} {running.length === 1 ? 'has' : 'have'} not ended:{' '}
          <JobNames ids={running} />
        </p>
      )}
      <LevelButton level="operator" kind="risky" onClick={() => void trying(callOff)}>
        Call off
      </LevelButton>
    </section>
  );
}
