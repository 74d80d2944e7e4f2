import { Link } from 'wouter-preact';
import { exact } from '../parts/time.js';

/** What a job says of the schedule that started it, as far as the document can be trusted. */
type Written = {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly slot?: unknown;
  readonly time?: unknown;
} | null;

type Props = { readonly schedule: unknown; readonly by: unknown };

/** Says what started the job: a schedule, for which of its times, an event, a signal or a hook. */
export function StartedBy({ schedule, by }: Props) {
  return (
    <>
      <BySchedule schedule={schedule} />
      <ByTrigger by={by} />
    </>
  );
}

function ByTrigger({ by }: Pick<Props, 'by'>) {
  if (typeof by !== 'object' || by === null) return null;
  const found = Object.entries(by).find(
    ([what, id]) => ['event', 'signal', 'hook'].includes(what) && typeof id === 'string',
  );
  if (found === undefined) return null;
  const [what, id] = found as [string, string];
  if (what === 'hook')
    return (
      <p>
        Started by hook <Link href={`/hooks/${encodeURIComponent(id)}`}>{id}</Link>.
      </p>
    );
  return (
    <p>
      Started by {what} <code>{id}</code>.
    </p>
  );
}

function BySchedule({ schedule }: Pick<Props, 'schedule'>) {
  if (typeof schedule !== 'object') return null;
  const { id, name, slot, time } = (schedule ?? {}) as NonNullable<Written>;
  if (typeof id !== 'string' || typeof slot !== 'number') return null;
  return (
    <p>
      Started by schedule{' '}
      <Link href={`/schedules/${encodeURIComponent(id)}`}>
        {typeof name === 'string' ? name : id}
      </Link>{' '}
      for <time title={`${exact(slot)} here`}>{typeof time === 'string' ? time : exact(slot)}</time>
      .
    </p>
  );
}
