import { Link } from 'wouter-preact';
import { exact } from '../parts/time.js';

/** What a job says of the schedule that started it, as far as the document can be trusted. */
type Written = {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly slot?: unknown;
  readonly time?: unknown;
} | null;

/** Says which schedule started the job, for which of its times; nothing where none did. */
export function StartedBy({ schedule }: { readonly schedule: unknown }) {
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
