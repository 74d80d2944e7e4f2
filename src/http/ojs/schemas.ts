import { z } from 'zod';
import { ojsUniqueSchema } from './unique.js';
import { longestWorkLeaseMs } from '../../model/work.js';
import { durationMs } from './durations.js';
import { ojsStates } from './states.js';

/** What the façade takes and answers. Durations of the schemas come out in ms, times as they were. */

const lengthText = 'must be a whole number of milliseconds, 0 or more';
const length = z.int({ error: lengthText }).min(0, { error: lengthText }).max(3_155_760_000_000);
const isoText =
  'must be a duration of ISO 8601 in weeks, days, hours, minutes or seconds, such as PT30S';
/** Longer fetches are refused, ms. */
export const longestFetchMs = 60_000;

const isoLength = z
  .string({ error: isoText })
  .refine((text) => durationMs(text) !== undefined, { error: isoText });
/** Seconds, or a text. */
const leaseLength = z.union(
  [
    isoLength,
    z
      .number()
      .min(0)
      .max(longestWorkLeaseMs / 1000),
  ],
  {
    error: 'must be a number of seconds, or a duration such as PT30S',
  },
);
const timeText = 'must be a time: ISO 8601 with a zone, such as 2026-02-12T10:30:00Z';
const time = z.iso.datetime({ offset: true, error: timeText });
const laterText = `${timeText}, or "+" and a duration, such as +PT30S`;
const later = z.union([time, z.templateLiteral(['+', isoLength])], { error: laterText });

const typeText =
  'must be words of lower case letters, digits, "_" and "-" with dots between them, such as email.send';
const typeSchema = z
  .string({ error: typeText })
  .max(255, { error: 'must not be longer than 255 characters' })
  .regex(/^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/, { error: typeText });
const queueText =
  'must be lower case letters, digits, "-" and "." and begin with a letter or digit';
export const queueNameSchema = z
  .string({ error: queueText })
  .max(128, { error: 'must not be longer than 128 characters' })
  .regex(/^[a-z0-9][a-z0-9.-]*$/, { error: queueText });
const idText = 'must be a UUID of version 7 in lower case';
const idSchema = z
  .string({ error: idText })
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, {
    error: idText,
  });
const priorityText = 'must be a whole number from -100 to 100';

const attemptsText = '("max_attempts") must be a whole number, 0 or more';
const coefficientText = '("backoff_coefficient") must be a number, 1 or more';
const backoffs = ['exponential', 'constant', 'none', 'linear', 'polynomial'] as const;

export const ojsRetrySchema = z
  .looseObject({
    max_attempts: z
      .int({ error: attemptsText })
      .min(0, { error: attemptsText })
      .max(1_000_000)
      .optional()
      .describe('The first one included; 3.'),
    initial_interval: isoLength.optional(),
    initial_interval_ms: length.optional().describe('Default 1000.'),
    backoff_coefficient: z
      .number({ error: coefficientText })
      .min(1, { error: coefficientText })
      .optional()
      .describe('Default 2.'),
    max_interval: isoLength.optional(),
    max_interval_ms: length.optional().describe('Default 300000.'),
    jitter: z
      .boolean()
      .optional()
      .describe('true (default): waits are from 0.5 to 1.5 times as long, within max_interval.'),
    non_retryable_errors: z.array(z.string()).max(1_000).optional(),
    on_exhaustion: z
      .enum(['discard', 'dead_letter'])
      .optional()
      .describe('Either way the job is kept among the dead letters.'),
    backoff_type: z.enum(backoffs).optional(),
    backoff_strategy: z.enum(backoffs).optional(),
  })
  .meta({ id: 'OjsRetry' });
export type OjsRetry = z.infer<typeof ojsRetrySchema>;

/** In the words of the conformance suite, and in those of the text about rate limiting. */
const rateLimitSchema = z.strictObject({
  max_per_second: z.int().min(1).max(1_000_000).optional(),
  key: z.string().min(1).max(1_000).optional().describe('What shares a limit; default: the queue.'),
  rate: z.looseObject({ limit: z.int().min(1).max(1_000_000), period: isoLength }).optional(),
  concurrency: z.unknown().optional().describe('Not supported.'),
  throttle: z.unknown().optional().describe('Not supported.'),
  on_limit: z.string().optional().describe('"wait"; others are not supported.'),
});

/** What says how a job is done: in `options`, or beside `type` and `args`. */
const optionShape = {
  queue: queueNameSchema.nullish(),
  priority: z
    .int({ error: priorityText })
    .min(-100, { error: priorityText })
    .max(100, { error: priorityText })
    .nullish()
    .describe('Higher first; default 0.'),
  timeout: length.nullish().describe('Seconds that an attempt may take; 0: as the task says.'),
  timeout_ms: length.nullish().describe('The same in milliseconds.'),
  scheduled_at: later.nullish().describe('Not begun before.'),
  delay_until: later.nullish().describe('The same.'),
  expires_at: later.nullish().describe('Discarded when it was not begun before.'),
  retry: ojsRetrySchema.nullish(),
  retry_policy: ojsRetrySchema.nullish().describe('The same.'),
  visibility_timeout: leaseLength.nullish().describe('In seconds, or as PT30S.'),
  visibility_timeout_ms: length
    .max(longestWorkLeaseMs)
    .nullish()
    .describe('How long a worker has it without a sign of life.'),
  tags: z.array(z.string()).max(1_000).nullish(),
  pending: z.boolean().nullish().describe('true: not begun before somebody activates it.'),
  unique: ojsUniqueSchema.nullish(),
  rate_limit: rateLimitSchema
    .nullish()
    .describe('How many of such jobs workers get in a window of time.'),
};
export const optionsSchema = z.strictObject({
  ...optionShape,
  metadata: z.record(z.string(), z.unknown()).nullish().describe('Goes into meta.'),
});
export type OjsOptions = z.infer<typeof optionsSchema>;
/** The names of all options. */
export const optionNames = Object.keys(optionShape) as readonly (keyof typeof optionShape)[];

export const orderSchema = z
  .looseObject({
    specversion: z.string().regex(/^1\.0/, { error: 'must be "1.0"' }).nullish(),
    id: idSchema.nullish().describe('Absent: one is made.'),
    type: typeSchema.describe('The name of a flow, or of a task.'),
    args: z.array(z.unknown(), { error: 'must be a list' }).describe('What it works on.'),
    meta: z.record(z.string(), z.unknown(), { error: 'must be an object' }).nullish(),
    schema: z.string().nullish().describe('It is kept; nothing is checked by it.'),
    options: optionsSchema.nullish(),
    ...optionShape,
  })
  .meta({ id: 'OjsOrder' });
export type OjsOrder = z.infer<typeof orderSchema>;

const errorSchema = z.looseObject({
  code: z.string(),
  type: z.string(),
  message: z.string(),
  retryable: z.boolean().optional(),
});
const text = z.string();

export const envelopeSchema = z
  .looseObject({
    specversion: text,
    id: text,
    type: text,
    state: z.enum(ojsStates),
    queue: text,
    args: z.array(z.unknown()),
    meta: z.record(z.string(), z.unknown()),
    priority: z.number(),
    attempt: z.number(),
    max_attempts: z.number().optional(),
    timeout_ms: z.number().optional(),
    visibility_timeout_ms: z.number().optional(),
    scheduled_at: text.optional(),
    expires_at: text.optional(),
    retry: ojsRetrySchema.optional(),
    tags: z.array(text).optional(),
    workflow_id: text.optional().describe('The workflow of which it is a step.'),
    parent_results: z
      .array(z.unknown())
      .optional()
      .describe('Of a step of a workflow: the results of what is before it.'),
    schema: text.optional(),
    created_at: text.optional().describe('Absent for a job that was not enqueued by this API.'),
    enqueued_at: text.optional(),
    started_at: text.optional(),
    completed_at: text.optional(),
    cancelled_at: text.optional(),
    discarded_at: text.optional(),
    next_attempt_at: text.optional(),
    retry_delay_ms: z.number().optional().describe('The wait before this attempt.'),
    result: z.unknown().optional(),
    error: errorSchema.optional().describe('The newest one; none of a job that was done.'),
    errors: z.array(errorSchema).optional().describe('Those of all attempts, the oldest first.'),
  })
  .meta({ id: 'OjsJob' });
export type Envelope = z.infer<typeof envelopeSchema>;

export const jobAnswerSchema = z.object({ job: envelopeSchema }).meta({ id: 'OjsJobAnswer' });

export const paginationSchema = z
  .object({
    total: z.number(),
    limit: z.number(),
    offset: z.number().optional(),
    has_more: z.boolean(),
    next_cursor: text.optional(),
  })
  .meta({ id: 'OjsPagination' });

/**
 * What workers send. What means nothing here is left aside: the SDKs send more than the binding names.
 */
export const fetchSchema = z.looseObject({
  queues: z
    .array(z.string().min(1).max(1_000))
    .min(1, { error: 'must name a queue' })
    .max(100)
    .describe('Looked through in this order.'),
  count: z.int().min(1).max(100).optional().describe('Default 1.'),
  batch_size: z.int().min(1).max(100).optional().describe('The same: the word of an SDK.'),
  wait_ms: z
    .int()
    .min(0)
    .max(longestFetchMs)
    .optional()
    .describe('How long it waits for work; default 2000.'),
  worker_id: z.string().min(1).max(200).optional(),
  visibility_timeout_ms: length.min(1).max(longestWorkLeaseMs).optional(),
  visibility_timeout: leaseLength.optional().describe('The same in seconds, or as PT30S.'),
});
const jobId = z.string().min(1).max(3_000);
const workerId = z
  .string()
  .max(200)
  .optional()
  .describe('Whoever says it is believed only what concerns its own jobs.');
export const ackSchema = z.looseObject({
  job_id: jobId,
  worker_id: workerId,
  result: z.unknown().optional(),
});
export const nackSchema = z.looseObject({
  job_id: jobId,
  worker_id: workerId,
  error: z.looseObject({
    message: z.string(),
    code: z.string().optional(),
    type: z.string().optional(),
    retryable: z.boolean().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  requeue: z
    .boolean()
    .optional()
    .describe('true: it is given back, and nothing is counted; whoever fetches next gets it.'),
});
export const heartbeatSchema = z.looseObject({
  worker_id: z.string().min(1).max(200),
  job_id: jobId.optional(),
  active_jobs: z
    .union([z.array(jobId).max(1_000), z.int().min(0)])
    .optional()
    .describe('What it has: ids, or as SDKs do it, how many.'),
  state: z.string().max(100).optional(),
  queues: z.array(z.string().max(1_000)).max(100).optional(),
  hostname: z.string().max(1_000).optional(),
  pid: z.int().optional(),
  concurrency: z.int().optional(),
  labels: z.array(z.string().max(1_000)).max(100).optional(),
  active_job_ids: z.array(jobId).max(1_000).optional().describe('The ids.'),
  visibility_timeout_ms: length.min(1).max(longestWorkLeaseMs).optional(),
  visibility_timeout: leaseLength.optional().describe('The same in seconds, or as PT30S.'),
});
