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
  const byJob = new Map<string, Map<string, StoredDocument>>();
  return {
    set: (job, signal) => {
      const signals = byJob.get(job) ?? new Map<string, StoredDocument>();
      byJob.set(job, signals.set(signal._id, signal));
      // A sweep finds those of the job that waits longest.
      const [oldest] = byJob.keys();
      if (byJob.size > mostEarly && oldest !== undefined) byJob.delete(oldest);
    },
    get: (job) => {
      const signals = byJob.get(job);
      return signals && [...signals.values()];
    },
    delete: (job) => byJob.delete(job),
  };
}
