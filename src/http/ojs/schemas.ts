import { z } from 'zod';
import { ojsUniqueSchema } from './unique.js';
import { longestWorkLeaseMs } from '../../model/work.js';
import { durationMs } from './durations.js';
import { ojsStates } from './states.js';

/** What the façade takes and answers. Durations of the schemas come out in ms, times as they were. */

const lengthText = 'must be a whole number of milliseconds, 0 or more';
const length = z.int({ error: lengthText }).min(0, { error: lengthText }).max(3_155_760_000_000);
const isoText = 'must be a duration of ISO 8601 in days, hours, minutes or seconds, such as PT30S';
const isoLength = z
  .string({ error: isoText })
  .refine((text) => durationMs(text) !== undefined, { error: isoText });
const timeText = 'must be a time: ISO 8601 with a zone, such as 2026-02-12T10:30:00Z';
const time = z.iso.datetime({ offset: true, error: timeText });
const laterText = `${timeText}, or "+" and a duration, such as +PT30S`;
const later = z.union([time, z.templateLiteral(['+', isoLength])], { error: laterText });

const typeText =
  'must be words of letters, digits, "_" and "-" with dots between them, such as email.send';
const typeSchema = z
  .string({ error: typeText })
  .max(255, { error: 'must not be longer than 255 characters' })
  .regex(/^[a-zA-Z][\w-]*(?:\.[a-zA-Z][\w-]*)*$/, { error: typeText });
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
const priorityText = 'must be a whole number from -499 to 500';

export const ojsRetrySchema = z
  .strictObject({
    max_attempts: z.int().min(0).max(1_000_000).optional().describe('The first one included; 3.'),
    initial_interval: isoLength.optional(),
    initial_interval_ms: length.optional().describe('Default 1000.'),
    backoff_coefficient: z.number().min(1).optional().describe('Default 2.'),
    max_interval: isoLength.optional(),
    max_interval_ms: length.optional().describe('Default 300000.'),
    jitter: z.boolean().optional().describe('true (default): waits are shorter by up to a half.'),
    non_retryable_errors: z.array(z.string()).max(1_000).optional(),
    on_exhaustion: z
      .enum(['discard', 'dead_letter'])
      .optional()
      .describe('Either way the job is kept among the dead letters.'),
    backoff_type: z.enum(['exponential', 'constant', 'linear', 'polynomial']).optional(),
    backoff_strategy: z.enum(['exponential', 'constant', 'linear', 'polynomial']).optional(),
  })
  .meta({ id: 'OjsRetry' });
export type OjsRetry = z.infer<typeof ojsRetrySchema>;

/** What says how a job is done: in `options`, or beside `type` and `args`. */
const optionShape = {
  queue: queueNameSchema.nullish(),
  priority: z
    .int({ error: priorityText })
    .min(-499, { error: priorityText })
    .max(500, { error: priorityText })
    .nullish()
    .describe('Higher first; default 0.'),
  timeout: length.nullish().describe('Seconds that an attempt may take; 0: as the task says.'),
  timeout_ms: length.nullish().describe('The same in milliseconds.'),
  scheduled_at: later.nullish().describe('Not begun before.'),
  delay_until: later.nullish().describe('The same.'),
  expires_at: later.nullish().describe('Discarded when it was not begun before.'),
  retry: ojsRetrySchema.nullish(),
  retry_policy: ojsRetrySchema.nullish().describe('The same.'),
  visibility_timeout: isoLength.nullish(),
  visibility_timeout_ms: length
    .max(longestWorkLeaseMs)
    .nullish()
    .describe('How long a worker has it without a sign of life.'),
  tags: z.array(z.string()).max(1_000).nullish(),
  pending: z.boolean().nullish().describe('true: not begun before somebody activates it.'),
  unique: ojsUniqueSchema.nullish(),
  rate_limit: z.unknown().optional().describe('Not supported.'),
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
    schema: text.optional(),
    created_at: text.optional().describe('Absent for a job that was not enqueued by this API.'),
    enqueued_at: text.optional(),
    started_at: text.optional(),
    completed_at: text.optional(),
    cancelled_at: text.optional(),
    discarded_at: text.optional(),
    next_attempt_at: text.optional(),
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

/** What workers send. */
export const fetchSchema = z.strictObject({
  queues: z
    .array(z.string().min(1).max(1_000))
    .min(1, { error: 'must name a queue' })
    .max(100)
    .describe('Looked through in this order.'),
  count: z.int().min(1).max(100).optional().describe('Default 1.'),
  worker_id: z.string().min(1).max(200).optional(),
  visibility_timeout_ms: length.min(1).max(longestWorkLeaseMs).optional(),
});
const jobId = z.string().min(1).max(3_000);
const workerId = z
  .string()
  .max(200)
  .optional()
  .describe('Whoever says it is believed only what concerns its own jobs.');
export const ackSchema = z.strictObject({
  job_id: jobId,
  worker_id: workerId,
  result: z.unknown().optional(),
});
export const nackSchema = z.strictObject({
  job_id: jobId,
  worker_id: workerId,
  error: z.looseObject({
    message: z.string(),
    code: z.string().optional(),
    type: z.string().optional(),
    retryable: z.boolean().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  requeue: z.boolean().optional().describe('Not supported.'),
});
export const heartbeatSchema = z.strictObject({
  worker_id: z.string().min(1).max(200),
  job_id: jobId.optional(),
  active_jobs: z.array(jobId).max(1_000).optional(),
  visibility_timeout_ms: length.min(1).max(longestWorkLeaseMs).optional(),
});
