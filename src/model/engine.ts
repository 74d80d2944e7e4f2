import { z } from 'zod';

/**
 * After so long without a sign an engine is dead unless the setting `lease` says otherwise, ms: with the
 * third of it that passes between two renewals, and a second for looking, what it had in hand is taken
 * over within 15 s.
 */
export const usualLeaseMs = 10_000;

/** So many engines may be lost at one step before the job ends with exit 4. */
export const usualCrashLimit = 3;

/** The document of one engine process: who it is, what it can run, and its lease. Times epoch ms. */
export const engineSchema = z
  .looseObject({
    _id: z.string().regex(/^engine:/, { error: 'must begin with "engine:"' }),
    type: z.literal('engine'),
    host: z.string().describe('Name of its machine.'),
    pid: z.int().describe('Id of its process.'),
    version: z.string().describe('Version of tws.'),
    plugins: z.array(z.string()).describe('Plugins that it can run.'),
    broken: z.exactOptional(
      z
        .record(z.string(), z.string())
        .describe('Plugins that it has and cannot load: the reason by name.'),
    ),
    labels: z.array(z.string()).describe('Labels that it carries, for tasks that ask for some.'),
    queues: z.exactOptional(
      z.array(z.string()).describe('Queues whose steps it takes; absent: "default".'),
    ),
    slots: z.int().describe('Steps that it runs at the same time.'),
    started: z.number().describe('When it started.'),
    /** Readers judge a lease by seeing it move, never by our clock. */
    beat: z.int().describe('Counted up at each renewal of its lease.'),
    /** Who watches whether it lives knows how long to watch. */
    renew_ms: z.exactOptional(z.number().describe('How often it renews its lease, in ms.')),
    state: z
      .enum(['running', 'disabled', 'draining', 'stopped'])
      .describe('disabled: a control says that it takes no new work.'),
  })
  .describe('An engine: who it is, what it can run, and its lease.');

export type EngineDocument = z.infer<typeof engineSchema>;
