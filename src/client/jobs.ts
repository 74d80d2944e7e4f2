import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import type { Store } from '../store/store.js';
import type { Unique } from '../model/unique.js';
import { listed, textOf } from '../words.js';
import { uniquesOf } from './flow-unique.js';
import { differencesOf } from './same-job.js';
import { writeDocument } from './writes.js';

/** A job as users write it; `_id` may be left out. */
export type JobToSubmit = {
  readonly _id?: string;
  readonly type: 'job';
  readonly [key: string]: unknown;
};

/** `existed`: a job of that id was there before; nothing was written. */
export type Submitted = {
  readonly id: string;
  readonly rev: string;
  readonly existed: boolean;
  /** It is another job with the same `unique` key. */
  readonly existing?: true;
  /** The job with the same `unique` key that is asked to cancel when this one begins. */
  readonly replaces?: string;
};

export type SubmitOptions = {
  /** Aborted when nobody waits for the answer any more: another job with the same key is not waited for. */
  readonly signal?: AbortSignal | undefined;
  /** Ids that were made at random for these jobs: nothing is stored under them. */
  readonly fresh?: ReadonlySet<string> | undefined;
};

/** Stores a new job; of several submits of one id at once, one stores it and the others find it. */
export async function submitJob(
  store: Store,
  job: JobToSubmit,
  { signal }: SubmitOptions = {},
): Promise<Submitted> {
  const there = job._id === undefined ? undefined : await store.get(job._id);
  const unique = there === undefined ? (await uniquesOf(store, [job])).get(job) : undefined;
  return submitBeside(store, { ...job, _id: job._id ?? newJobId() }, { there, unique, signal });
}

/** The id of a job that comes without one. */
export function newJobId(): string {
  return randomUUID().replaceAll('-', '');
}

/** What was found out about a job before it is stored. */
export type SubmitAround = {
  /** What is stored under its id. */
  readonly there: StoredDocument | undefined;
  readonly unique: Unique | undefined;
  /** Lets jobs with the same lock be stored one after the other; absent: there is one job. */
  readonly turns?: <T>(lock: string, task: () => Promise<T>) => Promise<T>;
  /** Copies that the database keeps of every document; absent: they are read. */
  readonly copies?: number | undefined;
} & SubmitOptions;

/** Stores a new job unless it is there already. @throws TwsError `id_taken`, `not_unique`, `unique_key` */
export async function submitBeside(
  store: Store,
  job: JobToSubmit & { readonly _id: string },
  { there, unique, turns, copies, signal }: SubmitAround,
): Promise<Submitted> {
  if (there !== undefined) return existing(there, job);
  if (unique === undefined) return storeNew(store, job);
  const { submitUnique, uniqueOrder } = await import('./unique.js');
  const order = await uniqueOrder(job, unique);
  const how = { write: () => storeNew(store, job), copies, signal };
  return turns === undefined
    ? submitUnique(store, order, how)
    : turns(order.lock, () => submitUnique(store, order, how));
}

async function storeNew(
  store: Store,
  job: JobToSubmit & { readonly _id: string },
): Promise<Submitted> {
  const id = job._id;
  try {
    return { id, rev: await writeDocument(store, job), existed: false };
  } catch (error) {
    if (!(error instanceof TwsError) || !mayBeThere.includes(error.code)) throw error;
    const now = await store.get(id);
    if (now === undefined) throw error;
    return existing(now, job);
  }
}

/** Somebody was faster, or an engine was before the lost answer could be looked up. */
const mayBeThere: readonly string[] = ['document_conflict', 'write_unknown'];

/** The same order again is no mistake; another document under that id is one. */
function existing(there: StoredDocument, job: JobToSubmit): Submitted {
  const differences = there['type'] === 'job' ? differencesOf(there, job) : ['type'];
  if (differences.length === 0) return { id: there._id, rev: there._rev, existed: true };
  throw problem('id_taken', { id: there._id, differences: listed(differences) });
}

/** A job by its id. @throws TwsError `document_missing`, `document_kind` */
export async function jobOf(store: Store, id: string): Promise<StoredDocument> {
  const doc = await store.get(id);
  if (doc === undefined) throw problem('document_missing', { id });
  if (doc['type'] === 'job') return doc;
  throw problem('document_kind', { id, kind: textOf(doc['type']), wanted: 'job' });
}

/** Whether a job has ended. */
export function isEndedJob(job: StoredDocument): boolean {
  return isFinalState(job['state']);
}

/**
 * The job that does the work of a job now: itself, or the last of those as which it went on. A link to
 * a job that is gone, or that belongs to another job, is not followed.
 */
export async function currentJob(store: Store, job: StoredDocument): Promise<StoredDocument> {
  const passed = new Set<string>();
  let current = job;
  for (let id = nextOf(current); id !== undefined && !passed.has(id); id = nextOf(current)) {
    passed.add(current._id).add(id);
    const next = await store.get(id);
    if (next?.['continued_from'] !== current._id) return current;
    current = next;
  }
  return current;
}

/** The id of the job that an ended one goes on as. */
function nextOf(job: StoredDocument): string | undefined {
  const { continued_to: next } = job;
  return isEndedJob(job) && typeof next === 'string' ? next : undefined;
}
