import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { counted } from '../../words.js';
import { get } from '../api.js';
import { isEnded, shownStatuses, type JobList, type StoredJob } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { EditionChanges } from './edition-changes.js';
import { otherEditions, type OtherEdition } from './edition.js';
import type { DefinitionLists, StoredDefinition } from './stored.js';

/** So many live jobs are looked at, the newest ones. */
const most = 200;

type Props = { readonly flow: StoredDefinition; readonly stored: DefinitionLists };

/** The live jobs that run another edition of a flow than the one that is stored, and how it differs. */
export function RunningEditions({ flow, stored }: Props) {
  const { name, owner, rev } = flow;
  const { value, error, reload } = useLoaded(`editions of ${flow.id} ${rev}`, (signal) =>
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
  const editions = otherEditions(value?.jobs ?? [], flow, stored.flows);
  const isPart = value?.cursor !== undefined;
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (editions.length === 0 && !isPart) return null;
  return (
    <section class="box" aria-labelledby="editions-title">
      <h2 id="editions-title">Live jobs with another edition</h2>
      <p class="muted">
        A job keeps the edition that was stored when it began, unless a retry asks for the latest
        one.
        {isPart && ` The newest ${most} live jobs were looked at.`}
      </p>
      {editions.map((edition) => (
        <EditionRow key={`${edition.rev} ${rev}`} edition={edition} stored={stored} />
      ))}
    </section>
  );
}

type RowProps = { readonly edition: OtherEdition; readonly stored: DefinitionLists };

function EditionRow({ edition: { rev, jobs }, stored }: RowProps) {
  const [open, setOpen] = useState(false);
  const [first = ''] = jobs;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary title={rev}>
        Edition {rev.split('-')[0]}: {counted(jobs.length, 'job')}
      </summary>
      <p>
        One of them is{' '}
        <Link href={`/jobs/${encodeURIComponent(first)}`} class="mono">
          {first}
        </Link>
        .
      </p>
      {open && <Changes id={first} stored={stored} />}
    </details>
  );
}

function Changes({ id, stored }: { readonly id: string; readonly stored: DefinitionLists }) {
  const { value, error, reload } = useLoaded(`edition of ${id}`, (signal) =>
    get<StoredJob>(`jobs/${encodeURIComponent(id)}`, { signal }),
  );
  if (value !== undefined) return <EditionChanges job={value.document} stored={stored} />;
  return error === undefined ? (
    <Loading what="what it runs" />
  ) : (
    <ProblemBox error={error} again={reload} />
  );
}
