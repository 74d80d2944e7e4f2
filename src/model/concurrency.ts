import { z } from 'zod';
import { nameSchema, type Known } from './scalars.js';

/** What happens to new work while all permits of a limit are taken. */
export const strategies = ['queue', 'cancel_oldest', 'cancel_newest', 'round_robin'] as const;
export type Strategy = (typeof strategies)[number];

/** So many limits a flow or task may have. */
export const mostLimits = 10;

const limitText = 'must be a number of permits (a whole number from 1 to 1000)';
const keyText = 'must be a JSONata expression (a text)';
const shapeText = `must be a limit {key, limit, strategy, name} or a list of 1 to ${mostLimits} of them`;

const limitSchema = z.looseObject(
  {
    key: z.exactOptional(
      z
        .string({ error: keyText })
        .min(1, { error: keyText })
        .describe(
          'JSONata over {job, params} (in a task, what its templates see): each value has permits of its own.',
        ),
    ),
    limit: z
      .int({ error: limitText })
      .min(1, { error: limitText })
      .max(1000, { error: limitText })
      .describe('Number of permits: how many jobs or attempts may hold one at once.'),
    strategy: z.exactOptional(
      z
        .enum(strategies, { error: `must be one of ${strategies.join(', ')}` })
        .describe(
          'When all are taken. queue (default): wait; cancel_newest: new work is cancelled; cancel_oldest: the oldest holder is cancelled; round_robin: wait, each key in its turn.',
        ),
    ),
    name: z.exactOptional(
      nameSchema.describe('Limits of one name and owner are one limit, over flows and tasks.'),
    ),
  },
  { error: shapeText },
);

/** One limit, as it is written. */
export type ConcurrencyLimit = Known<z.infer<typeof limitSchema>>;

/** The limits of a flow or task: how many of its jobs or attempts run at once. */
export const concurrencySchema = z
  .union(
    [
      z.array(limitSchema).min(1, { error: shapeText }).max(mostLimits, { error: shapeText }),
      limitSchema,
    ],
    { error: shapeText },
  )
  .describe('How many jobs of the flow, or attempts of the task, run at once.');

export type Concurrency = z.infer<typeof concurrencySchema>;

/** The limits as a list, each with its path in the definition. */
export function limitsIn(
  concurrency: Concurrency | undefined,
): readonly { readonly limit: ConcurrencyLimit; readonly at: string }[] {
  if (concurrency === undefined) return [];
  return Array.isArray(concurrency)
    ? concurrency.map((limit, i) => ({ limit, at: `concurrency[${i}]` }))
    : [{ limit: concurrency, at: 'concurrency' }];
}
