import { Link, useSearchParams } from 'wouter-preact';
import { counted } from '../../words.js';
import { ApiProblem, get } from '../api.js';
import { useLoaded } from '../live/use-loaded.js';
import { formText } from '../parts/ask.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { StatusWord } from '../parts/status.js';
import { Ago } from '../parts/time.js';
import { archivedPath, type ArchivedAnswer } from './answers.js';

/** What is searched by; each has a place in the address. */
const searched = ['job', 'flow', 'owner', 'since'] as const;
type Search = Readonly<Partial<Record<(typeof searched)[number], string>>>;

/** The archived jobs, to be searched. */
export function ArchivedJobs() {
  const [address, setAddress] = useSearchParams();
  const search: Search = Object.fromEntries(
    searched.flatMap((key) => (address.get(key) ? [[key, address.get(key) ?? '']] : [])),
  );
  const { value, error, reload } = useLoaded(JSON.stringify(search), (signal) =>
    get<{ readonly jobs: readonly ArchivedAnswer[]; readonly more: boolean }>('archive', {
      query: queryOf(search),
      signal,
    }),
  );
  const isUnset = error instanceof ApiProblem && error.error === 'archive_unset';
  return (
    <section aria-labelledby="archive-title">
      <h2 id="archive-title">Archive</h2>
      {isUnset && (
        <p class="muted">
          There is no archive: jobs that are removed are gone. “archive” in “retain” names one.
        </p>
      )}
      {!isUnset && <SearchForm search={search} onSearch={setAddress} />}
      {error !== undefined && !isUnset && <ProblemBox error={error} again={reload} />}
      {value === undefined && error === undefined && <Loading what="the archive" />}
      {value !== undefined && <Found jobs={value.jobs} more={value.more} />}
    </section>
  );
}

/** A day begins where somebody sits. */
function queryOf({ since, ...rest }: Search) {
  const from = new Date(`${since ?? ''}T00:00`).getTime();
  return { ...rest, ...(Number.isNaN(from) ? {} : { since: from }) };
}

type FormProps = {
  readonly search: Search;
  readonly onSearch: (search: Record<string, string>) => void;
};

function SearchForm({ search, onSearch }: FormProps) {
  return (
    <form
      key={JSON.stringify(search)}
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        onSearch(
          Object.fromEntries(
            searched.flatMap((key) => {
              const text = formText(form, key);
              return text === undefined ? [] : [[key, text]];
            }),
          ),
        );
      }}
    >
      <label>
        Job
        <input type="search" name="job" placeholder="Its whole id" defaultValue={search.job} />
      </label>
      <label>
        Flow
        <input name="flow" placeholder="name or name::owner" defaultValue={search.flow} />
      </label>
      <label>
        Owner
        <input name="owner" defaultValue={search.owner} />
      </label>
      <label>
        Ended on or after
        <input type="date" name="since" defaultValue={search.since} />
      </label>
      <button class="primary">Search</button>
    </form>
  );
}

type FoundProps = { readonly jobs: readonly ArchivedAnswer[]; readonly more: boolean };

function Found({ jobs, more }: FoundProps) {
  if (jobs.length === 0) return <p class="muted">No archived job matches.</p>;
  return (
    <>
      <p class="muted" role="status">
        {more ? `The newest ${jobs.length} archived jobs` : counted(jobs.length, 'archived job')}
      </p>
      <div class="table with-cards" tabIndex={0} role="region" aria-label="Archived jobs">
        <table class="cards">
          <thead>
            <tr>
              {['Job', 'Status', 'Flow', 'Owner', 'Ended', 'Archived', 'Archive'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {jobs.map((one) => (
              <Row key={`${one.job} ${one.start}`} one={one} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ one }: { readonly one: ArchivedAnswer }) {
  const { job, status, flow, owner, end, at, archive } = one;
  return (
    <tr>
      <th scope="row">
        <Link href={`/${archivedPath(job)}`}>{job}</Link>
      </th>
      <td data-title="Status">
        <StatusWord status={status} />
      </td>
      <td data-title="Flow">{flow === '' ? <span class="muted">none</span> : flow}</td>
      <td data-title="Owner">{owner}</td>
      <td data-title="Ended">
        <Ago at={end} />
      </td>
      <td data-title="Archived">
        <Ago at={at} />
      </td>
      <td data-title="Archive">{archive}</td>
    </tr>
  );
}
