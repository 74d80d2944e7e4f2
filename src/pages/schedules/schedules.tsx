import { useState } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { scheduleStatuses } from '../../model/schedule.js';
import { get } from '../api.js';
import { DefinitionList, type Column } from '../definitions/definition-list.js';
import '../definitions/definitions.css';
import { FlowLink } from '../definitions/flow-link.js';
import { NewDefinition } from '../definitions/new-definition.js';
import { fieldText, type StoredDefinition } from '../definitions/stored.js';
import { useLoaded } from '../live/use-loaded.js';
import { usePolled } from '../live/use-polled.js';
import './schedules.css';
import type { ScheduleAnswer } from './stored-schedule.js';
import { whenText, zoneIn } from './when.js';
import { RecordWord, ScheduleWord, SlotJobLink, SlotTime } from './words.js';

/** So often the schedules are looked at, ms. */
const everyMs = 3_000;

/** The page of all schedules; with `?new` or `?copy=ID` that of a new one. */
export function SchedulesPage() {
  const asked = new URLSearchParams(useSearch());
  if (asked.has('new') || asked.has('copy')) {
    return <NewDefinition kind="schedule" copyOf={asked.get('copy') ?? undefined} />;
  }
  return <ScheduleList />;
}

const columnsWith = (
  flows: readonly StoredDefinition[] | undefined,
): readonly Column<ScheduleAnswer>[] => [
  { title: 'Status', cell: ({ status }) => <ScheduleWord status={status} /> },
  { title: 'Flow', cell: (one) => <FlowLink of={one} flows={flows} /> },
  { title: 'When', cell: ({ document }) => <When document={document} /> },
  {
    title: 'Next',
    cell: ({ next, document }) =>
      next === undefined ? (
        <span class="muted">–</span>
      ) : (
        <SlotTime slot={next.slot} zone={zoneIn(document)} isRelative />
      ),
  },
  { title: 'Last', cell: (one) => <Last schedule={one} /> },
];

function ScheduleList() {
  const { value, error, reload } = usePolled('schedules', everyMs, (signal) =>
    get<{ readonly schedules: readonly ScheduleAnswer[] }>('schedules', { signal }),
  );
  const flows = useLoaded('flows', (signal) =>
    get<{ readonly flows: readonly StoredDefinition[] }>('flows', { signal }),
  );
  const [status, setStatus] = useState('');
  return (
    <DefinitionList
      kind="schedule"
      all={value?.schedules}
      error={error}
      reload={reload}
      columns={columnsWith(flows.value?.flows)}
      words={({ document }) => [fieldText(document, 'flow') ?? '', whenText(document)]}
      isShown={(one) => status === '' || one.status === status}
      filters={
        <label>
          Status
          <select value={status} onChange={({ currentTarget }) => setStatus(currentTarget.value)}>
            <option value="">All</option>
            {scheduleStatuses.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      }
    />
  );
}

/** When it is due, with the time zone of a cron expression. */
export function When({ document }: Pick<ScheduleAnswer, 'document'>) {
  const isCron = fieldText(document, 'cron') !== undefined;
  if (!isCron) return <>{whenText(document)}</>;
  return (
    <>
      <code class="nowrap">{whenText(document)}</code>{' '}
      <span class="muted">{fieldText(document, 'time_zone') ?? 'UTC'}</span>
    </>
  );
}

function Last({ schedule: { last, document } }: { readonly schedule: ScheduleAnswer }) {
  if (last === undefined) return <span class="muted">–</span>;
  const { slot, until = slot, kind, job, because, count = 1, status } = last;
  const time = <SlotTime slot={until} zone={zoneIn(document)} isRelative />;
  return (
    <span title={because}>
      <RecordWord kind={kind} status={status} />{' '}
      {job === undefined ? time : <SlotJobLink id={job}>{time}</SlotJobLink>}
      {count > 1 && <span class="muted"> ({count} slots)</span>}
    </span>
  );
}
