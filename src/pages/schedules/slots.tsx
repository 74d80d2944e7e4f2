import type { SlotRecord } from '../../model/schedule.js';
import type { Summary } from '../answers.js';
import { zoneName } from '../form/moments.js';
import { scheduleProgress } from './progress.js';
import type { ScheduleAnswer } from './stored-schedule.js';
import { zoneIn } from './when.js';
import { RecordWord, SlotJobLink, SlotTime } from './words.js';

type Props = { readonly schedule: ScheduleAnswer };

/** The slots to come. */
export function NextSlots({ schedule: { slots = [], status, document } }: Props) {
  const zone = zoneIn(document);
  return (
    <section class="box" aria-labelledby="next-title">
      <h2 id="next-title">Next slots</h2>
      {slots.length === 0 && (
        <p class="muted">{status === 'paused' ? 'None while it is paused.' : 'There is none.'}</p>
      )}
      {slots.length > 0 && (
        <>
          <ol class="slots">
            {slots.map(({ slot, due }) => (
              <li key={slot}>
                <SlotTime slot={slot} zone={zone} />{' '}
                <span class="muted">
                  <SlotTime slot={slot} zone={zone} isRelative />
                  {due > slot && (
                    <>
                      , starts <SlotTime slot={due} zone={zone} isRelative />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ol>
          <p class="muted">Times are those of {zone ?? zoneName()}.</p>
        </>
      )}
    </section>
  );
}

/** `jobs`: those of the slots, as far as they are known. */
type RecordsProps = Props & { readonly jobs: readonly Summary[] | undefined };

/** What happened to the last slots, the newest first. */
export function Records({ schedule: { document }, jobs = [] }: RecordsProps) {
  const recent = scheduleProgress(document)?.recent ?? [];
  const zone = zoneIn(document);
  return (
    <section class="box" aria-labelledby="recent-title">
      <h2 id="recent-title">Recent slots</h2>
      {recent.length === 0 && <p class="muted">There is none yet.</p>}
      <ul class="recent">
        {recent.toReversed().map((record) => (
          <li key={`${record.slot} ${record.kind} ${record.at}`}>
            <Record
              record={record}
              zone={zone}
              status={jobs.find(({ id }) => id === record.job)?.status}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

type RecordProps = {
  readonly record: SlotRecord;
  readonly zone: string | undefined;
  readonly status: Summary['status'] | undefined;
};

function Record({ record, zone, status }: RecordProps) {
  const { slot, until, kind, count, job, because } = record;
  const isSpan = until !== undefined && until !== slot;
  return (
    <>
      <RecordWord kind={kind} status={status} /> <SlotTime slot={slot} zone={zone} />
      {isSpan && (
        <>
          {' '}
          – <SlotTime slot={until} zone={zone} />
        </>
      )}
      {count !== undefined && (
        <span class="muted"> ({kind === 'backfilled' ? `${count} jobs` : `${count} slots`})</span>
      )}
      {job !== undefined && (
        <span class="note">
          <SlotJobLink id={job} />
        </span>
      )}
      {because !== undefined && <span class="muted note">{because}</span>}
    </>
  );
}
