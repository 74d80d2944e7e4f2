import { Link } from 'wouter-preact';
import { endedStatuses, type EndedStatus, type RetainLimit } from '../../model/retain.js';
import type { LastPass } from '../../model/retention.js';
import { writtenSpanMs } from '../../model/span.js';
import { counted, lengthOf } from '../../words.js';
import { ApiProblem, get } from '../api.js';
import { pageOf } from '../definitions/stored.js';
import { now } from '../live/clock.js';
import { usePolled } from '../live/use-polled.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';
import type { RetentionAnswer, RuleAnswer } from './answers.js';

/** How often it is read, ms. */
const everyMs = 10_000;

/** What is kept of ended jobs, and what the last pass removed. */
export function Retention() {
  const { value, error, reload } = usePolled('retention', everyMs, (signal) =>
    get<RetentionAnswer>('retention', { signal }),
  );
  return (
    <>
      {error !== undefined && <Refused error={error} again={reload} />}
      {value === undefined && error === undefined && <Loading what="the rules" />}
      {value !== undefined && (
        <>
          <Mistakes of={value} />
          <Rules of={value} />
          <Passes of={value} />
        </>
      )}
    </>
  );
}

/** Retention is that of all owners: a user of some of them sees only the archive. */
function Refused({ error, again }: { readonly error: unknown; readonly again: () => void }) {
  if (error instanceof ApiProblem && error.error === 'owners_needed')
    return <p class="muted">{error.reason}</p>;
  return <ProblemBox error={error} again={again} />;
}

type Props = { readonly of: RetentionAnswer };

function Mistakes({ of: { problems } }: Props) {
  if (problems.length === 0) return null;
  return (
    <section class="box problem" aria-label="Rules with mistakes">
      <p>
        <strong>These flows have mistakes in “retain”: none of their jobs is removed.</strong>
      </p>
      <ul>
        {problems.map(({ flow, message }) => (
          <li key={`${flow} ${message}`}>
            <Link href={pageOf('flow', flow)}>{flow}</Link>: {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Rules({ of: { rules, configured } }: Props) {
  return (
    <section aria-labelledby="kept-title">
      <h2 id="kept-title">What is kept</h2>
      {!configured && (
        <p>
          No rule removes anything: all jobs stay. Write “retain” in a flow, or in tws.json for all
          flows.
        </p>
      )}
      {rules.length > 0 && (
        <div class="table with-cards" tabIndex={0} role="region" aria-label="What is kept">
          <table class="cards">
            <thead>
              <tr>
                <th scope="col">Flow</th>
                {endedStatuses.map((status) => (
                  <th key={status} scope="col">
                    {titles[status]}
                  </th>
                ))}
                <th scope="col">Archive</th>
              </tr>
            </thead>
            <tbody>
              {rules.map((rule) => (
                <Rule key={rule.flow ?? ''} rule={rule} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const titles: Readonly<Record<EndedStatus, string>> = {
  ...{ succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' },
};

function Rule({ rule: { flow, limits, archive } }: { readonly rule: RuleAnswer }) {
  return (
    <tr>
      <th scope="row">
        {flow === undefined ? (
          'All other flows (tws.json)'
        ) : (
          <Link href={pageOf('flow', flow)}>{flow}</Link>
        )}
      </th>
      {endedStatuses.map((status) => (
        <td key={status} data-title={titles[status]}>
          {limitWords(limits[status])}
        </td>
      ))}
      <td data-title="Archive">{archive ?? <span class="muted">none</span>}</td>
    </tr>
  );
}

function limitWords(limit: RetainLimit | undefined): string {
  if (limit === undefined) return 'all';
  const { age, count } = limit;
  const newest = count === undefined ? [] : [count === 0 ? 'none' : `the newest ${count}`];
  const young = age === undefined ? [] : [`for ${lengthOf(writtenSpanMs(age))}`];
  return [...newest, ...young].join(', ');
}

function Passes({ of: { configured, next, running, last } }: Props) {
  const isRunning = running !== undefined && running.until > now.value;
  return (
    <section class="box" aria-labelledby="pass-title">
      <h2 id="pass-title">Last pass</h2>
      {last === undefined ? (
        <p class="muted">{configured ? 'There was none yet.' : 'There was none.'}</p>
      ) : (
        <Pass last={last} />
      )}
      {isRunning && (
        <p>
          {running.by} is removing jobs; it began <Ago at={running.since} />.
        </p>
      )}
      {!isRunning && configured && next !== undefined && (
        <p class="muted">
          {next > now.value ? (
            <>
              The next one is due <Ago at={next} />.
            </>
          ) : (
            'The next one is due: an engine makes it within the hour.'
          )}
        </p>
      )}
    </section>
  );
}

function Pass({ last }: { readonly last: LastPass }) {
  const { at, ms, by, removed, kept, archived, purged, compacted, failures = [] } = last;
  const some = endedStatuses.filter((status) => (removed[status] ?? 0) > 0);
  const sum = endedStatuses.reduce((all, status) => all + (removed[status] ?? 0), 0);
  const each = some.map((status) => `${removed[status]} ${status}`).join(', ');
  return (
    <>
      <p>
        <Ago at={at} />, in {lengthOf(ms)}, by {by}: removed{' '}
        <b>{sum === 0 ? 'no job' : counted(sum, 'job')}</b>
        {sum > 0 && ` (${each})`}
        {archived !== undefined && archived > 0 && `, ${archived} archived`}.
        {kept > 0 && ` ${counted(kept, 'job')} had to stay: “tws retain --dry-run” says why.`}
      </p>
      {((purged ?? 0) > 0 || compacted === true) && (
        <p class="muted">
          {(purged ?? 0) > 0 && `Purged ${counted(purged ?? 0, 'tombstone')}. `}
          {compacted === true && 'The database was compacted.'}
        </p>
      )}
      {failures.map((message) => (
        <p key={message} class="mistake">
          {message}
        </p>
      ))}
    </>
  );
}
