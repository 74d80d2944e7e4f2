import type { Committed, JobWrite } from '../../replicas/resolve/commit.js';
import { failChild } from '../../decide/children/child.js';
import { refusedEdit } from '../../decide/requests/edits.js';
import { endRefused } from '../../decide/finish/finish.js';
import type { ChildJob } from '../../decide/intent.js';
import { isFinal, isLiveJob, type FinalJob, type Job, type LiveJob } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import type { Failure, LiveStep } from '../../model/step.js';
import { cancelChildrenAgain, withChildrenCancelled } from '../children/cancel-children.js';
import type { DecidedIntent } from './decision.js';
import { generationOf } from './serializer.js';
import { refusalOf } from './document-limit.js';
import { writeEnd, type EndStored } from './end-job.js';
import type { JobParts } from './job-parts.js';

/** A decision that is written. */
export type CommittableIntent = Extract<DecidedIntent, { kind: 'write' | 'claim' | 'spawn' }>;

/**
 * Writes what was decided. A lost write is dropped (E1). Answers the document that has to be looked at
 * next, if there is more to do about it.
 */
export async function commit(
  parts: JobParts,
  given: CommittableIntent,
): Promise<StoredDocument | undefined> {
  const { attempts, waitQueue } = parts;
  waitQueue.leave(given.job._id);
  const claims = given.kind === 'claim' ? given.steps : [];
  const { decision, written } = await holding(parts, { claims, job: given.job }, async () => {
    const job = await withChildrenCancelled(parts, given.job, given.abandons);
    const decision = { ...given, job } as CommittableIntent;
    if (decision.kind === 'write') await parts.notifications.make(decision.makes);
    const written = await store(parts, { job, claims, spawns: spawnsOf(decision) });
    return { decision, written };
  });
  if (written.kind === 'written') {
    const next = await goOn(parts, decision, written.doc);
    await cancelChildrenAgain(parts, decision.job._id, given.abandons);
    return next;
  }
  attempts.withdraw(claims);
  if (written.kind === 'refused') {
    await endRefusedJob(parts, decision.job, refusalOf(parts.documentLimit, written));
  }
  if (written.kind === 'lost') lookAgain(parts, decision.job);
  return undefined;
}

/** How long to wait for the winning revision to arrive by the feed, ms. */
const hearsayMs = 2_000;

/** Looks again after that time: if no write won, nothing else wakes the job. */
function lookAgain(
  { attempts, serializer, timers, now }: JobParts,
  { _id: id, _rev: rev }: Job,
): void {
  if (attempts.of(id).length === 0) serializer.drop(id);
  if (serializer.knows(id, rev)) timers.set(id, now() + hearsayMs);
}

/** Ids of the jobs that are made after a write. */
export function spawnsOf(decision: CommittableIntent): readonly string[] {
  return decision.kind === 'spawn' ? decision.children.map(({ _id }) => _id) : [];
}

/** Stores a job (E3), of so many bytes at the most; once the engine ends, no more. */
export async function store(
  { replicas, life, documentLimit }: JobParts,
  change: JobWrite,
  mostBytes = documentLimit.bytes,
): Promise<Committed> {
  return life.signal.aborted ? { kind: 'lost' } : replicas.commit(change, mostBytes);
}

/** Claims of a job for which slots are reserved; `ended` hand theirs over to them. */
type HeldClaims = {
  readonly claims: readonly LiveStep[];
  readonly ended?: readonly string[];
  readonly job: Job;
};

/**
 * Does something while slots are reserved for claims. When it throws they are free again: a claim that
 * is kept and was never started would keep its job for as long as the engine lives.
 */
export async function holding<T>(
  { attempts }: Pick<JobParts, 'attempts'>,
  { claims, ended, job }: HeldClaims,
  task: () => Promise<T>,
): Promise<T> {
  attempts.reserve(claims, ended, job as LiveJob);
  try {
    return await task();
  } catch (error) {
    attempts.withdraw(claims, ended);
    throw error;
  }
}

/**
 * After a confirmed write: starts the claims, makes the children. Returns the version to look at
 * next: whatever was written, something beside it may have to happen at a certain time.
 */
export async function goOn(
  parts: JobParts,
  decision: CommittableIntent,
  doc: StoredDocument,
): Promise<StoredDocument | undefined> {
  const { serializer, parsedJobs } = parts;
  const job = { ...decision.job, ...attachmentsOf(doc), _rev: doc._rev };
  serializer.putOwn(doc);
  // What was read back may be a later revision, with changes of somebody else in it.
  if (generationOf(doc._rev) === generationOf(decision.job._rev) + 1) parsedJobs.know(doc, job);
  switch (decision.kind) {
    case 'claim':
      startAll(parts, job as LiveJob, decision.steps);
      return doc;
    case 'spawn':
      return (await writeChildren(parts, doc, decision.children)) ?? doc;
    case 'write':
      if (isFinal(decision.job)) {
        sayEnd(parts, decision.job);
        parts.locks.adopt(doc);
      }
      return doc;
  }
}

/** What was sent as text is in the database now: from here on only its name is written. */
function attachmentsOf(doc: StoredDocument): { _attachments?: Record<string, unknown> } {
  const { _attachments } = doc as { readonly _attachments?: Record<string, unknown> };
  return _attachments === undefined ? {} : { _attachments };
}

/**
 * What the database refuses once it refuses always: the job ends, in the smallest document there is,
 * unless it has changed since.
 */
export async function endRefusedJob(
  parts: JobParts,
  { _id: id, _rev }: Pick<Job, '_id' | '_rev'>,
  why: Failure,
): Promise<EndStored> {
  const { store, retry, serializer, now, once } = parts;
  const doc = await retry(() => store.get(id));
  serializer.drop(id);
  // What somebody has written since was not decided upon: the feed brings it.
  if (doc?._rev !== _rev) return 'conflict';
  once.log('error', id, `Job ${id} cannot be stored as it would go on: ${why.message}`);
  return writeEnd(parts, doc, endRefused(doc, why, now()));
}

function startAll({ attempts, log }: JobParts, job: LiveJob, steps: readonly LiveStep[]): void {
  for (const step of steps) {
    const about = { job: job._id, step: step.name, attempt: step.attempt };
    log.info(about, `Step ${step.name} begins.`);
    attempts.start(job, step);
  }
}

/**
 * Makes the children. What the database refuses fails the step that wanted it: answers the parent
 * with that. A conflict says that there is such a document; whose it is the next decision asks.
 */
async function writeChildren(
  parts: JobParts,
  doc: StoredDocument,
  children: readonly ChildJob[],
): Promise<StoredDocument | undefined> {
  const refusals = await Promise.all(
    children.map(async (child) => {
      const result = await parts.retry(() => writeChild(parts, child));
      return result?.kind === 'refused' ? [{ child: child._id, result }] : [];
    }),
  );
  const refused = refusals.flat();
  const parent = refused.length === 0 ? undefined : await parts.parsedJobs.read(doc);
  if (parent?.kind !== 'job' || !parent.ok || !isLiveJob(parent.value)) return undefined;
  const failed = refused.reduce<LiveJob>((job, { child, result }) => {
    return failChild(job, child, refusalOf(parts.documentLimit, result), parts.now());
  }, parent.value);
  if (failed === parent.value) return undefined;
  const written = await store(parts, { job: failed, claims: [] });
  if (written.kind !== 'written') return undefined;
  return goOn(parts, { kind: 'write', job: failed }, written.doc);
}

/** Stores a child; rejects when nobody knows whether it is stored. */
async function writeChild({ store, documentLimit }: JobParts, child: ChildJob) {
  const result = await store.write(child, documentLimit.bytes);
  if (result.kind === 'unknown') throw new Error(result.cause);
  return result;
}

function sayEnd({ log }: JobParts, job: FinalJob): void {
  const { exit, failure } = job;
  const late = refusedEdit(job);
  if (late !== undefined) {
    const { action, refused } = late;
    log.warn(
      { job: job._id },
      `Job ${job._id}: the ${action} written into it is refused: ${refused}`,
    );
    return;
  }
  const because = failure === undefined ? '' : ` ${failure.message}`;
  const level = exit === 0 ? 'info' : 'warn';
  log[level]({ job: job._id, exit }, `Job ${job._id} ended with exit ${exit}.${because}`);
}
