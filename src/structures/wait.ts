import { z } from 'zod';
import { jsonSchemaSchema, nameSchema, textSchema } from '../model/scalars.js';
import { writtenLengthSchema } from '../model/span.js';
import { lengthOf } from '../words.js';
import type { EntryKind } from './entry-kind.js';

const answerText = 'must be a JSONata expression, or {"step": name} of a later step';
const answerSchema = z
  .union([z.string({ error: answerText }), z.strictObject({ step: nameSchema })], {
    error: answerText,
  })
  .describe(
    'What the sender of the signal is answered: JSONata over {data, params, results, job}, or the result of a later step.',
  );
const waitText = 'must be {"signal": name} or {"event": type, "key": text}';
const waitSchema = z
  .looseObject(
    {
      signal: z.exactOptional(nameSchema.describe('Name of the signal to wait for.')),
      event: z.exactOptional(nameSchema.describe('Type of the event to wait for.')),
      key: z.exactOptional(textSchema.describe('Key of the event; templates are filled in.')),
      timeout: z.exactOptional(
        writtenLengthSchema.describe('Milliseconds, or ISO 8601 ("PT30S"); 0 = no limit.'),
      ),
      schema: z.exactOptional(
        jsonSchemaSchema.describe('JSON Schema of the data of the signal: others are refused.'),
      ),
      answer: z.exactOptional(answerSchema),
    },
    { error: waitText },
  )
  .superRefine((wait, context) => {
    const { signal, event, key } = wait;
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } });
    if ((signal === undefined) === (event === undefined)) {
      context.addIssue({ code: 'custom', message: waitText });
      return;
    }
    if (signal !== undefined && key !== undefined)
      refuse('key', 'must not stand beside "signal": only events have a key');
    if (signal !== undefined) return;
    for (const one of ['schema', 'answer'] as const) {
      if (wait[one] !== undefined)
        refuse(one, 'must not stand beside "event": only the sender of a signal is answered');
    }
  });

/** Waits for a signal to the job, or for an event. */
export const wait: EntryKind = {
  shape: { wait: waitSchema.describe('Waits for a signal or an event.') },
  calledBy: 'word',
  isWait: true,
  notes: ({ wait: { signal, event, key, timeout } = {} }) => [
    ...(signal === undefined ? [] : [`waits for signal ${signal}`]),
    ...(event === undefined
      ? []
      : [`waits for event ${event}${key === undefined ? '' : ` ${key}`}`]),
    ...(timeout ? [`at most ${lengthOf(timeout)}`] : []),
  ],
  texts: ['wait.signal', 'wait.key'],
  // A signal goes to the job that has the step.
  needsWholeJob: (entry) => entry.wait?.signal !== undefined,
};
