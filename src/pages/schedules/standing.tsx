import type { ScheduleProgress } from '../../model/schedule.js';
import { now } from '../live/clock.js';
import { scheduleProgress } from './progress.js';
import type { ScheduleAnswer } from './stored-schedule.js';
import { zoneIn } from './when.js';
import { SlotJobLink, SlotTime } from './words.js';

/** The status of a schedule, in sentences. */
export function ScheduleStanding({ schedule }: { readonly schedule: ScheduleAnswer }) {
  const { status, document } = schedule;
  const progress = scheduleProgress(document);
  const { waiting, running = [] } = progress ?? {};
  const zone = zoneIn(document);
  const overdue = overdueSlot(schedule, progress);
  return (
    <section class="box" aria-labelledby="standing-title">
      <h2 id="standing-title">Status</h2>
      <p>{sentences[status]}</p>
      {overdue !== undefined && (
        <p class="mistake">
          The slot of <SlotTime slot={overdue} zone={zone} /> is due, and no engine has acted on it
          yet.
        </p>
      )}
      {waiting !== undefined && (
        <p>
          The slot of <SlotTime slot={waiting} zone={zone} /> waits for <JobNames ids={running} />{' '}
          to end.
        </p>
      )}
    </section>
  );
}

const sentences: Readonly<Record<ScheduleAnswer['status'], string>> = {
  new: 'No engine has read it since it was last stored. A running engine does so at once.',
  active: 'Each of its slots starts a job.',
  paused: 'Paused: no slot starts a job, and none is made up for after it is resumed.',
  ended: 'It has no further slot.',
  invalid: 'Engines cannot follow it as it is written.',
};

/** So late a slot may be before it is told of, ms: an engine may take over from another. */
const lateMs = 60_000;

function overdueSlot(
  { status, document }: ScheduleAnswer,
  progress: ScheduleProgress | undefined,
): number | undefined {
  const { slot, waiting, backfill } = progress ?? {};
  const { next_due: due } = document;
  if (status !== 'active' || waiting !== undefined || backfill !== undefined) return undefined;
  return typeof due === 'number' && due < now.value - lateMs ? slot : undefined;
}

/** So many jobs are named. */
const mostNamed = 5;

/** Links to jobs, the first few of many. */
export function JobNames({ ids }: { readonly ids: readonly string[] }) {
  return (
    <>
      {ids.slice(0, mostNamed).map((id, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <SlotJobLink id={id} />
        </span>
      ))}
      {ids.length > mostNamed && ` and ${ids.length - mostNamed} more`}
    </>
  );
}
