import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { get } from '../api.js';
import type { JobList } from '../answers.js';
import { followJobs } from '../live/changes.js';
import { useLoaded } from '../live/use-loaded.js';
import { StatusWord } from '../parts/status.js';
import { Ago } from '../parts/time.js';
import type { StoredDefinition } from './stored.js';

/** So many jobs are shown. */
const most = 8;

/** The newest jobs of a flow, live. */
export function RecentJobs({ flow }: { readonly flow: StoredDefinition }) {
  const { name, owner } = flow;
  // A flow for all is run by jobs of any owner.
  const query = owner === 'DEFAULT' ? { flow: name } : { flow: name, owner };
  const { value, reload } = useLoaded(`jobs of ${flow.id}`, (signal) =>
    get<JobList>('jobs', { query: { ...query, limit: most }, signal }),
  );
  useEffect(() => {
    const abort = new AbortController();
    followJobs({ query, onBatch: reload, onMissed: reload, signal: abort.signal });
    return () => abort.abort();
  }, [flow.id, reload]);
  return (
    <section class="box" aria-labelledby="recent-title">
      <h2 id="recent-title">Newest jobs</h2>
      {value?.jobs.length === 0 && <p class="muted">It has had no jobs yet.</p>}
      <ul class="recent">
        {value?.jobs.map(({ id, status, start, failure }) => (
          <li key={id}>
            <StatusWord status={status} />{' '}
            <Link href={`/jobs/${encodeURIComponent(id)}`}>{id}</Link> <Ago at={start} />
            {failure !== undefined && <span class="muted note">{failure.message}</span>}
          </li>
        ))}
      </ul>
      {(value?.jobs.length ?? 0) > 0 && (
        <Link href={`/jobs?flow=${encodeURIComponent(name)}`}>All jobs of {name}</Link>
      )}
    </section>
  );
}
