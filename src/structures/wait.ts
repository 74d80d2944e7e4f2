import { z } from 'zod';
import { durationSchema, nameSchema, textSchema } from '../model/scalars.js';
import { lengthOf } from '../words.js';
import type { EntryKind } from './entry-kind.js';

const waitText = 'must be {"signal": name} or {"event": type, "key": text}';
const waitSchema = z
  .looseObject(
    {
      signal: z.exactOptional(nameSchema.describe('Name of the signal to wait for.')),
      event: z.exactOptional(nameSchema.describe('Type of the event to wait for.')),
      key: z.exactOptional(textSchema.describe('Key of the event; templates are filled in.')),
      timeout: z.exactOptional(durationSchema.describe('Milliseconds; 0 = no limit.')),
    },
    { error: waitText },
  )
  .superRefine(({ signal, event, key }, context) => {
    if ((signal === undefined) === (event === undefined)) {
      context.addIssue({ code: 'custom', message: waitText });
    } else if (signal !== undefined && key !== undefined) {
      const message = 'must not stand beside "signal": only events have a key';
      context.addIssue({ code: 'custom', path: ['key'], message, params: { isComplete: true } });
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
