import { z } from 'zod';

/**
 * A lock of a job, as a document whose id tells what is locked (`lock:<sha256>`): who stores it first
 * has it. `kind` target: jobs with the same target and parameters; pattern: all jobs whose target the
 * regular expression matches; permit: one of the jobs of a flow that may run at the same time
 * (`max_running`). Targets and patterns belong to an owner unless their scope is the database.
 */
export const lockSchema = z.looseObject({
  _id: z.string().regex(/^lock:/, { error: 'must begin with "lock:"' }),
  type: z.literal('lock'),
  kind: z.enum(['target', 'pattern', 'permit']),
  /** The target, the pattern, or `<flow>::<owner>`. */
  key: z.string(),
  /** For whose jobs a target or pattern counts; locks of earlier versions do not say. */
  owner: z.exactOptional(z.string()),
  scope: z.exactOptional(z.literal('database')),
  job: z.string(),
  /** Since when the job has it (epoch ms). */
  at: z.number(),
  /** Of the write that took it: tells its writer that it took place. */
  nonce: z.string(),
});

export type LockDocument = z.infer<typeof lockSchema>;
