import { z } from 'zod';
import { catalogueSchema } from './catalogue.js';
import { concurrencySchema } from './concurrency.js';
import { notifySchema } from './notify.js';
import { rateSchema } from './rate.js';
import { flowRetainSchema } from './retain.js';
import { retrySchema } from './retry.js';
import {
  flagSchema,
  jsonSchemaSchema,
  momentSchema,
  nameSchema,
  paramsSchema,
  queueSchema,
  textSchema,
  versionSchema,
} from './scalars.js';
import { tagsSchema } from './tags.js';
import { onSchema } from './trigger.js';
import { writtenLengthSchema, spanSchema } from './span.js';
import { uniqueSchema } from './unique.js';
import type { Structure } from './tree.js';

export const defaultFlowTimeoutMs = 60_000;
/** So often a job may begin anew when its flow says nothing. */
export const defaultRestarts = 10;

const restartsText = 'must be a number of restarts (a whole number, 0 or more)';

const runningText = 'must be a number of jobs (a whole number from 1 to 1000)';

const expressionSchema = z.string({ error: 'must be a JSONata expression (a string)' });

/** The fields of a flow document; what its structures are is said in src/structures. */
export const flowFields = {
  type: z.literal('flow'),
  name: nameSchema,
  owner: nameSchema,
  description: z.exactOptional(textSchema),
  tags: tagsSchema,
  tasks: z.unknown(),
  params: z.exactOptional(paramsSchema),
  error: z.exactOptional(z.unknown()),
  error_result: z.exactOptional(
    z
      .enum(['failure', 'handler'], { error: 'must be "failure" or "handler"' })
      .describe(
        'How the job ends after "error": failure (default): with the failure; handler: as the handler ends.',
      ),
  ),
  errors: z.exactOptional(catalogueSchema),
  cancel: z.exactOptional(z.unknown()),
  timeout: z.exactOptional(
    writtenLengthSchema.describe(
      'Milliseconds, or a text such as "30s"; default 60000, 0 = no limit.',
    ),
  ),
  timeout_mode: z.exactOptional(
    z
      .enum(['start', 'hard'], { error: 'must be "start" or "hard"' })
      .describe('start: nothing new starts after it; hard: the job ends at once.'),
  ),
  retry: z.exactOptional(retrySchema),
  restarts: z.exactOptional(
    z
      .int({ error: restartsText })
      .min(0, { error: restartsText })
      .describe('How often plugins may have a job begin anew; default 10.'),
  ),
  enabled: z.exactOptional(flagSchema.describe('false: jobs for it fail.')),
  deprecated: z.exactOptional(
    z
      .union([flagSchema, textSchema], {
        error: 'must be true, false or a sentence that says what to use instead (a string)',
      })
      .describe(
        'true, or a sentence that says what to use instead: it takes no new jobs and is not offered.',
      ),
  ),
  keys: z.exactOptional(
    z
      .array(nameSchema, { error: 'must be a list of names' })
      .max(50, { error: 'must have at most 50 names' })
      .describe('The search keys that its jobs may have; without it they may have any.'),
  ),
  paused: z.exactOptional(flagSchema.describe('true: jobs for it wait.')),
  max_running: z.exactOptional(
    z
      .int({ error: runningText })
      .min(1, { error: runningText })
      .max(1000, { error: runningText })
      .describe('So many jobs of the flow run at the same time at the most; the others wait.'),
  ),
  unique: z.exactOptional(uniqueSchema.describe('The `unique` of its jobs that have none.')),
  concurrency: z.exactOptional(concurrencySchema),
  rate: z.exactOptional(
    rateSchema.describe(
      '{limit, per, key, name}: how many of its jobs begin in every window of time.',
    ),
  ),
  queue: z.exactOptional(queueSchema),
  schema: z.exactOptional(jsonSchemaSchema),
  output_schema: z.exactOptional(jsonSchemaSchema.describe('A JSON Schema of the result.')),
  output: z.exactOptional(
    z
      .union([expressionSchema, z.record(z.string(), expressionSchema)], {
        error: 'must be a JSONata expression or an object of them',
      })
      .describe('What the job leaves as its result: JSONata.'),
  ),
  expected: z.exactOptional(
    spanSchema.describe(
      'How long a job is expected to take, all time counted: one that takes longer is late. Milliseconds, or a text such as "10m".',
    ),
  ),
  notify: z.exactOptional(notifySchema),
  notify_lists: z.exactOptional(
    flagSchema.describe(
      'false: the notify lists of its owner and of the database leave out its jobs.',
    ),
  ),
  on: z.exactOptional(onSchema),
  retain: z.exactOptional(flowRetainSchema),
  version: z.exactOptional(
    versionSchema.describe(
      'Its version: documents of the same name and owner may stand side by side when this differs.',
    ),
  ),
  current: z.exactOptional(
    flagSchema.describe('true: of several versions the one that jobs get which ask for none.'),
  ),
  current_since: z.exactOptional(
    momentSchema.describe('Since when it is current; `tws flow use` writes it.'),
  ),
  current_by: z.exactOptional(
    textSchema.describe('Who made it current, where that is known; `tws flow use` writes it.'),
  ),
  patch: z.exactOptional(
    versionSchema.describe('Level of its configuration: tells editions of one version apart.'),
  ),
};

/** A task that handles something, with parameters of its own. */
export type Handler = {
  readonly name: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

/** A flow in the one form that the inside knows; `notify`, `retain` and `on` as written (`readNotify`, `readRetain`, `readOn`). */
export type Flow = Omit<
  z.infer<z.ZodObject<typeof flowFields>>,
  'tasks' | 'error' | 'cancel' | 'notify' | 'retain' | 'on'
> & {
  readonly tasks: Structure;
  readonly error?: Handler | Structure;
  readonly cancel?: Structure;
  readonly notify?: unknown;
  readonly retain?: unknown;
  readonly on?: unknown;
};

/** The settings of a flow that a slice of one of its maps leaves to its parent. */
export const leftToParent = [
  'error',
  'error_result',
  'cancel',
  'output',
  'retry',
  'unique',
  'rate',
] as const;

/** What a flow does after a failure and after a cancel. */
type Ends = { readonly error?: Handler | Structure; readonly cancel?: Structure };

/** A structure of a flow beside its `tasks`; `root` is its key in the flow and the root of its paths. */
export type FlowBranch = { readonly root: 'error' | 'cancel'; readonly tree: Structure };

/** The structures of a flow beside its `tasks`: what runs after a failure, and after a cancel. */
export function branchesOf({ error, cancel }: Ends): readonly FlowBranch[] {
  return [
    ...(error === undefined || !isTree(error) ? [] : [{ root: 'error' as const, tree: error }]),
    ...(cancel === undefined ? [] : [{ root: 'cancel' as const, tree: cancel }]),
  ];
}

/** The task that handles the failure of a flow, where that is no structure. */
export function handlerOf({ error }: Ends): Handler | undefined {
  return error === undefined || isTree(error) ? undefined : error;
}

function isTree(error: Handler | Structure): error is Structure {
  return 'structure' in error;
}
