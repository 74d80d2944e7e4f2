import { LRUCache } from 'lru-cache';
import type { StoredDocument } from '../../model/document.js';

/** Signals to jobs that are not there yet, as many as are kept in memory; a sweep finds the others. */
export type EarlySignals = {
  readonly set: (job: string, signal: StoredDocument) => void;
  readonly get: (job: string) => readonly StoredDocument[] | undefined;
  readonly delete: (job: string) => void;
};

/** The largest number of absent jobs whose signals are kept in memory. */
const mostEarly = 1_000;

export function createEarlySignals(): EarlySignals {
  const byJob = new LRUCache<string, Map<string, StoredDocument>>({ max: mostEarly });
  return {
    set: (job, signal) => {
      const signals = byJob.get(job) ?? new Map<string, StoredDocument>();
      byJob.set(job, signals.set(signal._id, signal));
    },
    get: (job) => {
      const signals = byJob.get(job);
      return signals && [...signals.values()];
    },
    delete: (job) => byJob.delete(job),
  };
}
