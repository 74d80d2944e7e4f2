import { z } from 'zod';
import { scheduleSchema, scheduleStatuses } from '../model/schedule.js';
import { epochMsSchema, statusSchema } from '../model/summary.js';
import { checkedSchema, storedKeys } from './schemas.js';

/** What the routes about schedules take and answer. */

/** A schedule as it is sent. */
export const scheduleBodySchema = scheduleSchema
  .safeExtend({ ...storedKeys, type: z.exactOptional(z.literal('schedule')) })
  .describe('A schedule: starts a job of a flow at times.')
  .meta({ id: 'Schedule' });

const slotSchema = z
  .object({
    slot: epochMsSchema,
    due: epochMsSchema.describe(
      'When its job starts; later than the slot where there is a jitter.',
    ),
    time: z.string().describe('The slot as ISO 8601 in the time zone of the schedule.'),
  })
  .meta({ id: 'NextSlot' });

const { recent } = scheduleSchema.shape.progress.unwrap().shape;

const storedScheduleShape = {
  id: z.string(),
  rev: z.string().describe('The revision: another one with each slot, which engines write.'),
  edition: z
    .string()
    .describe('For If-Match: the same while only engines write the schedule, as its etag.'),
  name: z.string(),
  owner: z.string(),
  status: z
    .enum(scheduleStatuses)
    .describe(
      'new: no engine has read it since it was stored or edited; ended: it has no further slot; invalid: see "problems" of the document.',
    ),
  document: scheduleBodySchema,
};

export const scheduleListSchema = z
  .object({
    schedules: z.array(
      z
        .object({
          ...storedScheduleShape,
          next: slotSchema.optional().describe('Its next slot, unless it is paused or has none.'),
          last: recent.element
            .extend({ status: statusSchema.optional().describe('That of its job.') })
            .optional()
            .describe('The last slot, and what happened to it.'),
        })
        .meta({ id: 'ListedSchedule' }),
    ),
  })
  .meta({ id: 'ScheduleList' });

export const storedScheduleSchema = z
  .object({
    ...storedScheduleShape,
    slots: z.array(slotSchema).describe('Its next slots; none while it is paused.'),
  })
  .meta({ id: 'StoredSchedule' });

export const scheduleCheckedSchema = checkedSchema
  .extend({ slots: z.array(slotSchema).describe('The next slots that it would have.') })
  .meta({ id: 'ScheduleChecked' });

const { backfill } = scheduleSchema.shape;

/** The period of a backfill as it is sent. */
export const backfillBodySchema = z.strictObject(backfill.unwrap().shape);

export const scheduleChangedSchema = z
  .object({
    id: z.string(),
    rev: z.string(),
    changed: z.boolean().describe('false: it was so already; nothing was stored.'),
    paused: z.boolean(),
    backfill: backfillBodySchema.optional().describe('The backfill that is to run, or runs.'),
  })
  .meta({ id: 'ScheduleChanged' });
