import { isFinalState, isLiveJob, type Job, type LiveJob } from '../model/job.js';
import type { StoredDocument } from '../model/document.js';
import { parseDocument } from './parse.js';

/*
 * Jobs as they were read, or made by the rules from what was read: the same document is not read again.
 *
 * KJ1 A document is taken for a job that is known only when each of its fields, but for the revision, is the very
 *     value of that job: what was written, and what is heard of it, shares them. What another process wrote, and
 *     what was read from the database, never does.
 */

type Known = { readonly job: LiveJob | undefined };

/** What documents were found to be. */
const ofDocuments = new WeakMap<object, Known>();
/** The jobs that are known, by their list of steps, which each job has of its own. */
const bySteps = new WeakMap<object, LiveJob>();

/** Keeps a job that the rules made, for documents with the same fields. */
export function knowJob(job: Job): void {
  const { steps } = job as { readonly steps?: unknown };
  if (Array.isArray(steps) && isLiveJob(job)) bySteps.set(steps, job);
}

/** A job that has not ended, as it is stored; undefined where it cannot be read, or has. */
export function liveJobIn(doc: StoredDocument): LiveJob | undefined {
  if (isFinalState(doc['state'])) return undefined;
  const known = ofDocuments.get(doc);
  if (known !== undefined) return known.job;
  const job = knownJob(doc) ?? readLiveJob(doc);
  ofDocuments.set(doc, { job });
  return job;
}

/** The job that was made of the same fields, which has not ended (KJ1). */
export function knownJob(doc: StoredDocument): LiveJob | undefined {
  const { steps } = doc;
  const known = Array.isArray(steps) ? bySteps.get(steps) : undefined;
  return known !== undefined && hasSameFields(doc, known)
    ? (doc as LiveJob & typeof doc)
    : undefined;
}

function hasSameFields(doc: Readonly<Record<string, unknown>>, job: object): boolean {
  const fields = job as Readonly<Record<string, unknown>>;
  const keysOf = (one: object): readonly string[] =>
    Object.keys(one).filter((key) => key !== '_rev');
  const keys = keysOf(doc);
  return keys.length === keysOf(job).length && keys.every((key) => doc[key] === fields[key]);
}

function readLiveJob(doc: StoredDocument): LiveJob | undefined {
  const parsed = parseDocument(doc);
  return parsed.kind === 'job' && parsed.ok && isLiveJob(parsed.value) ? parsed.value : undefined;
}
