import { z } from 'zod';
import { cacheSchema } from './cached-result.js';
import { concurrencySchema } from './concurrency.js';
import { rateSchema } from './rate.js';
import { retrySchema } from './retry.js';
import {
  flagSchema,
  jsonSchemaSchema,
  namesSchema,
  nameOf,
  nameSchema,
  paramsSchema,
  textSchema,
  askedVersionSchema,
  type Known,
} from './scalars.js';
import { writtenLengthSchema } from './span.js';
import { tagsSchema } from './tags.js';

export const defaultOwner = 'DEFAULT';
export const defaultTaskTimeoutMs = 15_000;

const slotsText = 'must be a number of slots (a whole number, 1 or more)';

/** A task document as users write it. */
export const taskSchema = z
  .looseObject({
    type: z.literal('task'),
    name: nameSchema,
    owner: z.exactOptional(nameSchema.describe('Whose task; absent means DEFAULT.')),
    plugin: z.exactOptional(
      nameOf('plugin').describe('The plugin that does the work; default: the name.'),
    ),
    description: z.exactOptional(textSchema),
    tags: tagsSchema,
    params: z.exactOptional(paramsSchema),
    sealed: z.exactOptional(
      namesSchema.describe(
        'Parameters (`url`, `smtp.host`) that neither flow nor job overrides; all of them where one is encrypted.',
      ),
    ),
    open: z.exactOptional(
      namesSchema.describe(
        'Parameters that flow and job may set although an encrypted value stands beside them.',
      ),
    ),
    sensitive: z.exactOptional(
      namesSchema.describe(
        'Sensitive values that its steps may use, of the subject of the job: `{"$sensitive": "name"}`, `{{$sensitive.name}}` in templates, `sensitive(name)` in plugins.',
      ),
    ),
    timeout: z.exactOptional(
      writtenLengthSchema.describe(
        'Milliseconds, or a text such as "30s", that one attempt may take; default 15000, 0 = no limit.',
      ),
    ),
    retry: z.exactOptional(retrySchema),
    error: z.exactOptional(nameOf('task').describe('Task that handles a failure of this one.')),
    undo: z.exactOptional(
      nameOf('task').describe('Task that undoes a completed step of this one when the flow fails.'),
    ),
    flow: z.exactOptional(nameOf('flow').describe('Run this flow instead of a plugin.')),
    flow_version: z.exactOptional(askedVersionSchema),
    labels: z.exactOptional(namesSchema.describe('Labels an engine must carry to take it.')),
    heartbeat: z.exactOptional(
      writtenLengthSchema.describe(
        'Milliseconds an attempt may be silent (`heartbeat()`); 0 = no limit.',
      ),
    ),
    accept_timeout: z.exactOptional(
      writtenLengthSchema.describe(
        'Milliseconds, or a text such as "30s", within which an engine must take it.',
      ),
    ),
    total_timeout: z.exactOptional(
      writtenLengthSchema.describe(
        'Milliseconds, or a text such as "30s", for waiting and all attempts together.',
      ),
    ),
    slots: z.exactOptional(
      z
        .int({ error: slotsText })
        .min(1, { error: slotsText })
        .describe('So many of its attempts one engine runs at once; default: as many as it can.'),
    ),
    concurrency: z.exactOptional(concurrencySchema),
    cache: z.exactOptional(cacheSchema),
    optional: z.exactOptional(flagSchema.describe('A failure does not fail the flow.')),
    rate: z.exactOptional(
      rateSchema.describe(
        '{limit, per, key, name}: how many of its attempts begin in every window of time.',
      ),
    ),
    schema: z.exactOptional(jsonSchemaSchema),
    output_schema: z.exactOptional(jsonSchemaSchema.describe('A JSON Schema of the result.')),
  })
  .superRefine(({ plugin, flow, cache }, context) => {
    if (cache !== undefined && flow !== undefined) {
      const message = 'must not stand beside "flow": only results of plugins are kept';
      context.addIssue({ code: 'custom', path: ['cache'], message, params: { isComplete: true } });
    }
    if (plugin === undefined || flow === undefined) return;
    const message = 'must not stand beside "flow": a task runs a plugin or a flow';
    context.addIssue({ code: 'custom', path: ['plugin'], message, params: { isComplete: true } });
  })
  .describe('A task: what one step does, by which plugin, with which defaults.');

export type Task = Known<z.infer<typeof taskSchema>>;

/** Name of the plugin that does a task's work. */
export function pluginOf(task: { readonly name: string; readonly plugin?: string }): string {
  return task.plugin ?? task.name;
}

/** Key of the views and the library: `name::owner`. */
export function keyOf(name: string, owner: string | undefined): string {
  return `${name}::${owner ?? defaultOwner}`;
}

/** The keys under which a definition that an owner names is found, each once, the owner's own first. */
export function keysFor(name: string, owner: string): readonly string[] {
  return [...new Set([keyOf(name, owner), keyOf(name, defaultOwner)])];
}

/** Whose a document is, also a malformed one. */
export function ownerOf({ owner }: Readonly<Record<string, unknown>>): string {
  return typeof owner === 'string' && owner !== '' ? owner : defaultOwner;
}
