import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { counted } from '../../words.js';
import { get } from '../api.js';
import type { CauseAnswer, Failures } from '../answers.js';
import { BulkProgress } from '../jobs/bulk-progress.js';
import type { BulkRequest } from '../jobs/bulk-work.js';
import { searchParamsOf, type ListFilter } from '../jobs/filter.js';
import { usePolled } from '../live/use-polled.js';
import { AskDialog, formText } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';

/** So often the causes are counted again, ms; where that takes long, less often. */
const everyMs = 5_000;
const mostCauses = 12;

/** What jobs failed with, and how many of them, to be retried together. */
export function Causes() {
  const took = useRef(0);
  const { value, error, reload } = usePolled(
    'causes',
    Math.max(everyMs, took.current * 20),
    async (signal) => {
      const began = performance.now();
      const read = await get<Failures>('failures', { signal });
      took.current = performance.now() - began;
      return read;
    },
  );
  const [asked, setAsked] = useState<CauseAnswer>();
  const [work, setWork] = useState<BulkRequest>();
  if (error === undefined && value === undefined) return null;
  return (
    <section class="box causes" aria-label="Failures by cause">
      <h2>Failures by cause</h2>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {value !== undefined && <CauseList failures={value} onRetry={setAsked} />}
      {asked !== undefined && (
        <RetryCause
          group={asked}
          onClose={() => setAsked(undefined)}
          onWork={(reason) =>
            setWork({ action: 'retry', chosen: filterOfCause(asked.failure), reason })
          }
        />
      )}
      {work !== undefined && (
        <BulkProgress
          work={work}
          onClose={() => {
            setWork(undefined);
            reload();
          }}
        />
      )}
    </section>
  );
}

type ListProps = {
  readonly failures: Failures;
  readonly onRetry: (group: CauseAnswer) => void;
};

function CauseList({ failures: { groups, looked, more }, onRetry }: ListProps) {
  const shown = groups.slice(0, mostCauses);
  return (
    <>
      {groups.length === 0 ? (
        <p class="muted">No job has failed.</p>
      ) : (
        <ul>
          {shown.map((group) => (
            <Cause key={group.failure} group={group} onRetry={() => onRetry(group)} />
          ))}
        </ul>
      )}
      {groups.length > shown.length && (
        <p>
          <Link href="/jobs?status=failed">
            {counted(groups.length - shown.length, 'more cause')}
          </Link>
        </p>
      )}
      {more && <p class="muted">The newest {looked.toLocaleString()} failed jobs were counted.</p>}
    </>
  );
}

function filterOfCause(failure: string): ListFilter {
  return { status: ['failed'], failure };
}

/** Names of flows that are shown. */
const mostFlows = 3;

type CauseProps = { readonly group: CauseAnswer; readonly onRetry: () => void };

function Cause({ group: { failure, count, flows, newest }, onRetry }: CauseProps) {
  // Jobs without a name of the failure cannot be found by it, neither to be listed nor to be retried.
  const isNamed = failure !== '';
  return (
    <li>
      <span class="cause">
        {isNamed ? (
          <Link href={listOf(failure)} title={failure}>
            <strong>{failure}</strong>
          </Link>
        ) : (
          <strong>Failure without a name</strong>
        )}{' '}
        <b class="number">{count.toLocaleString()}</b>{' '}
        <span class="muted">in {counted(flows.length, 'flow')}</span>
      </span>
      <span class="cause-flows">
        {flows.slice(0, mostFlows).map((one) => (
          <CauseFlow key={one.flow} failure={failure} {...one} />
        ))}
        {flows.length > mostFlows && <small class="muted"> +{flows.length - mostFlows}</small>}
      </span>
      <span class="about" title={newest.message}>
        {newest.message}
      </span>
      <span class="muted nowrap">
        last{' '}
        <Link href={`/jobs/${encodeURIComponent(newest.id)}`} title={newest.id}>
          <Ago at={newest.at} />
        </Link>
      </span>
      {isNamed && (
        <LevelButton level="operator" onClick={onRetry}>
          Retry {count === 1 ? 'it' : 'all'} …
        </LevelButton>
      )}
    </li>
  );
}

const listOf = (failure: string, flow?: string): string => {
  const filter = { ...filterOfCause(failure), ...(flow === undefined ? {} : { flow }) };
  return `/jobs?${searchParamsOf(filter).toString()}`;
};

type FlowProps = { readonly failure: string; readonly flow: string; readonly count: number };

/** A flow with jobs of a cause; no filter finds the jobs with tasks of their own. */
function CauseFlow({ failure, flow, count }: FlowProps) {
  const text = `${flow === '' ? 'tasks of their own' : flow} ${count.toLocaleString()}`;
  if (flow === '' || failure === '') return <span class="tag">{text}</span>;
  return (
    <Link class="tag" href={listOf(failure, flow)} title={flow}>
      {text}
    </Link>
  );
}

type RetryProps = {
  readonly group: CauseAnswer;
  readonly onClose: () => void;
  readonly onWork: (reason: string | undefined) => void;
};

function RetryCause({ group: { failure, count }, onClose, onWork }: RetryProps) {
  const jobs = count === 1 ? '1 job' : `${count.toLocaleString()} jobs`;
  return (
    <AskDialog
      title={`Retry ${jobs} that failed with ${failure}?`}
      does={`Retry ${jobs}`}
      onClose={onClose}
      act={(form) => {
        onWork(formText(form, 'reason'));
        return Promise.resolve();
      }}
    >
      <p>
        Each goes on at the step where it failed; what was done is not done again. A job that never
        began, as with FlowMissing, begins with what is stored now.
      </p>
      <label>
        Why (kept in the jobs)
        <input name="reason" autocomplete="off" />
      </label>
    </AskDialog>
  );
}
