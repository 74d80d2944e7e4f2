import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonical } from '../../model/canonical.js';
import { isObject } from '../../model/object.js';
import type { Status } from '../../model/status.js';
import type { Unique } from '../../model/unique.js';
import { problem } from '../../errors.js';
import { durationMs } from './durations.js';

/*
 * Unique jobs as the Open Job Spec has them. Their key is made here of what the specification compares; the
 * rest is `unique` of our jobs.
 */

const keyNames = ['type', 'queue', 'args', 'meta'] as const;
const keysSchema = z.array(z.enum(keyNames, { error: 'must be type, queue, args or meta' })).min(1);
const pathsSchema = z.array(z.string().min(1)).min(1).max(100);

const statesOf: Readonly<Record<string, readonly Status[]>> = {
  available: ['queued', 'waiting'],
  active: ['running', 'waiting'],
  scheduled: ['scheduled'],
  retryable: ['waiting', 'queued'],
  pending: ['paused'],
  completed: ['succeeded'],
  cancelled: ['cancelled'],
  discarded: ['failed'],
};

const conflicts = {
  reject: 'reject',
  ignore: 'existing',
  replace: 'replace',
  replace_except_schedule: 'replace',
} as const;
const conflictText = 'must be "reject", "ignore", "replace" or "replace_except_schedule"';

/** `options.unique` of an order; `key` is the word of the SDKs. */
export const ojsUniqueSchema = z
  .looseObject({
    keys: keysSchema.nullish().describe('What is compared; default: the type.'),
    key: keysSchema.nullish().describe('The same.'),
    args_keys: pathsSchema.nullish().describe('Only these of the args.'),
    meta_keys: pathsSchema.nullish().describe('Only these of the meta; must be given for "meta".'),
    period: z
      .string()
      .refine((text) => (durationMs(text) ?? 0) > 0, { error: 'must be a duration like "PT1H"' })
      .nullish()
      .describe('How long a job counts after it was enqueued, even if it has ended.'),
    states: z
      .array(
        z.string().refine((state) => Object.hasOwn(statesOf, state), { error: 'must be a state' }),
      )
      .min(1)
      .nullish(),
    on_conflict: z
      .string()
      .refine((word) => Object.hasOwn(conflicts, word), { error: conflictText })
      .nullish(),
  })
  .describe('Keeps a second job with the same key from running while the first one counts.');
export type OjsUnique = z.infer<typeof ojsUniqueSchema>;

/** What of a job the specification compares. */
type Compared = {
  readonly type: string;
  readonly queue: string;
  readonly args: readonly unknown[];
  readonly meta: Readonly<Record<string, unknown>>;
};

/** Returns `unique` of our job. @throws TwsError `request_invalid` */
export function ourUnique(unique: OjsUnique, job: Compared): Unique {
  const { keys, key, args_keys: argsKeys, meta_keys: metaKeys, period, states } = unique;
  const wanted = keys ?? key ?? ['type'];
  if (wanted.includes('meta') && metaKeys == null) {
    const reason = 'unique.keys has "meta": name what is compared of it in "meta_keys".';
    throw problem('request_invalid', { part: 'body', reason });
  }
  const parts = {
    ...(wanted.includes('type') ? { type: job.type } : {}),
    ...(wanted.includes('queue') ? { queue: job.queue } : {}),
    ...(wanted.includes('args') || argsKeys != null
      ? { args: chosenArgs(job.args, argsKeys) }
      : {}),
    ...(metaKeys == null ? {} : { meta: valuesAt(job.meta, metaKeys) }),
  };
  const text = createHash('sha256').update(canonical(parts)).digest('hex');
  const conflict = (unique.on_conflict ?? 'reject') as keyof typeof conflicts;
  const most = period == null ? undefined : durationMs(period);
  return {
    name: 'ojs',
    // An expression that is a text: the parts are in it already.
    key: JSON.stringify(text),
    on_conflict: conflicts[conflict],
    ...(most === undefined ? {} : { period: Math.ceil(most / 1_000) * 1_000 }),
    ...(states == null
      ? {}
      : { states: [...new Set(states.flatMap((state) => statesOf[state] ?? []))] }),
  };
}

function chosenArgs(args: readonly unknown[], keys: readonly string[] | null | undefined): unknown {
  if (keys == null) return args;
  // Arguments are a list; their names are those of the object that is the first of them.
  return valuesAt(isObject(args[0]) ? args[0] : { ...args }, keys);
}

function valuesAt(of: object, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const known: Readonly<Record<string, unknown>> = { ...of };
  return Object.fromEntries(keys.map((key) => [key, known[key] ?? null]));
}
