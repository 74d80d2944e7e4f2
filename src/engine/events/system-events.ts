import type { EngineEvent } from '../../model/engine-event.js';
import type { Log } from '../log.js';

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
