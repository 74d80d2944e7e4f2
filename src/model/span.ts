import { z } from 'zod';
import { durationSchema } from './scalars.js';

const spanText =
  'must be a duration in whole seconds: milliseconds (a multiple of 1000), or a text such as "15m", "1d" or "PT15M" (ISO 8601 without months and years)';
const isoSpan =
  /^P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/;
const unitSpan =
  /^(?=\d)(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d{1,3})?)s)?(?:(\d+)ms)?$/;

/** The numbers of a duration in words, from weeks to milliseconds; undefined: it is none. */
const partsOf = (text: string): readonly string[] | null =>
  isoSpan.exec(text) ?? unitSpan.exec(text);

/** A duration as the author of a schedule or of `retain` writes it; its milliseconds: `writtenSpanMs`. */
export const spanSchema = z
  .union([durationSchema, z.string()], { error: spanText })
  .refine((span) => isSpan(span), { error: spanText })
  .describe('Milliseconds, or a text with units ("15m", "1d": 24 hours, "PT15M"); whole seconds.');

/** The longest duration that is written so: a hundred years. */
export const longestSpanMs = 3_155_760_000_000;

function isSpan(span: number | string): boolean {
  if (typeof span === 'string' && partsOf(span) === null) return false;
  const ms = writtenSpanMs(span);
  return ms % 1_000 === 0 && ms <= longestSpanMs;
}

/** Returns the milliseconds of a written duration: 900000 for `"15m"` and `"PT15M"`. A day has 24 hours. */
export function writtenSpanMs(span: number | string): number {
  if (typeof span === 'number') return span;
  const [, weeks, days, hours, minutes, seconds, ms] = partsOf(span) ?? [];
  const of = (count: string | undefined, unit: number): number => Number(count ?? 0) * unit;
  const inHours = of(weeks, 168) + of(days, 24) + of(hours, 1);
  const inSeconds = inHours * 3_600 + of(minutes, 60);
  return inSeconds * 1_000 + Math.round(of(seconds, 1_000)) + of(ms, 1);
}

const lengthText =
  'must be a duration: milliseconds (a whole number, 0 or more), or a text such as "30s", "500ms" or "PT30S"';
const tooLongText = 'must be a duration of at most 100 years';

/**
 * A duration as authors write it in tasks, flows and entries: milliseconds, or a text with units. It is read as milliseconds,
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
          error: ({ input }) => (partsOf(String(input)) !== null ? tooLongText : lengthText),
        })
        .transform(writtenSpanMs),
    ],
    { error: lengthText },
  )
  .describe('Milliseconds, or a text with units ("30s", "PT30S").');

/** Whether a text is a duration, as `writtenLengthSchema` takes it. */
export function isWrittenLength(text: string): boolean {
  return partsOf(text) !== null && writtenSpanMs(text) <= longestSpanMs;
}
