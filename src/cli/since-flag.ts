import { z } from 'zod';
import { isWrittenLength, writtenSpanMs } from '../model/span.js';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const error =
  'must be a time such as 2030-01-31 or 2030-01-31T08:00Z, or how long ago: 30m, 2h, 7d';

/** A moment in the past, epoch ms: an ISO 8601 date or time, or `2h` for two hours ago. */
export const sinceFlag = z
  .string()
  .transform((text, context) => {
    const at = momentOf(text.trim(), Date.now());
    if (at === undefined) context.addIssue({ code: 'custom', message: error });
    return at ?? 0;
  })
  .optional();

/** A length of time, ms: `30d`, ISO 8601 (`P30D`), or 0. */
export const spanFlag = z
  .string()
  .transform((given, context) => {
    const text = given.trim();
    const [, count, unit] = /^(\d{1,4})([smhdw])$/.exec(text) ?? [];
    if (unit !== undefined) return Number(count) * units[unit as keyof typeof units];
    if (text === '0' || isWrittenLength(text)) return writtenSpanMs(text);
    const message = 'must be a length of time such as 30d, 12h or P30D, or 0';
    context.addIssue({ code: 'custom', message });
    return 0;
  })
  .optional();

/** The moment that a text names as seen from `now`; a date without a time is midnight here. */
export function momentOf(text: string, now: number): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (unit !== undefined)
    return Math.max(0, now - Number(count) * units[unit as keyof typeof units]);
  const [, date, time = 'T00:00'] = /^(\d{4}-\d\d-\d\d)(T.+)?$/.exec(text) ?? [];
  const at = date === undefined ? NaN : Date.parse(`${date}${time}`);
  return Number.isNaN(at) ? undefined : at;
}
