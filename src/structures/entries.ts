import { z } from 'zod';
import { retrySchema } from '../model/retry.js';
import { flagSchema, nameOf, nameSchema, paramsSchema, textSchema } from '../model/scalars.js';
import { writtenLengthSchema } from '../model/span.js';
import { conditionSchema } from './conditions.js';
import type { EntryKind } from './entry-kind.js';
import { entryKinds, entryKeys, type EntryWord } from './kinds.js';
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
  timeout: z.exactOptional(writtenLengthSchema),
  heartbeat: z.exactOptional(writtenLengthSchema),
  error: z.exactOptional(nameOf('task').describe('Task that handles a failure of this step.')),
  undo: z.exactOptional(nameOf('task').describe('Task that undoes this step when the flow fails.')),
};

/** The form of each kind of entry, before the rules that a form cannot tell; `more` keys are in all. */
export function entryFormsWith(more: z.ZodRawShape) {
  return Object.fromEntries(
    entryKeys.map((word) => [word, formOf(word, entryKinds[word], more)] as const),
  ) as Readonly<Record<EntryWord, ReturnType<typeof formOf>>>;
}

/** The stored form holds as `task` what people call the entry: users may, but need not write it. */
function formOf(word: EntryWord, { shape, calledBy }: EntryKind, more: z.ZodRawShape) {
  const called = calledBy === 'word' ? z.literal(word, { error: besideText(word) }) : nameSchema;
  return z.looseObject({
    ...alone(word, 'task'),
    ...step,
    ...more,
    ...shape,
    ...(word === 'task' ? {} : { task: z.exactOptional(called) }),
  });
}

/** The form with that rule: a `task` that is not what the entry is called would be a second kind. */
export function ofOneKind(word: EntryWord, form: z.ZodObject<z.ZodRawShape>): z.ZodType {
  if (word === 'task' || entryKinds[word].calledBy === 'word') return form;
  return form.superRefine((fields, context) => {
    if (fields['task'] === undefined || fields['task'] === fields[word]) return;
    context.addIssue({ code: 'custom', path: ['task'], message: besideText(word) });
  });
}
