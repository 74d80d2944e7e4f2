import { get } from '../api.js';
import type { HistoryEvent } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { clockTime, exact } from '../parts/time.js';

type Props = { readonly job: string; readonly rev: string };

/** What has happened in a job, in order. */
export function History({ job, rev }: Props) {
  const { value, error, reload } = useLoaded(`${job} ${rev}`, (signal) =>
    get<{ readonly events: readonly HistoryEvent[] }>(`jobs/${encodeURIComponent(job)}/history`, {
      signal,
    }),
  );
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (value === undefined) return <Loading what="the history" />;
  if (value.events.length === 0) return <p class="muted">Nothing has happened yet.</p>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label="History">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">Of</th>
            <th scope="col">With</th>
          </tr>
        </thead>
        <tbody>
          {value.events.map((event) => (
            <Row key={event.id} event={event} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Longer data is cut; the document has all of it. */
const mostLetters = 300;

function Row({
  event: { at, kind, level, name, path, attempt, data },
}: {
  readonly event: HistoryEvent;
}) {
  const text = data === undefined ? '' : JSON.stringify(data);
  return (
    <tr>
      <td class="nowrap">
        <time dateTime={new Date(at).toISOString()} title={exact(at)}>
          {clockTime(at)}
        </time>
      </td>
      <td>
        {kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')} <small class="muted">{level}</small>
      </td>
      <td>
        {name ?? path}
        {attempt !== undefined && attempt > 1 && <small class="muted"> attempt {attempt}</small>}
      </td>
      <td class="with">
        <code>{text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text}</code>
      </td>
    </tr>
  );
}
