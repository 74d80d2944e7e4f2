import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { get } from '../api.js';
import { shownStatuses, type JobList, type Stats } from '../answers.js';
import { usePolled } from '../live/use-polled.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';
import { Charts } from './charts.js';
import { ranges, type RangeName } from './ranges.js';

/** So often the figures are read again, ms. */
const everyMs = 5_000;
const mostFailures = 8;

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
      {value !== undefined && (
        <>
          <Alarm stats={value} />
          <Tiles stats={value} />
        </>
      )}
      <Failures />
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

function Failures() {
  const { value, error } = usePolled('failures', everyMs, (signal) =>
    get<JobList>('jobs', { query: { status: ['failed'], limit: mostFailures }, signal }),
  );
  if (error !== undefined || value === undefined) return null;
  return (
    <section class="box failures" aria-label="Latest failures">
      <h2>Latest failures</h2>
      {value.jobs.length === 0 ? (
        <p class="muted">No job has failed.</p>
      ) : (
        <ul>
          {value.jobs.map(({ id, flow, failure, end }) => (
            <li key={id}>
              <Link href={`/jobs/${encodeURIComponent(id)}`} class="mono id" title={id}>
                {id}
              </Link>
              <span class="muted">{flow}</span>
              <span class="about" title={failure?.message}>
                <strong>{failure?.step}</strong> {failure?.message}
              </span>
              <span class="muted nowrap">
                <Ago at={end} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {value.cursor !== undefined && <Link href="/jobs?status=failed">All failed jobs</Link>}
    </section>
  );
}
