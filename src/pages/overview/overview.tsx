import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { get } from '../api.js';
import { shownStatuses, type JobCounts, type Stats } from '../answers.js';
import { usePolled } from '../live/use-polled.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Causes } from './causes.js';
import { Charts } from './charts.js';
import { FirstSteps } from './first-steps.js';
import { ranges, type RangeName } from './ranges.js';

/** So often the figures are read again, ms. */
const everyMs = 5_000;

/** How everything goes: what is wrong now, how much there is, and how it was lately. */
export function OverviewPage() {
  const [range, setRange] = useState<RangeName>('day');
  const { ms, unit } = ranges[range];
  const { value, error, reload } = usePolled(`stats ${range}`, everyMs, (signal) =>
    get<Stats>('stats', { query: { from: Date.now() - ms, unit }, signal }),
  );
  return (
    <>
      <PageHead title="Overview" />
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {value === undefined && error === undefined && <Loading what="the figures" />}
      {value !== undefined && sumOf(value.jobs) === 0 && (
        <FirstSteps engines={value.engines.alive} />
      )}
      {value !== undefined && (
        <>
          <Alarm stats={value} />
          <Tiles stats={value} />
        </>
      )}
      <Causes />
      <div class="range" role="group" aria-label="Time that the charts show">
        {Object.entries(ranges).map(([name, { title }]) => (
          <button
            key={name}
            type="button"
            class="tab"
            aria-pressed={name === range}
            onClick={() => setRange(name as RangeName)}
          >
            {title}
          </button>
        ))}
      </div>
      {value?.spans !== undefined && <Charts spans={value.spans} unit={unit} />}
    </>
  );
}

const sumOf = (jobs: JobCounts): number => Object.values(jobs).reduce((sum, one) => sum + one, 0);

/** What keeps everything from moving. */
function Alarm({ stats: { jobs, engines } }: { readonly stats: Stats }) {
  const open = jobs.queued + jobs.running + jobs.waiting;
  if (engines.alive > 0) {
    const isFull = engines.in_hand >= engines.slots && jobs.queued > engines.slots;
    return isFull ? (
      <p class="box warning" role="status">
        All {engines.slots} slots are taken and {jobs.queued.toLocaleString()} jobs are queued.
        Start more engines, or give them more <code>--slots</code>.
      </p>
    ) : null;
  }
  return (
    <div class="box problem" role="alert">
      <p>
        <strong>No engine is alive: no job moves.</strong>
      </p>
      <p>
        {open.toLocaleString()} {open === 1 ? 'job waits' : 'jobs wait'} for one. Start it with{' '}
        <code>tws start</code>, or look at <Link href="/engines">the engines</Link>.
      </p>
    </div>
  );
}

function Tiles({ stats: { jobs, engines } }: { readonly stats: Stats }) {
  return (
    <ul class="tiles" aria-label="Jobs by status">
      {shownStatuses.map((status) => (
        <li key={status}>
          <Link href={`/jobs?status=${status}`} class={`tile ${jobs[status] > 0 ? status : ''}`}>
            <b class="number">{jobs[status].toLocaleString()}</b>
            {status}
          </Link>
        </li>
      ))}
      <li>
        <Link href="/engines" class={`tile ${engines.alive === 0 ? 'failed' : ''}`}>
          <b class="number">{engines.alive}</b>
          {engines.alive === 1 ? 'engine' : 'engines'}, {engines.in_hand} of {engines.slots} slots
          used
        </Link>
      </li>
    </ul>
  );
}
