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
export const engineSchema = z.looseObject({
  _id: z.string().regex(/^engine:/, { error: 'must begin with "engine:"' }),
  type: z.literal('engine'),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  plugins: z.array(z.string()),
  labels: z.array(z.string()),
  /** The queues whose steps it takes; absent: "default". */
  queues: z.exactOptional(z.array(z.string())),
  slots: z.int(),
  started: z.number(),
  /** Counted up at each renewal: readers judge a lease by seeing it move, never by our clock. */
  beat: z.int(),
  /** So often it renews its lease, ms: who watches whether it lives knows how long to watch. */
  renew_ms: z.exactOptional(z.number()),
  /** `disabled`: a control says that it takes no new work. */
  state: z.enum(['running', 'disabled', 'draining', 'stopped']),
});

export type EngineDocument = z.infer<typeof engineSchema>;
