import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { JobList, Summary } from '../answers.js';
import { get } from '../api.js';
import type { JobChanges } from '../live/batch.js';
import { followJobs } from '../live/changes.js';
import { useLoaded } from '../live/use-loaded.js';
import { StatusWord } from '../parts/status.js';
import { Ago } from '../parts/time.js';
import { fieldText, type StoredDefinition } from './stored.js';

/** Number of jobs that are read, and of those that are shown. */
const mostRead = 50;
const mostShown = 12;

/** The newest jobs that a schedule or hook started, live; undefined: not read yet. `prefix`: of their ids. */
export function useStartedJobs(
  of: StoredDefinition,
  prefix: string,
): readonly Summary[] | undefined {
  const { id, owner, document } = of;
  const flow = fieldText(document, 'flow');
  const query = { owner, ...(flow === undefined ? {} : { flow }) };
  const key = JSON.stringify([query, prefix]);
  const { value, reload } = useLoaded(key, (signal) =>
    get<JobList>('jobs', { query: { ...query, id_prefix: prefix, limit: mostRead }, signal }),
  );
  useEffect(() => {
    const abort = new AbortController();
    const onBatch = ({ changed }: JobChanges): void => {
      if ([...changed.keys()].some((one) => one.startsWith(prefix))) reload();
    };
    followJobs({ query, onBatch, onMissed: reload, signal: abort.signal });
    return () => abort.abort();
  }, [key, reload]);
  // Ids of other ones may begin alike.
  return value?.jobs.filter(({ origin }) => origin?.id === id);
}

type Props = { readonly jobs: readonly Summary[] | undefined; readonly prefix: string };

/** Jobs that a schedule or hook started, with what is known of how. */
export function StartedJobs({ jobs, prefix }: Props) {
  return (
    <section class="box" aria-labelledby="started-title">
      <h2 id="started-title">Newest jobs</h2>
      {jobs?.length === 0 && <p class="muted">It has started no job yet.</p>}
      <ul class="recent">
        {jobs?.slice(0, mostShown).map((job) => (
          <StartedJob key={job.id} job={job} />
        ))}
      </ul>
      {(jobs?.length ?? 0) > 0 && (
        <Link href={`/jobs?id_prefix=${encodeURIComponent(prefix)}`}>All its jobs</Link>
      )}
    </section>
  );
}

function StartedJob({ job: { id, status, start, failure, origin } }: { readonly job: Summary }) {
  const { cause, by, delivery, problem, time } = origin ?? {};
  const asked = by === undefined ? '' : ` by ${by}`;
  const how =
    cause === 'run' ? `run by hand${asked}` : cause === 'backfill' ? `backfill${asked}` : undefined;
  const words = [how, delivery === undefined ? time : `delivery ${delivery}`].filter(
    (word) => word !== undefined,
  );
  return (
    <li>
      <StatusWord status={status} /> <Link href={`/jobs/${encodeURIComponent(id)}`}>{id}</Link>{' '}
      <Ago at={start} />
      <span class="muted note">{words.join(', ')}</span>
      {(problem ?? failure) !== undefined && (
        <span class="mistake note">{problem ?? failure?.message}</span>
      )}
    </li>
  );
}
