import { Link } from 'wouter-preact';
import { counted } from '../../words.js';
import { get } from '../api.js';
import { usePolled } from '../live/use-polled.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';
import type { StoredDefinition } from './stored.js';

/** How often they are read, ms. */
const everyMs = 5_000;
/** So many are shown. */
const most = 20;

/** Events that wait together, as the API answers them. */
type Gathered = {
  readonly id: string;
  readonly by: string;
  readonly key?: string;
  readonly event?: string;
  readonly count: number;
  readonly size: number;
  readonly due?: number;
  readonly starting?: string;
};

type Answer = { readonly gatherings: readonly Gathered[]; readonly more: boolean };

type Props = { readonly flow: StoredDefinition };

/** The events that wait for the next job of a flow; nothing for a flow that holds back none. */
export function GatheredEvents({ flow }: Props) {
  const { on } = flow.document;
  const holdsBack = (Array.isArray(on) ? (on as readonly unknown[]) : [on]).some(
    (entry) =>
      typeof entry === 'object' && entry !== null && ('debounce' in entry || 'batch' in entry),
  );
  return holdsBack ? <Waiting flow={flow} /> : null;
}

function Waiting({ flow: { name, owner } }: Props) {
  const { value, error, reload } = usePolled(`gatherings ${name} ${owner}`, everyMs, (signal) =>
    get<Answer>('gatherings', {
      // Those of flows for all are shown to whoever may see them.
      query: { flow: name, limit: most, ...(owner === 'DEFAULT' ? {} : { owner }) },
      signal,
    }),
  );
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (value === undefined) return null;
  return (
    <section class="box" aria-labelledby="gathered-title">
      <h2 id="gathered-title">Events that wait</h2>
      {value.gatherings.length === 0 && <p class="muted">No events wait for its next job.</p>}
      <ul class="recent">
        {value.gatherings.map((one) => (
          <Gathering key={one.id} of={one} />
        ))}
      </ul>
      {value.more && <p class="muted">There are others.</p>}
    </section>
  );
}

function Gathering({ of: one }: { readonly of: Gathered }) {
  const { by, key, event, count, size, due, starting } = one;
  const full = by === 'batch' ? ` of ${size}` : '';
  return (
    <li>
      {counted(count, 'event')}
      {full}
      {event !== undefined && (
        <>
          {' '}
          <code>{event}</code>
        </>
      )}
      {key !== undefined && ` with the key ${key}`}
      <span class="muted note">
        {by}
        {due !== undefined && (
          <>
            : the job starts <Ago at={due} />
          </>
        )}
        {starting !== undefined && (
          <>
            ; job{' '}
            <Link href={`/jobs/${encodeURIComponent(starting)}`} class="mono">
              {starting}
            </Link>{' '}
            is being made
          </>
        )}
      </span>
    </li>
  );
}
