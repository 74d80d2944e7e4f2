import { z } from 'zod';
import { spanSchema, writtenSpanMs } from './span.js';
import { nameSchema } from './scalars.js';
import { statuses, type Status } from './status.js';

const keyText = 'must be a JSONata expression (a string), or a list of paths of parameters';
const statesText = `must be a list of ${statuses.map((one) => `"${one}"`).join(', ')}`;
const conflictText = 'must be "reject", "existing" or "replace"';
const uniqueText = 'must be {key, period, states, on_conflict, name}, each of them optional';

/** `unique` of a job, or of a flow for its jobs. */
export const uniqueSchema = z
  .strictObject(
    {
      key: z.exactOptional(
        z
          .union(
            [
              z.string().min(1, { error: keyText }),
              z
                .array(z.string().min(1, { error: keyText }), { error: keyText })
                .min(1, { error: keyText })
                .max(100, { error: keyText }),
            ],
            { error: keyText },
          )
          .describe(
            'What makes two jobs the same: JSONata over {job, params}, or paths of parameters; default: all params as written.',
          ),
      ),
      name: z.exactOptional(
        nameSchema.describe('Shares the key over flows: takes the place of the flow in it.'),
      ),
      period: z.exactOptional(
        spanSchema
          .refine((span) => writtenSpanMs(span) > 0, { error: 'must be longer than 0' })
          .describe(
            'A job counts so long after it was submitted, whatever became of it: milliseconds, or a text such as "1h".',
          ),
      ),
      states: z.exactOptional(
        z
          .array(z.enum(statuses, { error: statesText }), { error: statesText })
          .min(1, { error: statesText })
          .describe('A job counts in these statuses; default: until it has ended.'),
      ),
      on_conflict: z.exactOptional(
        z
          .enum(['reject', 'existing', 'replace'], { error: conflictText })
          .describe(
            'reject (default): the new job is refused; existing: the answer is the other one; replace: the other one is cancelled first.',
          ),
      ),
    },
    { error: uniqueText },
  )
  .describe('Keeps a second job with the same key from running while the first one counts.');

export type Unique = z.infer<typeof uniqueSchema>;

/** Which other jobs count for the job that asks. */
export type UniqueRule = {
  /** Absent: by `periodMs` alone, else those that have not ended. */
  readonly states?: readonly Status[];
  readonly periodMs?: number;
  /** The other job is cancelled, and the one that asks goes on when it has ended. */
  readonly replace?: true;
};

/** Returns the rule of `unique` as it is written. */
export function ruleOf({ states, period, on_conflict: conflict }: Unique): UniqueRule {
  return {
    ...(states === undefined ? {} : { states }),
    ...(period === undefined ? {} : { periodMs: writtenSpanMs(period) }),
    ...(conflict === 'replace' ? { replace: true as const } : {}),
  };
}

/**
 * Whether a job counts: by its status now, and by when it was submitted (epoch ms). Past the period no job
 * does, within it every one unless `states` says which.
 */
export function doesCount(
  { states, periodMs }: UniqueRule,
  { status, at }: { readonly status: Status; readonly at: number },
  now: number,
): boolean {
  if (periodMs !== undefined && now >= at + periodMs) return false;
  if (states !== undefined) return states.includes(status);
  return periodMs !== undefined || !ended.includes(status);
}

const ended: readonly Status[] = ['succeeded', 'failed', 'cancelled'];

/** Returns `unique` of a document that may hold anything; undefined: it has none, or a wrong one. */
export function readUnique(unique: unknown): Unique | undefined {
  return uniqueSchema.safeParse(unique).data;
}

/** How long a lock counts whose job is not stored yet, ms: the time of a submit between its two writes. */
export const reservedMs = 10_000;
