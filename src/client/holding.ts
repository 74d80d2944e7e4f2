import type { Store } from '../store/store.js';
import type { Holder } from './holder.js';
import type { JobToSubmit } from './jobs.js';

/** The part of the client that tells what is taken. */
export type HoldingJobs = {
  /** The job that has what a new one wants to work on, or whose locks keep it from that; undefined: none. */
  readonly holder: (job: JobToSubmit & { readonly _id: string }) => Promise<Holder | undefined>;
};

export function holding(store: Store): HoldingJobs {
  return {
    holder: async (job) => (await import('./holder.js')).holderOf(store, { ...job, _rev: '' }),
  };
}
