import { z } from 'zod';
import { jsonSchemaSchema, nameSchema, textSchema } from '../model/scalars.js';
import { writtenLengthSchema } from '../model/span.js';
import { lengthOf } from '../words.js';
import type { EntryKind } from './entry-kind.js';
import { formFields, judgePeople, peopleKeys, peopleNotes, waysToAsked } from './people.js';

const answerText = 'must be a JSONata expression, or {"step": name} of a later step';
const answerSchema = z
  .union([z.string({ error: answerText }), z.strictObject({ step: nameSchema })], {
    error: answerText,
  })
  .describe(
    'What the sender of the signal is answered: JSONata over {data, params, results, job}, or the result of a later step.',
  );
const waitText = 'must be {"signal": name}, {"event": type, "key": text} or {"form": schema}';
const waitSchema = z
  .looseObject(
    {
      signal: z.exactOptional(nameSchema.describe('Name of the signal to wait for.')),
      event: z.exactOptional(nameSchema.describe('Type of the event to wait for.')),
      key: z.exactOptional(textSchema.describe('Key of the event; templates are filled in.')),
      match: z.exactOptional(
        z
          .string({ error: 'must be a JSONata expression (a string)' })
          .describe(
            'JSONata over {event, job, params, results}: only an event for which it is true is taken.',
          ),
      ),
      timeout: z.exactOptional(
        writtenLengthSchema.describe('Milliseconds, or ISO 8601 ("PT30S"); 0 = no limit.'),
      ),
      schema: z.exactOptional(
        jsonSchemaSchema.describe('JSON Schema of the data of the signal: others are refused.'),
      ),
      answer: z.exactOptional(answerSchema),
      ...formFields,
    },
    { error: waitText },
  )
  .superRefine((wait, context) => {
    const { signal, event, key, match, form } = wait;
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } });
    const isForPerson = form !== undefined;
    const isForSignal = signal !== undefined || isForPerson;
    if (isForSignal === (event !== undefined)) {
      context.addIssue({ code: 'custom', message: waitText });
      return;
    }
    if (isForSignal && key !== undefined)
      refuse('key', 'must not stand beside "signal": only events have a key');
    if (isForSignal && match !== undefined)
      refuse('match', 'must not stand beside "signal": write "schema" to refuse signals');
    if (isForPerson) {
      if (wait.schema !== undefined)
        refuse('schema', 'must not stand beside "form", which is the schema of the answer');
      return judgePeople(wait, refuse);
    }
    for (const one of peopleKeys) {
      if (wait[one] !== undefined) refuse(one, 'must stand beside "form": people fill that in');
    }
    if (signal !== undefined) return;
    for (const one of ['schema', 'answer'] as const) {
      if (wait[one] !== undefined)
        refuse(one, 'must not stand beside "event": only the sender of a signal is answered');
    }
  });

/** Waits for a signal to the job, for an event, or for a person. */
export const wait: EntryKind = {
  shape: { wait: waitSchema.describe('Waits for a signal, an event or the answer of a person.') },
  calledBy: 'word',
  isWait: true,
  notes: ({ wait: { signal, event, key, match, timeout, form, title, ...asked } = {} }) => [
    ...(form === undefined ? [] : [`waits for a person${title === undefined ? '' : `: ${title}`}`]),
    ...peopleNotes(asked),
    ...(signal === undefined || form !== undefined ? [] : [`waits for signal ${signal}`]),
    ...(event === undefined
      ? []
      : [`waits for event ${event}${key === undefined ? '' : ` ${key}`}`]),
    ...(match === undefined ? [] : [`that matches ${match}`]),
    ...(timeout ? [`at most ${lengthOf(timeout)}`] : []),
  ],
  texts: ['wait.key', ...waysToAsked('wait')],
  // A signal goes to the job that has the step.
  needsWholeJob: ({ wait: { signal, form } = {} }) => signal !== undefined || form !== undefined,
};
