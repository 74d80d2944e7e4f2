import { isLiveJob, type Job } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import { withProblem } from '../start/noted.js';

/** From this part of the limit on a job is warned that it is long. */
const warnFrom = 0.7;
/** A job of fewer steps is short: long results are attachments. */
const fewSteps = 100;

/**
 * Returns a live job that nears the greatest length of a document, `limit` bytes, with a problem that says so and
 * what to do. It is there before the limit is reached, so that somebody can still change the flow.
 */
export function withLengthWarning<J extends Job>(job: J, limit: number): J {
  if (!isLiveJob(job) || job.steps.length < fewSteps) return job;
  const from = Math.round(limit * warnFrom);
  if (lengthOf(job) < from) return job;
  const message = `The job is longer than ${from} bytes, and the database takes documents of ${limit}: split the work into child jobs or with "slice" of a map, or have a decider continue it as a new job.`;
  return withProblem(job, { path: '', message });
}

/** The characters of what grows in a job. */
function lengthOf(job: Job & { readonly steps: readonly object[] }): number {
  const { steps, params, data } = job as Readonly<Record<string, unknown>> & typeof job;
  const others = [params, data].filter(isObject);
  return [...steps, ...others].reduce((sum, part) => sum + measured(part), 0);
}

/** Most of a job is the same in its next revision: only what is new is measured. */
const known = new WeakMap<object, number>();

function measured(part: object): number {
  const before = known.get(part);
  if (before !== undefined) return before;
  const length = JSON.stringify(part).length;
  known.set(part, length);
  return length;
}
