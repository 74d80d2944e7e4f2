import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { slotJobPrefix } from '../../model/schedule.js';
import { get } from '../api.js';
import { DefinitionAway } from '../definitions/away.js';
import { DefinitionEditor } from '../definitions/definition-editor.js';
import '../definitions/definitions.css';
import { FlowLink } from '../definitions/flow-link.js';
import { useKnown, type KnownDefinitions } from '../definitions/known.js';
import { StartedJobs, useStartedJobs } from '../definitions/started-jobs.js';
import { definitionPath, editedContent } from '../definitions/stored.js';
import { useEditing } from '../definitions/use-editing.js';
import { WrittenProblems } from '../definitions/written-problems.js';
import { usePolled } from '../live/use-polled.js';
import { Fact } from '../parts/fact.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Backfill } from './backfill.js';
import { ScheduleHead } from './head.js';
import { scheduleProgress } from './progress.js';
import './schedules.css';
import { When } from './schedules.js';
import { NextSlots, Records } from './slots.js';
import { ScheduleStanding } from './standing.js';
import type { ScheduleAnswer } from './stored-schedule.js';
import { spanText } from './when.js';

/** So often the schedule is looked at, ms. */
const everyMs = 2_000;

/** The page of one schedule: `name` is its id, its name, or `name::owner`. */
export function SchedulePage({ name }: { readonly name: string }) {
  const { value, error, reload } = usePolled(`schedule ${name}`, everyMs, (signal) =>
    get<ScheduleAnswer>(definitionPath('schedule', name), { signal }),
  );
  const known = useKnown();
  if (value === undefined) {
    return error === undefined ? (
      <Loading what="the schedule" />
    ) : (
      <DefinitionAway kind="schedule" name={name} error={error} again={reload} />
    );
  }
  return <LoadedSchedule loaded={value} known={known.value} error={error} reload={reload} />;
}

type Props = {
  readonly loaded: ScheduleAnswer;
  readonly known: KnownDefinitions | undefined;
  readonly error: unknown;
  readonly reload: () => void;
};

function LoadedSchedule({ loaded, known, error, reload }: Props) {
  const [, navigate] = useLocation();
  const editing = useEditing('schedule', loaded, editedContent(loaded));
  const stored = editing.stored ?? loaded;
  const prefix = slotJobPrefix(loaded.id);
  const jobs = useStartedJobs(loaded, prefix);
  useEffect(() => {
    if (loaded.edition !== stored.edition) editing.takeOver(loaded);
  }, [loaded.edition]);
  return (
    <>
      <ScheduleHead
        schedule={loaded}
        reload={reload}
        onRemoved={() => {
          editing.forget();
          navigate('/schedules');
        }}
      />
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {loaded.status === 'invalid' && (
        <WrittenProblems of={loaded} effect="Engines cannot follow it: no slot starts a job." />
      )}
      <Facts schedule={loaded} known={known} />
      <div class="schedule-columns">
        <div>
          <ScheduleStanding schedule={loaded} />
          <NextSlots schedule={loaded} />
          <Backfill schedule={loaded} reload={reload} />
        </div>
        <div>
          <Records schedule={loaded} jobs={jobs} />
          <StartedJobs jobs={jobs} prefix={prefix} />
        </div>
      </div>
      <DefinitionEditor
        kind="schedule"
        editing={editing}
        known={known}
        onStored={reload}
        onGone={() => navigate('/schedules')}
      />
    </>
  );
}

const overlapWords: Readonly<Record<string, string>> = {
  skip: 'the slot is skipped',
  one: 'the slot waits, one at a time',
  all: 'the slot starts, too',
  cancel_running: 'that job is cancelled first',
};

type FactsProps = Pick<Props, 'known'> & { readonly schedule: ScheduleAnswer };

/** What it says of itself and what came of it, in a few lines. */
function Facts({ schedule, known }: FactsProps) {
  const { document } = schedule;
  const { overlap = 'skip', catch_up: catchUp, jitter, count } = document;
  const { started = 0, skipped = 0, missed = 0 } = scheduleProgress(document) ?? {};
  const age = spanText(catchUp);
  const delay = spanText(jitter);
  return (
    <dl class="facts">
      <Fact name="Flow" value={<FlowLink of={schedule} flows={known?.flows} />} />
      <Fact name="When" value={<When document={document} />} />
      {delay !== undefined && <Fact name="Jitter" value={`up to ${delay}`} />}
      <Fact name="While a job runs" value={overlapWords[String(overlap)] ?? String(overlap)} />
      <Fact
        name="After an outage"
        value={age === undefined ? 'the latest slot is made up' : `slots of the last ${age}`}
      />
      <Fact
        name="Started"
        value={typeof count === 'number' ? `${started} of ${count}` : String(started)}
      />
      <Fact name="Skipped" value={String(skipped)} />
      <Fact name="Missed" value={String(missed)} />
    </dl>
  );
}
