import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { get } from '../api.js';
import { isEnded, shownStatuses, type JobList, type StoredJob } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { EditionChanges } from './edition-changes.js';
import { otherEditions, type OtherEdition } from './edition.js';
import type { StoredDefinition } from './stored.js';

/** So many live jobs are looked at. */
const most = 500;

/** The live jobs that run another edition of a flow than the one that is stored, and how it differs. */
export function RunningEditions({ flow }: { readonly flow: StoredDefinition }) {
  const { name, owner, rev } = flow;
  const { value } = useLoaded(`editions of ${flow.id} ${rev}`, (signal) =>
    get<JobList>('jobs', {
      query: {
        flow: name,
        ...(owner === 'DEFAULT' ? {} : { owner }),
        status: shownStatuses.filter((status) => !isEnded(status)),
        limit: most,
      },
      signal,
    }),
  );
  const editions = otherEditions(value?.jobs ?? [], rev);
  if (editions.length === 0) return null;
  return (
    <section class="box" aria-labelledby="editions-title">
      <h2 id="editions-title">Live jobs with another edition</h2>
      <p class="muted">A job runs the edition that was stored when it began, to its end.</p>
      {editions.map((edition) => (
        <EditionRow key={edition.rev} edition={edition} isPart={value?.cursor !== undefined} />
      ))}
    </section>
  );
}

type RowProps = {
  readonly edition: OtherEdition;
  /** There are more live jobs than were looked at. */
  readonly isPart: boolean;
};

function EditionRow({ edition: { rev, jobs }, isPart }: RowProps) {
  const [open, setOpen] = useState(false);
  const [first = ''] = jobs;
  const count = `${jobs.length.toLocaleString()}${isPart ? ' or more' : ''}`;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Edition {rev.split('-')[0]}: {count} {jobs.length === 1 ? 'job' : 'jobs'}
      </summary>
      <p>
        One of them is{' '}
        <Link href={`/jobs/${encodeURIComponent(first)}`} class="mono">
          {first}
        </Link>
        .
      </p>
      {open && <Changes id={first} />}
    </details>
  );
}

function Changes({ id }: { readonly id: string }) {
  const { value, error, reload } = useLoaded(`edition of ${id}`, (signal) =>
    get<StoredJob>(`jobs/${encodeURIComponent(id)}`, { signal }),
  );
  if (value !== undefined) return <EditionChanges job={value.document} />;
  return error === undefined ? (
    <Loading what="what it runs" />
  ) : (
    <ProblemBox error={error} again={reload} />
  );
}
