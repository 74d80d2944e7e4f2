import type { Store } from '../store/store.js';
import type { Gathered, GatheredQuery } from './gatherings.js';
import type { LimitsInUse, LimitsQuery } from './limits.js';

/** The part of the client for limits, and for events that are held back. */
export type Limiting = {
  /** The limits that jobs hold or wait for: permits of `max_running` and `concurrency`, and rates. */
  readonly limits: (query?: LimitsQuery) => Promise<LimitsInUse>;
  /** The events that wait for a job of a trigger with `debounce` or `batch`. */
  readonly gatherings: (query?: GatheredQuery) => Promise<Gathered>;
};

/** What reads the limits brings the rules of the engines along: it is loaded when it is asked for. */
export function limiting(store: Store): Limiting {
  return {
    limits: async (query) => (await import('./limits.js')).limitsInUse(store, query),
    gatherings: async (query = {}) =>
      (await import('./gatherings.js')).listGatherings(store, query),
  };
}
