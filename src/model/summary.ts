import { z } from 'zod';
import { statuses, type Status } from './status.js';

/** A time in an answer, epoch ms. */
export const epochMsSchema = z.number().describe('Milliseconds since 1970.');

export const statusSchema = z.enum(statuses).meta({ id: 'Status' });

const originSchema = z.object({
  kind: z.enum(['schedule', 'event', 'signal', 'hook']),
  id: z.string().describe('Id of the schedule, event, signal or hook.'),
  name: z.exactOptional(z.string()).describe('Name of the schedule.'),
  time: z.exactOptional(z.string()).describe('The slot, in the zone of the schedule.'),
  cause: z
    .exactOptional(z.enum(['run', 'backfill']))
    .describe('Where somebody asked for it: absent for a slot that came.'),
  by: z.exactOptional(z.string()).describe('Who asked for it.'),
  delivery: z.exactOptional(z.string()),
  others: z
    .exactOptional(z.number())
    .describe('Number of events for which it was started, beside the one with this id, the last.'),
  problem: z.exactOptional(z.string()).describe('Why it could not be followed.'),
});

/** What started a job, where no person or program submitted it: the id of a document, and what is known beside it. */
export type Origin = Readonly<z.infer<typeof originSchema>>;

/** A job in a list or in a stream of changes. */
export const summarySchema = z
  .object({
    id: z.string(),
    rev: z.string(),
    flow: z.exactOptional(z.string()).describe('Absent for a job with a structure of its own.'),
    flow_rev: z
      .exactOptional(z.string())
      .describe('Revision of the flow that it runs; absent until it begins.'),
    flow_version: z.exactOptional(z.string()).describe('Version of the flow, if it has one.'),
    owner: z.string(),
    status: statusSchema,
    state: z.exactOptional(z.string()).describe('Absent for a new job.'),
    custom_status: z.exactOptional(z.string()).describe('A status of its own, for people.'),
    start: z.exactOptional(epochMsSchema),
    end: z.exactOptional(epochMsSchema),
    exit: z.exactOptional(z.number()).describe('0: success.'),
    failure: z.exactOptional(
      z.object({ name: z.string(), message: z.string(), step: z.exactOptional(z.string()) }),
    ),
    exec_after: z.exactOptional(z.union([z.number(), z.string()])),
    next_due: z.exactOptional(
      epochMsSchema.describe(
        'When something is to be decided next; absent: only a signal or an event wakes it.',
      ),
    ),
    priority: z.exactOptional(z.number()),
    tags: z.exactOptional(z.array(z.string())),
    keys: z.exactOptional(z.record(z.string(), z.unknown())),
    external_id: z.exactOptional(z.string()),
    queue: z.exactOptional(z.string()).describe('Absent: that of its flow, or "default".'),
    target: z.exactOptional(z.string()).describe('What it works on.'),
    parent: z.exactOptional(z.string()).describe('Id of the parent job.'),
    origin: z
      .exactOptional(originSchema)
      .describe('What started it; absent: a person or a program submitted it.'),
    current: z.exactOptional(z.array(z.string())).describe('Steps that run or wait.'),
    attempts: z.number().describe('Attempts so far.'),
  })
  .meta({ id: 'JobSummary' });

/** What lists and streams of changes tell of a job. */
export type JobSummary = Readonly<z.infer<typeof summarySchema>>;

/** Jobs by status; the status is that of the last change of each. */
export type JobCounts = Readonly<Record<Status, number>>;

/** What ended in one span of time. `ms`: what the jobs took; absent where none ended. */
export type Span = {
  /** Its beginning, epoch ms. */
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly ms?: { readonly mean: number; readonly min: number; readonly max: number };
};
