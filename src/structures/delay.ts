import { z } from 'zod';
import { durationSchema, timeSchema } from '../model/scalars.js';
import { isWrittenLength, writtenSpanMs } from '../model/span.js';
import { lengthOf } from '../words.js';
import type { EntryKind } from './entry-kind.js';

const delayText =
  'must be milliseconds, a duration ("30s"), or a time (ISO 8601 with a zone, or a template)';

/** What can be read as a delay; a template shows only when it is filled in. */
function isDelay(text: string): boolean {
  if (text.includes('{{') || isWrittenLength(text.trim())) return true;
  const length = /^\d+$/.test(text.trim()) ? Number(text) : undefined;
  return length === undefined
    ? timeSchema.safeParse(text.trim()).success
    : durationSchema.safeParse(length).success;
}

/** Waits for a length of time, or until a moment. */
export const delay: EntryKind = {
  shape: {
    delay: z
      .union([durationSchema, z.string().refine(isDelay, { error: delayText })], {
        error: delayText,
      })
      .describe('Milliseconds or a text such as "30s", or the time until which it waits.'),
  },
  calledBy: 'word',
  isWait: true,
  notes: ({ delay: time }) => [
    typeof time === 'number' || isWrittenLength(String(time))
      ? `waits ${lengthOf(writtenSpanMs(time as number | string))}`
      : `waits until ${String(time)}`,
  ],
  texts: ['delay'],
};
