import type { LiveJob } from '../../model/job.js';
import { neverDue } from '../../model/scalars.js';
import type { Wait } from '../intent.js';
import { without } from '../../model/record.js';

/**
 * Returns the job with the time until which it sleeps as `next_due`, or without `next_due` when it
 * is awake (D5).
 */
export function withNextDue(job: LiveJob, { asleep, until = neverDue }: Wait): LiveJob {
  return asleep ? { ...job, next_due: until } : without(job, 'next_due');
}
