import { z } from 'zod';
import { momentSchema, namesSchema, textSchema, type Known } from './scalars.js';

/** What a worker may be told: to take nothing more, or to end when it has done what it has. */
export const workerWishes = ['quiet', 'terminate'] as const;
export type WorkerWish = (typeof workerWishes)[number];

/**
 * A program outside that does work, as it tells of itself by heartbeats. `wanted` is what people tell it:
 * it hears that with its next heartbeat.
 */
export const workerSchema = z
  .looseObject({
    _id: z.string().regex(/^worker:/, { error: 'must begin with "worker:"' }),
    type: z.literal('worker'),
    worker: textSchema.describe('The name that it gave itself.'),
    seen: momentSchema.describe('When it was last heard; written every 15 seconds at most.'),
    state: z.exactOptional(textSchema.describe('How it says that it is: running, quiet, …')),
    hostname: z.exactOptional(textSchema.describe('The machine on which it runs.')),
    pid: z.exactOptional(z.int().describe('Its process there.')),
    queues: z.exactOptional(namesSchema.describe('The queues from which it takes work.')),
    concurrency: z.exactOptional(z.int().describe('How many jobs it does at once.')),
    labels: z.exactOptional(namesSchema.describe('What it calls itself beside its name.')),
    active: z.exactOptional(z.int().min(0).describe('How many jobs it had then.')),
    wanted: z.exactOptional(
      z
        .enum(workerWishes, { error: 'must be "quiet" or "terminate"' })
        .describe(
          'quiet: it takes nothing more; terminate: it ends when it has done what it has. Left out: it works.',
        ),
    ),
  })
  .describe('A worker outside, as its heartbeats tell of it.');
export type WorkerDocument = Known<z.infer<typeof workerSchema>> & { readonly _rev?: string };

/** The id of the document of a worker. */
export function workerId(worker: string): string {
  return `worker:${worker}`;
}

/** After so long without a heartbeat a worker is thought to be gone, ms. */
export const workerGoneMs = 60_000;
