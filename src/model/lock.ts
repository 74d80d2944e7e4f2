import { z } from 'zod';
import type { Known } from './scalars.js';
import { statuses } from './status.js';

/**
 * A lock of a job, as a document whose id tells what is locked (`lock:<sha256>`): who stores it first
 * has it. `kind` target: jobs with the same target and parameters; pattern: all jobs whose target the
 * regular expression matches; permit: one of the permits of a limit (`max_running`, `concurrency`), of a
 * job or of an attempt of a step; unique: jobs with the same key. Targets and patterns belong to an owner unless
 * their scope is the database.
 */
export const lockSchema = z
  .looseObject({
    _id: z.string().regex(/^lock:/, { error: 'must begin with "lock:"' }),
    type: z.literal('lock'),
    kind: z
      .enum(['target', 'pattern', 'permit', 'unique'])
      .describe('permit: one of the permits of a limit; unique: of the key of a job.'),
    key: z
      .string()
      .describe(
        'The target, the pattern, what names the limit (`<flow>::<owner>` for max_running), or what `unique` belongs to.',
      ),
    owner: z.exactOptional(
      z.string().describe('For whose jobs it counts; locks of earlier versions do not say.'),
    ),
    scope: z.exactOptional(z.literal('database').describe('It counts for the jobs of all owners.')),
    job: z.string().describe('Id of the job that has it.'),
    reserved: z.exactOptional(
      z
        .literal(true)
        .describe('The job is about to be stored; it counts for 10 seconds without it.'),
    ),
    after: z.exactOptional(
      z.array(z.string()).describe('Jobs that this one replaces: it begins when they have ended.'),
    ),
    states: z.exactOptional(z.array(z.enum(statuses)).describe('The `states` of the job.')),
    until: z.exactOptional(z.number().describe('When the `period` of the job is over.')),
    at: z.number().describe('Since when the job has it.'),
    step: z.exactOptional(z.string().describe('Path of the step whose attempt has the permit.')),
    value: z.exactOptional(z.string().describe('The value of the key of the limit, as JSON.')),
    limit: z.exactOptional(z.number().describe('The number of permits when it was taken.')),
    rev: z.exactOptional(
      z.string().describe('Revision of the job when it took the permit: it counts for that one.'),
    ),
    wanted_by: z.exactOptional(
      z.string().describe('For whom the holder was asked to cancel: a job, or a job and a step.'),
    ),
    nonce: z.string().describe('Of the write that took it: tells its writer that it took place.'),
  })
  .describe('A lock that a job has; its id is `lock:<sha256>` of what is locked.');

export type LockDocument = z.infer<typeof lockSchema>;

/** The time until which a lock of `unique` stays, as the view `locks` has it: text that sorts like the time. */
export function uniqueUntil(at: number): string {
  return String(at).padStart(16, '0');
}

const lockIdSchema = z.string().regex(/^lock:/, { error: 'must be the id of a lock' });

/** The ids of the lock documents that a job has taken. */
export const lockedSchema = z.looseObject({
  target: z.exactOptional(lockIdSchema),
  pattern: z.exactOptional(lockIdSchema),
  permit: z.exactOptional(lockIdSchema),
  unique: z.exactOptional(lockIdSchema),
  permits: z.exactOptional(z.array(lockIdSchema)),
});
/** What a job has locked. */
export type Locked = Known<z.infer<typeof lockedSchema>>;
