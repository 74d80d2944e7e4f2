import { writtenSpanMs } from '../../model/span.js';
import { counted, lengthOf } from '../../words.js';
import type { AnyDocument } from '../answers.js';

/** When a schedule is due, for people: `0 6 * * *`, `every 15 min`, `at 3 times`. */
export function whenText({ cron, every, offset, at }: AnyDocument): string {
  if (typeof cron === 'string') return cron;
  if (Array.isArray(at))
    return at.length === 1 ? `at ${String(at[0])}` : `at ${counted(at.length, 'time')}`;
  const span = spanText(every);
  if (span === undefined) return 'never';
  const moved = spanText(offset);
  return moved === undefined ? `every ${span}` : `every ${span}, moved by ${moved}`;
}

/** A duration as it was written, for people; undefined when it is none. */
export function spanText(span: unknown): string | undefined {
  if (typeof span !== 'number' && typeof span !== 'string') return undefined;
  const ms = writtenSpanMs(span);
  return ms > 0 ? lengthOf(ms) : undefined;
}

/** The time zone in which the slots of a schedule are told: its own, or that of whoever looks. */
export function zoneIn({ cron, time_zone: zone = 'UTC' }: AnyDocument): string | undefined {
  if (typeof cron !== 'string' || typeof zone !== 'string') return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** A slot (epoch ms) as date and time in a time zone; undefined: that of whoever looks. */
export function slotText(slot: number, zone: string | undefined): string {
  const at = new Date(slot);
  if (Number.isNaN(at.getTime())) return String(slot);
  return at.toLocaleString(undefined, {
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit' },
    ...(slot % 60_000 === 0 ? {} : { second: '2-digit' }),
    ...(zone === undefined ? {} : { timeZone: zone }),
  });
}
