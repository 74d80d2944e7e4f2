import { z } from 'zod';
import { durationSchema } from './scalars.js';

const spanText =
  'must be a duration in whole seconds: milliseconds (a multiple of 1000), or ISO 8601 without months and years ("PT15M", "P1D")';
const isoSpan =
  /^P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/;

/** A duration as the author of a schedule or of `retain` writes it; its milliseconds: `writtenSpanMs`. */
export const spanSchema = z
  .union([durationSchema, z.string()], { error: spanText })
  .refine((span) => isSpan(span), { error: spanText })
  .describe('Milliseconds, or ISO 8601 ("PT15M", "P1D": 24 hours); whole seconds.');

/** The longest duration that is written so: a hundred years. */
export const longestSpanMs = 3_155_760_000_000;

function isSpan(span: number | string): boolean {
  if (typeof span === 'string' && !isoSpan.test(span)) return false;
  const ms = writtenSpanMs(span);
  return ms % 1_000 === 0 && ms <= longestSpanMs;
}

/** Returns the milliseconds of a written duration: 900000 for `"PT15M"`. A day has 24 hours. */
export function writtenSpanMs(span: number | string): number {
  if (typeof span === 'number') return span;
  const [, weeks, days, hours, minutes, seconds] = isoSpan.exec(span) ?? [];
  const of = (count: string | undefined, unit: number): number => Number(count ?? 0) * unit;
  const inHours = of(weeks, 168) + of(days, 24) + of(hours, 1);
  return (inHours * 3_600 + of(minutes, 60)) * 1_000 + Math.round(of(seconds, 1_000));
}

const lengthText =
  'must be a duration in milliseconds (a whole number, 0 or more), or in ISO 8601 without months and years ("PT30S")';
const tooLongText = 'must be a duration of at most 100 years';

/**
 * A duration as authors write it in tasks, flows and entries: milliseconds, or ISO 8601. It is read as milliseconds,
 * so everything behind it, and the copy in a job, has a number.
 */
export const writtenLengthSchema = z
  .union(
    [
      z.int({ error: lengthText }).min(0, { error: lengthText }).max(longestSpanMs, {
        error: tooLongText,
      }),
      z
        .string()
        .refine(isWrittenLength, {
          error: ({ input }) => (isoSpan.test(String(input)) ? tooLongText : lengthText),
        })
        .transform(writtenSpanMs),
    ],
    { error: lengthText },
  )
  .describe('Milliseconds, or ISO 8601 ("PT30S").');

/** Whether a text is a duration in ISO 8601, as `writtenLengthSchema` takes it. */
export function isWrittenLength(text: string): boolean {
  return isoSpan.test(text) && writtenSpanMs(text) <= longestSpanMs;
}
