import type { LiveJob } from '../model/job.js';
import type { Wait } from './intent.js';
import { without } from './record.js';

/** When a job is due that only a signal or an event can wake: later than any time it may name. */
export const neverDue = 4_320_000_000_000_000;

/** The job with the time until which it sleeps, or without one when it is awake (D5). */
export function withNextDue(job: LiveJob, { asleep, until = neverDue }: Wait): LiveJob {
  return asleep ? { ...job, next_due: until } : without(job, 'next_due');
}
