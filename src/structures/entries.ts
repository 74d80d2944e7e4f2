import { z } from 'zod';
import { retrySchema } from '../model/retry.js';
import {
  durationSchema,
  flagSchema,
  nameOf,
  nameSchema,
  paramsSchema,
  textSchema,
  timeSchema,
} from '../model/scalars.js';
import { conditionSchema } from './conditions.js';
import { alone, besideText, ofStructures } from './node-keys.js';

/** How users write the nodes of a flow that run as one step each. */

const stdioSchema = z
  .record(z.string(), textSchema, {
    error: 'must be an object {"key of the result before": "path in params"}',
  })
  .describe('Key of the previous result (first step: of the job params) -> path in params.');

const guardsSchema = z
  .union([conditionSchema, z.array(conditionSchema)], {
    error: 'must be a condition or a list of conditions',
  })
  .describe('JSONata conditions; the node is skipped unless all are true.');

/** The keys that every node may have. */
export const common = {
  name: z.exactOptional(nameSchema.describe('Name of this node; default: the task name.')),
  when: z.exactOptional(conditionSchema.describe('JSONata condition: false skips the node.')),
  guards: z.exactOptional(guardsSchema),
  optional: z.exactOptional(flagSchema.describe('A failure does not fail the flow.')),
};

const step = {
  ...ofStructures,
  ...common,
  params: z.exactOptional(paramsSchema),
  stdio: z.exactOptional(stdioSchema),
  retry: z.exactOptional(retrySchema),
  timeout: z.exactOptional(durationSchema),
  heartbeat: z.exactOptional(durationSchema),
  error: z.exactOptional(nameOf('task').describe('Task that handles a failure of this step.')),
  undo: z.exactOptional(nameOf('task').describe('Task that undoes this step when the flow fails.')),
};

/** One entry that names a task. */
export const entrySchema = z.looseObject({
  ...alone('task'),
  ...step,
  task: nameOf('task').describe('Name of the task document.'),
});

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
      context.addIssue({ code: 'custom', path: ['key'], message, params: { told: true } });
    }
  });

export const waitEntrySchema = z.looseObject({
  ...alone('wait', 'task'),
  ...step,
  wait: waitSchema.describe('Waits for a signal or an event.'),
  task: z.exactOptional(z.literal('wait', { error: besideText('wait') })),
});

const delayText = 'must be milliseconds, or a time (ISO 8601 with a zone, or a template)';

/** What can be read as a delay; a template shows only when it is filled in. */
function isDelay(text: string): boolean {
  if (text.includes('{{')) return true;
  const length = /^\d+$/.test(text.trim()) ? Number(text) : undefined;
  return length === undefined
    ? timeSchema.safeParse(text.trim()).success
    : durationSchema.safeParse(length).success;
}

export const delayEntrySchema = z.looseObject({
  ...alone('delay', 'task'),
  ...step,
  delay: z
    .union([durationSchema, z.string().refine(isDelay, { error: delayText })], {
      error: delayText,
    })
    .describe('Milliseconds, or the time until which it waits.'),
  task: z.exactOptional(z.literal('delay', { error: besideText('delay') })),
});

export const flowForm = z.looseObject({
  ...alone('flow', 'task'),
  ...step,
  flow: nameOf('flow').describe('Flow that runs as a job of its own; this one waits for it.'),
  task: z.exactOptional(nameSchema),
});

export const deciderForm = z.looseObject({
  ...alone('decider', 'task'),
  ...step,
  decider: nameOf('plugin').describe('Plugin that reads the history and answers with decisions.'),
  task: z.exactOptional(nameSchema),
});

/**
 * Checks that an entry has no task of its own: the stored form repeats the name of the flow or
 * decider as the task; any other task would be a second kind.
 */
export const ownTask =
  (kind: 'flow' | 'decider') =>
  (fields: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    if (fields['task'] === undefined || fields['task'] === fields[kind]) return;
    context.addIssue({ code: 'custom', path: ['task'], message: besideText(kind) });
  };
