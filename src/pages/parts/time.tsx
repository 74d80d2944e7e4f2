import { lengthOf, momentFrom } from '../../words.js';
import { now } from '../live/clock.js';
import { isNeverDue } from './never.js';

/** A moment: how long ago, with the exact time on hover. */
export function Ago({ at }: { readonly at: number | undefined }) {
  if (at === undefined || isNeverDue(at)) return <span class="muted">–</span>;
  // Somebody may have written a time that no date can hold.
  if (!isDate(at)) return <span class="muted">{String(at)}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {momentFrom(now.value, at)}
    </time>
  );
}

/** A moment to compare with others nearby: the time of day, with date and distance on hover. */
export function Moment({ at }: { readonly at: number }) {
  if (!isDate(at)) return <span class="muted">{String(at)}</span>;
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={`${exact(at)}, ${momentFrom(now.value, at)}`}
    >
      {clockTime(at)}
    </time>
  );
}

/** How long something took; while it has no end, until now. */
export function Took({
  from,
  to,
}: {
  readonly from?: number | undefined;
  to?: number | undefined;
}) {
  if (from === undefined) return <span class="muted">–</span>;
  // The clock of the engine may be a little ahead.
  const length = to === undefined ? Math.max(0, now.value - from) : to - from;
  return (
    <span>{to === undefined ? lengthOf(Math.floor(length / 1000) * 1000) : lengthOf(length)}</span>
  );
}

/** A moment with its date and seconds, in this browser's zone. */
export function exact(at: number): string {
  return isDate(at) ? dates.format(at) : String(at);
}

/** To make one takes as long as to draw a row. */
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function isDate(at: number): boolean {
  return !Number.isNaN(new Date(at).getTime());
}

/** The time of day with milliseconds. */
export function clockTime(at: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, { hour12: false });
  return `${time}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
