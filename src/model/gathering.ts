import { z } from 'zod';
import { momentSchema, nameSchema, textSchema, type Known } from './scalars.js';

/** How events of one trigger start jobs together. */
export const gatheringWays = ['debounce', 'batch'] as const;

const countSchema = z.int().min(1);

/** For which trigger events are gathered, and until when. Durations in ms. */
const ruleFields = {
  flow: nameSchema,
  owner: nameSchema,
  /** Which entry of `on`, from 0. */
  entry: z.int().min(0),
  by: z.enum(gatheringWays),
  /** debounce: so long after the last event; batch: so long after the first one. */
  period: momentSchema,
  /** debounce: at the latest so long after the first event. */
  max: z.exactOptional(momentSchema),
  /** As soon as there are so many events. */
  size: countSchema,
  /** The value of the key, as JSON; of a long one a hash. */
  key: z.exactOptional(textSchema),
  /** The expression for the parameters of the job. */
  params: z.exactOptional(textSchema),
};

/** What an event says of a gathering that is to take it, until it has. `into`: the id of the gathering. */
export const joiningSchema = z.looseObject({ into: textSchema, ...ruleFields });
export type Joining = Known<z.infer<typeof joiningSchema>>;

/** An event that is gathered. `at`: when it was decided which flows it starts (epoch ms). */
const memberSchema = z.looseObject({ id: textSchema, at: momentSchema });
export type GatheredEvent = Known<z.infer<typeof memberSchema>>;

const gatheredJobSchema = z.looseObject({
  job: textSchema,
  /** When it was decided (epoch ms). */
  at: momentSchema,
  events: z.array(memberSchema).min(1),
  params: z.exactOptional(z.unknown()),
  /** Why the trigger cannot be followed: the job ends with it. */
  problem: z.exactOptional(textSchema),
  /** Where a document has several copies: no other revision takes its place. */
  sure: z.exactOptional(z.literal(true)),
});
/** A job that is decided for gathered events and perhaps not made yet. */
export type GatheredJob = Known<z.infer<typeof gatheredJobSchema>>;

/** Events that wait for a job of a trigger with `debounce` or `batch`; engines write and remove it. */
const gatheringSchema = z.looseObject({
  type: z.literal('gathering'),
  ...ruleFields,
  events: z.array(memberSchema),
  starting: z.exactOptional(gatheredJobSchema),
  /** When the job is due that `events` start (epoch ms). */
  next_due: z.exactOptional(momentSchema),
});
export type Gathering = Known<z.infer<typeof gatheringSchema>> & {
  readonly _id: string;
  readonly _rev: string;
};

/** Reads a gathering; undefined: the document is none. */
export function readGathering(doc: object): Gathering | undefined {
  return gatheringSchema.safeParse(doc).data as Gathering | undefined;
}
