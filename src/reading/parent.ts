import { defaultQueue, isFinalState, type LiveJob } from '../model/job.js';
import { notifiesOf } from '../model/notify.js';
import { queueOf } from './entries.js';

/** So many jobs deep may child flows go; a flow that calls itself ends there. */
export const maxDepth = 24;

/** How many jobs are above this one that wait for it: 0 for a job that nobody's step made. */
export function depthOf({ parent }: LiveJob): number {
  return parent?.depth ?? 0;
}

/** How many jobs tell of each other above this one: 0 for a job that is no notification, nor below one. */
export function tellingDepth(job: Readonly<Record<string, unknown>>): number {
  const { told } = (job['parent'] ?? {}) as { readonly told?: unknown };
  return notifiesOf(job)?.depth ?? (typeof told === 'number' ? told : 0);
}

/**
 * What a child says of the job that it was made for. `start` tells the parent from an earlier or later
 * job of the same id; `root` is the first job of all, if that is another one.
 */
export function parentLinkOf(job: LiveJob, { path }: { readonly path: string }, depth: number) {
  const { parent } = job;
  const queue = queueOf(job);
  const told = tellingDepth(job);
  return {
    job: job._id,
    step: path,
    start: job.start,
    ...(parent === undefined ? {} : { root: parent.root ?? parent.job }),
    ...(depth === 0 ? {} : { depth }),
    ...(queue === defaultQueue ? {} : { queue }),
    ...(told === 0 ? {} : { told }),
  };
}

/** Whether a document was made to tell of the end of this very job. */
function tellsOf(doc: Doc, job: Made): boolean {
  const notifies = notifiesOf(doc);
  if (notifies?.job !== job._id) return false;
  if (notifies.of_rev !== undefined) return notifies.of_rev === job._rev;
  return isStartOf(notifies.start, job);
}

/** What a job says of the one that it goes on from. */
export function continuedFrom({ _id, start }: LiveJob) {
  return { continued_from: _id, continued_start: start };
}

/** The id of the job that an ended one goes on as; undefined for any other job. */
export function continuationOf(job: Doc): string | undefined {
  const { state, continued_to: next } = job;
  return isFinalState(state) && typeof next === 'string' ? next : undefined;
}

/** Whether a document is the job that another one goes on as. */
export function continues(doc: Doc, job: Made): boolean {
  const { continued_from: from, continued_start: since } = doc;
  return from === job._id && isStartOf(since, job);
}

/** Whether a job is known by this `start`: by its own, or by that of a revision that was merged into it. */
export function isStartOf(start: unknown, job: Doc): boolean {
  const { also_started: others } = job;
  return start === job['start'] || (Array.isArray(others) && others.includes(start));
}

type Doc = Readonly<Record<string, unknown>>;

/** A job document that has made others, or has not. */
type Made = {
  readonly _id: string;
  readonly _rev: string;
  readonly start?: unknown;
  readonly also_started?: unknown;
};

/** Whether a document was made for this very job: by a step of it, to go on from it, to tell of its end. */
export function isMadeBy(doc: Doc, job: Made): boolean {
  const parent = (doc['parent'] ?? {}) as Readonly<Record<string, unknown>>;
  const isChild = parent['job'] === job._id && isStartOf(parent['start'], job);
  return isChild || continues(doc, job) || tellsOf(doc, job);
}

type Maker = { readonly path: string; readonly attempt: number; readonly continues?: unknown };

/** The id of the job that a step makes; `marked`: one that no job of another time gives. */
export function childId(job: LiveJob, step: Maker, marked = false): string {
  const mark = marked ? `:${job.start}` : '';
  if (step.continues !== true) return `${job._id}:${step.path}:${step.attempt}${mark}`;
  const [, base = job._id, number = '1'] = /^(.*)~(\d+)$/.exec(job._id) ?? [];
  return `${base}${mark}~${Number(number) + 1}`;
}
