import { z } from 'zod';
import { nameSchema } from '../../../model/scalars.js';
import { optionsSchema, orderSchema, paginationSchema } from '../schemas.js';

/** Cron jobs as they are sent and answered: in the words of the specification, and in those of the binding. */

const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const expressionText = `must be a cron expression of five fields, or one of ${words.join(', ')}`;
const expressionSchema = z
  .string({ error: expressionText })
  .max(200, { error: expressionText })
  .refine((text) => words.includes(text) || text.trim().split(/\s+/).length === 5, {
    error: expressionText,
  });

const overlapText = 'must be "skip", "allow", "enqueue" or "cancel_previous"';

export const cronSchema = z
  .looseObject({
    name: nameSchema,
    expression: expressionSchema.optional(),
    cron: expressionSchema.optional().describe('The same, in the words of the binding.'),
    timezone: z.string().nullish().describe('IANA time zone; default UTC.'),
    overlap_policy: z
      .enum(['skip', 'allow', 'enqueue', 'cancel_previous'], { error: overlapText })
      .optional(),
    enabled: z.boolean().optional().describe('false: it is kept, and starts nothing.'),
    description: z.string().nullish(),
    job_template: orderSchema.nullish().describe('The job of each time.'),
    type: orderSchema.shape.type.optional(),
    args: orderSchema.shape.args.optional(),
    meta: orderSchema.shape.meta,
    options: optionsSchema.nullish(),
  })
  .superRefine((order, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } });
    const { expression, cron, job_template: template, type } = order;
    if (expression === undefined && cron === undefined) refuse('expression', expressionText);
    if (expression !== undefined && cron !== undefined && expression !== cron) {
      refuse('cron', 'must be the same as "expression", or be left out');
    }
    if (template == null && type === undefined) {
      refuse('job_template', 'must be given, or "type" and "args" beside the name');
    }
  })
  .meta({ id: 'OjsCronOrder' });
export type CronOrder = z.infer<typeof cronSchema>;

const text = z.string();
const cronJobSchema = z
  .looseObject({
    name: text,
    expression: text,
    cron: text,
    timezone: text,
    overlap_policy: text,
    enabled: z.boolean(),
    status: z.enum(['active', 'paused']),
    type: text,
    args: z.array(z.unknown()),
    next_run_at: text.optional(),
    last_run_at: text.optional(),
    created_at: text.optional(),
  })
  .meta({ id: 'OjsCron' });
export type CronAnswer = z.infer<typeof cronJobSchema>;

/** Under both names: that of the specification, and that of the binding. */
export const cronAnswerSchema = z
  .object({ cron: cronJobSchema, cron_job: cronJobSchema })
  .meta({ id: 'OjsCronAnswer' });
export const cronsAnswerSchema = z
  .object({
    crons: z.array(cronJobSchema),
    cron_jobs: z.array(cronJobSchema),
    pagination: paginationSchema,
  })
  .meta({ id: 'OjsCrons' });
export const cronRemovedSchema = cronAnswerSchema
  .extend({ deleted: z.boolean(), name: text })
  .meta({ id: 'OjsCronRemoved' });
