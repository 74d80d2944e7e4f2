import type { LiveJob } from '../../model/job.js';
import type { Outcome } from './outcome.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';
import type { Report } from './report.js';

/**
 * The job with what an attempt changed in its `data`: key by key, `null` takes a key out. It is
 * written with the outcome, on the newest revision: of steps beside each other the one that ends
 * last has the last word on a key. What did not succeed changes nothing.
 */
export function withData(
  job: LiveJob,
  path: string,
  outcome: Outcome,
  { data: changes }: Report,
): LiveJob {
  if (changes === undefined || !hasSucceeded(job, path, outcome)) return job;
  const { data } = job;
  const kept: Record<string, unknown> = isObject(data) ? { ...data } : {};
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete kept[key];
    else kept[key] = value;
  }
  return Object.keys(kept).length === 0 ? without(job, 'data') : { ...job, data: kept };
}

/** An attempt that waits for a signal has done its own part. */
function hasSucceeded(job: LiveJob, path: string, { kind }: Outcome): boolean {
  if (kind === 'wait') return true;
  const last = job.steps.findLast((step) => step.path === path);
  return kind === 'done' && last?.state === '$$complete' && last['warning'] === undefined;
}
