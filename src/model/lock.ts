import { z } from 'zod';

/**
 * A lock of a job, as a document whose id tells what is locked (`lock:<sha256>`): who stores it first
 * has it. `kind` target: jobs with the same target and parameters; pattern: all jobs whose target the
 * regular expression matches; permit: one of the jobs of a flow that may run at the same time
 * (`max_running`). Targets and patterns belong to an owner unless their scope is the database.
 */
export const lockSchema = z
  .looseObject({
    _id: z.string().regex(/^lock:/, { error: 'must begin with "lock:"' }),
    type: z.literal('lock'),
    kind: z.enum(['target', 'pattern', 'permit']).describe('permit: one of max_running of a flow.'),
    key: z.string().describe('The target, the pattern, or `<flow>::<owner>`.'),
    owner: z.exactOptional(
      z.string().describe('For whose jobs it counts; locks of earlier versions do not say.'),
    ),
    scope: z.exactOptional(z.literal('database').describe('It counts for the jobs of all owners.')),
    job: z.string().describe('Id of the job that has it.'),
    at: z.number().describe('Since when the job has it.'),
    nonce: z.string().describe('Of the write that took it: tells its writer that it took place.'),
  })
  .describe('A lock that a job has; its id is `lock:<sha256>` of what is locked.');

export type LockDocument = z.infer<typeof lockSchema>;
