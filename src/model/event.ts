import { z } from 'zod';
import { nameSchema, textSchema } from './scalars.js';
import { spanSchema, writtenSpanMs } from './span.js';
import { readTriggered } from './trigger.js';
import type { StoredDocument } from './document.js';

/**
 * Something that happened and that jobs may wait for, stored as a document: it releases every step
 * that waits for its type and key, also one that comes to wait later.
 */
export const eventSchema = z
  .looseObject({
    type: z.literal('event'),
    event: nameSchema.describe('Type of the event, for example "payment".'),
    key: z.exactOptional(textSchema.describe('What it is about, for example an order number.')),
    data: z.exactOptional(z.unknown().describe('Becomes the result of the waiting steps.')),
    ttl: z.exactOptional(
      spanSchema.describe(
        'How long it releases waits, from when an engine first handles it; 0: until it is deleted; default: the setting `event_ttl`.',
      ),
    ),
    /** Read where it is needed (`readTriggered`): a mistake in it holds up no wait. */
    triggered: z.exactOptional(
      z.unknown().describe('The jobs that it started by "on" of flows; engines write it.'),
    ),
  })
  .describe(
    'An event: releases every step that waits for its type and key, and starts jobs of flows by "on".',
  );

export type EventDocument = z.infer<typeof eventSchema>;

/**
 * The telling id of an event document; storing it twice is a conflict, not a second event. `id` tells events of the
 * same key apart.
 */
export function eventId({ type, key, id }: NamedEvent): string {
  const name = `event:${type}:${key}`;
  return id === undefined ? name : `${name}#${id}`;
}

type NamedEvent = { readonly type: string; readonly key: string; readonly id?: string };

/** An event as waits see it. */
export type AnnouncedEvent = {
  /** Of its document. */
  readonly id: string;
  readonly rev?: string;
  /** When an engine first handled it (epoch ms); absent: none has yet. */
  readonly at?: number;
  /** When its life ends (epoch ms); absent: never, or not decided yet. */
  readonly until?: number;
  /** Its life has no end. */
  readonly isFact?: true;
  readonly data?: unknown;
};

/**
 * Returns an event as waits see it. `usualTtlMs`: how long one lives that has no `ttl`, where no engine has handled
 * it yet; absent or 0: for ever.
 */
export function announcedEvent(doc: StoredDocument, usualTtlMs = 0): AnnouncedEvent {
  const read = readTriggered(doc['triggered']);
  const { at, until } = typeof read === 'object' ? read : {};
  const { data: ttl = usualTtlMs } = spanSchema.safeParse(doc['ttl']);
  const isFact = at === undefined ? writtenSpanMs(ttl) === 0 : until === undefined;
  return {
    ...{ id: doc._id, rev: doc._rev },
    ...(at === undefined ? {} : { at }),
    ...(until === undefined ? {} : { until }),
    ...(isFact ? { isFact } : {}),
    ...('data' in doc ? { data: doc['data'] } : {}),
  };
}

/** Whether an event still releases waits at `now` (epoch ms). */
export function isLiving(
  { until = Infinity }: Pick<AnnouncedEvent, 'until'>,
  now: number,
): boolean {
  return now < until;
}
