import type { Log } from '../log.js';

/** Something that happened to an engine, a definition or a job document; `at`: epoch ms. */
export type EngineEvent = { readonly at: number; readonly engine: string } & (
  | { readonly type: 'engine.started'; readonly host: string; readonly pid: number }
  /** In order, or by itself: then `reason` says why. */
  | { readonly type: 'engine.stopped'; readonly reason?: string }
  /** `lost` gave no sign of life for the length of its lease; `engine` is the one that reports it. */
  | { readonly type: 'engine.lost'; readonly lost: string }
  | { readonly type: 'database.lost'; readonly database: string; readonly cause: string }
  /** `other`: it is another database of that name: it was removed and made anew. */
  | { readonly type: 'database.back'; readonly database: string; readonly other?: true }
  /** The design document was changed, or removed (`rev` absent). */
  | { readonly type: 'design.changed'; readonly id: string; readonly rev?: string }
  /** A task or flow was stored that cannot be read. */
  | {
      readonly type: 'definition.malformed';
      readonly id: string;
      readonly kind: string;
      readonly problems: readonly DataProblem[];
    }
  /** A job was ended that could not be read. */
  | {
      readonly type: 'job.malformed';
      readonly job: string;
      readonly problems: readonly DataProblem[];
    }
);

type DataProblem = { readonly path: string; readonly message: string };

export type EngineEventType = EngineEvent['type'];

/** All types of events, in the order in which they are documented. */
export const engineEventTypes = [
  'engine.started',
  'engine.stopped',
  'engine.lost',
  'database.lost',
  'database.back',
  'design.changed',
  'definition.malformed',
  'job.malformed',
] as const satisfies readonly EngineEventType[];

/** Receives every event; must not wait. What it throws is logged. */
export type EngineListener = (event: EngineEvent) => void;

/** An event without what every one has. */
export type EngineEventDraft = EngineEvent extends infer E
  ? E extends EngineEvent
    ? Omit<E, 'at' | 'engine'>
    : never
  : never;

export type SystemEvents = {
  readonly emit: (event: EngineEventDraft) => void;
  /** Answers the function that ends it. */
  readonly subscribe: (listener: EngineListener) => () => void;
};

/** The events of one engine and those who listen to them. */
export function createSystemEvents(
  engine: string,
  { now, log }: { readonly now: () => number; readonly log: Log },
): SystemEvents {
  const listeners = new Set<EngineListener>();
  return {
    emit: (draft) => {
      const event = { ...draft, at: now(), engine } as EngineEvent;
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          log.error({ error: String(error) }, `A listener to ${event.type} failed.`);
        }
      }
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
