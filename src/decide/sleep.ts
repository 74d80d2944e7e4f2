import type { LiveJob } from '../model/job.js';
import type { Wait } from './intent.js';
import { without } from './record.js';

/** The job with the time until which it sleeps, or without one when it is awake (D5). */
export function withNextDue(job: LiveJob, { asleep, until }: Wait): LiveJob {
  return asleep && until !== undefined ? { ...job, next_due: until } : without(job, 'next_due');
}
