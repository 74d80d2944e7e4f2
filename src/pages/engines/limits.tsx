import { Fragment } from 'preact';
import { counted, lengthOf } from '../../words.js';
import { get } from '../api.js';
import { usePolled } from '../live/use-polled.js';
import { Link } from 'wouter-preact';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';

/** So often the limits are looked at, ms: who waits is found out job by job. */
const everyMs = 10_000;

/** A limit in use, as the API answers it. */
type Limit = {
  readonly title: string;
  readonly owner?: string;
  readonly key?: string;
  readonly limit?: number;
  readonly per?: number;
  readonly held: number;
  readonly holders: readonly { readonly job: string; readonly since: number }[];
  readonly waiting: number;
  readonly line: readonly { readonly job: string }[];
};

type LimitList = {
  readonly limits: readonly Limit[];
  readonly more: number;
  readonly partly: boolean;
};

/** So many jobs of each kind are named. */
const mostNamed = 3;

/** The limits that jobs hold or wait for. */
export function UsedLimits() {
  const { value, error, reload } = usePolled('limits', everyMs, (signal) =>
    get<LimitList>('limits', { signal }),
  );
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (value === undefined) return null;
  const { limits, more, partly } = value;
  return (
    <section>
      <h2>Limits</h2>
      {limits.length === 0 && <p class="muted">No job holds a permit or waits for one.</p>}
      <ul class="engines">
        {limits.map((limit) => (
          <LimitBox key={JSON.stringify([limit.title, limit.owner, limit.key])} limit={limit} />
        ))}
      </ul>
      {more > 0 && <p class="muted">And {more} more.</p>}
      {partly && <p class="muted">There are more jobs than were looked at.</p>}
    </section>
  );
}

function LimitBox({ limit: one }: { readonly limit: Limit }) {
  const { title, owner, key, limit, per, held, holders, waiting, line } = one;
  const shown = holders.slice(0, mostNamed);
  return (
    <li class="box">
      <h3 class="id">
        {title}
        {key === undefined ? '' : ` for ${key}`}{' '}
        <span class={`status ${waiting > 0 ? 'paused' : 'succeeded'}`}>
          {held} of {limit ?? '?'}
          {per === undefined ? '' : ` per ${lengthOf(per)}`}
        </span>
      </h3>
      <p class="muted">
        {owner === undefined ? '' : `Owner ${owner}. `}
        {waiting === 0 ? 'No job waits for it.' : `${counted(waiting, 'job')} in line`}
        {line.length > 0 && (
          <>
            , first <JobName id={line[0]?.job ?? ''} />
          </>
        )}
      </p>
      {held > 0 && (
        <p>
          {per === undefined ? 'Held by ' : 'Begun: '}
          {shown.map(({ job, since }, i) => (
            <Fragment key={`${job} ${since}`}>
              {i > 0 && ', '}
              <JobName id={job} /> (<Ago at={since} />)
            </Fragment>
          ))}
          {held > shown.length &&
            `${shown.length > 0 ? ' and ' : ''}${counted(held - shown.length, 'other')}`}
        </p>
      )}
    </li>
  );
}

function JobName({ id }: { readonly id: string }) {
  return <Link href={`/jobs/${encodeURIComponent(id)}`}>{id}</Link>;
}
