import { withLengthWarning } from '../../decide/finish/length-warning.js';
import { failChild } from '../../decide/children/child.js';
import type { Writing } from '../../decide/finish/settle.js';
import type { Outcome } from '../../decide/finish/outcome.js';
import type { Report } from '../../decide/finish/report.js';
import { refusedEdit } from '../../decide/requests/edits.js';
import type { ChildJob, GivenUp } from '../../decide/intent.js';
import type { StoredDocument } from '../../model/document.js';
import { isFinal, isLiveJob, type FinalJob, type Job, type LiveJob } from '../../model/job.js';
import { failure } from '../../model/failures.js';
import type { Failure, LiveStep } from '../../model/step.js';
import type { Committed } from '../../replicas/resolve/commit.js';
import { cancelChildrenAgain, withChildrenCancelled } from '../children/cancel-children.js';
import type { JobParts } from './job-parts.js';
import { writesBetween } from './serializer.js';

/** What writing a job needs of an engine. */
export type WriteParts = Pick<
  JobParts,
  | 'attempts'
  | 'clock'
  | 'documentLimit'
  | 'life'
  | 'locks'
  | 'log'
  | 'notifications'
  | 'now'
  | 'once'
  | 'parsedJobs'
  | 'rates'
  | 'replicas'
  | 'retry'
  | 'serializer'
  | 'store'
>;

/** An attempt that ran here and has ended; its outcome is not written yet. */
export type EndedAttempt = {
  readonly step: LiveStep;
  readonly outcome: Outcome;
  readonly report: Report;
};

/** The next revision of a job, and what belongs to it. */
export type JobChange = {
  /** The whole next document; its `_rev` is the revision that was decided upon. */
  readonly job: Job;
  /** Children that it gives up: they are asked to cancel before it is written. */
  readonly abandons?: readonly GivenUp[] | undefined;
  /** Notifications of its end: they are made before it is written. */
  readonly makes?: readonly ChildJob[] | undefined;
  /** Steps that it claims, each with a slot reserved: their attempts are started after it is written. */
  readonly claims?: readonly LiveStep[];
  /** Child jobs that it waits for: they are made after it is written. */
  readonly children?: readonly ChildJob[];
  /** Attempts whose outcomes are in it: their slots are free after it is written. */
  readonly ended?: readonly EndedAttempt[];
  /** A decision gave it: when it is final, everything that was asked for in it is answered. */
  readonly decided?: boolean;
  /** It begins and ends no attempt, so it may be written upon the winner of a conflict. */
  readonly unconfirmed?: true;
  /** Maximum length, bytes; without it what the database takes. */
  readonly mostBytes?: number | undefined;
};

/**
 * What became of a change. `written`: `doc` has to be looked at next. `given_up`: the outcomes are
 * stored, but nothing was started. `lost`: somebody was faster, or it is not known (`cause`); nothing
 * was started.
 */
export type JobWritten = Committed;

/**
 * Writes the next revision of a job: every revision that an engine writes passes here.
 *
 * E12 It is a compare-and-set on the revision that was decided upon; what is lost is never written
 *    over what won (E1). Without a clear answer the change counts as lost, unless it is read back.
 * E13 Given-up children are cancelled and notifications made before the write: an engine that dies in
 *    between leaves no child behind, and no end untold. Among several copies the children are
 *    cancelled once more afterwards.
 * E14 Attempts are started, and children made, only after the write was confirmed (E3). Claims have
 *    their slots from before the write; they are free again when it is not confirmed or anything throws.
 * E15 Once the engine ends nothing is written.
 */
export async function writeJob(parts: WriteParts, decided: JobChange): Promise<JobWritten> {
  const { attempts, documentLimit } = parts;
  const change = { ...decided, job: withLengthWarning(decided.job, documentLimit.bytes) };
  const { job, claims = [], ended = [] } = change;
  const endedClaims = ended.map(({ step }) => step.claim);
  let written: JobWritten;
  try {
    written = await store(parts, change, endedClaims);
  } catch (error) {
    attempts.withdraw(claims, endedClaims);
    throw error;
  }
  if (written.kind === 'written' || written.kind === 'given_up') {
    for (const attempt of ended) sayOutcome(parts, job._id, attempt);
    for (const claim of endedClaims) attempts.release(claim);
  }
  if (written.kind === 'written') return goOn(parts, change, written);
  attempts.withdraw(claims, endedClaims);
  return written;
}

/** Starts the attempts and makes the children of a revision that was written. */
async function goOn(
  parts: WriteParts,
  { job, decided = false, abandons = [], claims = [], children = [] }: JobChange,
  written: Extract<JobWritten, { kind: 'written' }>,
): Promise<JobWritten> {
  const doc: StoredDocument = written.doc;
  // What was sent as text is in the database now: from here on only its name is written.
  const { _attachments } = doc as { readonly _attachments?: Record<string, unknown> };
  const now = { ...job, ...(_attachments && { _attachments }), _rev: doc._rev };
  parts.serializer.put(doc, { madeHere: true });
  // What was read back may be a later revision, with changes of somebody else in it.
  const isOurs = writesBetween(job._rev, doc._rev) === 1;
  if (isOurs && (decided || !isFinal(job))) parts.parsedJobs.know(doc, now);
  if (parts.rates.concerned.has(job._id)) await parts.rates.used(job._id, claims);
  for (const step of claims) start(parts, now as LiveJob, step);
  void parts.locks.releaseSteps(doc);
  const next = children.length === 0 ? undefined : await makeChildren(parts, doc, children);
  if (abandons.length > 0) await cancelChildrenAgain(parts, job._id, abandons);
  return next ?? written;
}

/** Writes what was decided, with the attempts that ended before; the end of the job is logged. */
export async function writeDecision(
  parts: WriteParts,
  decision: Writing,
  more: Pick<JobChange, 'ended' | 'mostBytes'> = {},
): Promise<JobWritten> {
  const { job, abandons } = decision;
  const own = {
    ...(decision.kind === 'write' && { makes: decision.makes }),
    ...(decision.kind === 'claim' && { claims: decision.steps }),
    ...(decision.kind === 'spawn' && { children: decision.children }),
  };
  const written = await writeJob(parts, { job, abandons, decided: true, ...own, ...more });
  if (written.kind === 'written' && decision.kind === 'write' && isFinal(job)) {
    sayEnd(parts, job);
    if (written.doc['locked'] !== undefined) parts.locks.adopt(written.doc);
  }
  return written;
}

/** The document that was written, if it was. */
export function writtenIn(written: JobWritten): StoredDocument | undefined {
  return 'doc' in written ? written.doc : undefined;
}

/** Cancels the children, makes the notifications and stores the job. */
async function store(
  parts: WriteParts,
  { job: wanted, abandons = [], makes = [], claims = [], ...change }: JobChange,
  ended: readonly string[],
): Promise<Committed> {
  const { replicas, notifications, life, documentLimit } = parts;
  const job = abandons.length === 0 ? wanted : await withChildrenCancelled(parts, wanted, abandons);
  if (makes.length > 0) await notifications.make(makes);
  if (life.signal.aborted) return { kind: 'lost', cause: 'the engine ends' };
  const { children = [], unconfirmed, mostBytes = documentLimit.bytes } = change;
  const spawns = children.map(({ _id }) => _id);
  const plain = unconfirmed === undefined ? {} : { unconfirmed };
  return replicas.commit({ job, claims, spawns, ended, ...plain }, mostBytes);
}

function start({ attempts, log }: WriteParts, job: LiveJob, step: LiveStep): void {
  const about = { job: job._id, step: step.name, attempt: step.attempt };
  log.debug(about, `Step ${step.name} begins.`);
  attempts.start(job, step);
}

/**
 * Makes the children. What the database refuses fails the step that wanted it: resolves to the parent
 * as it was written with that. A conflict says that there is such a document; whose it is the next
 * decision asks.
 */
async function makeChildren(
  parts: WriteParts,
  doc: StoredDocument,
  children: readonly ChildJob[],
): Promise<JobWritten | undefined> {
  const refusals = await Promise.all(
    children.map(async (child) => {
      const result = await parts.retry(() => makeChild(parts, child));
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
  const written = await writeJob(parts, { job: failed });
  return written.kind === 'written' ? written : undefined;
}

/** Stores a child; rejects when nobody knows whether it is stored. */
async function makeChild({ store, documentLimit }: WriteParts, child: ChildJob) {
  const result = await store.write(child, documentLimit.bytes);
  if (result.kind === 'unknown') throw new Error(result.cause);
  return result;
}

/** The part of the limit that results may fill; the rest is for the end of the job. */
const forResults = 0.9;

/** So long a job may become by results. */
export function roomForResults({ bytes }: JobParts['documentLimit']): number {
  return bytes * forResults;
}

/** Why a job is not stored as it would go on. `bytes`: its length, when that is the reason. */
export function refusalOf(
  { bytes: limit }: JobParts['documentLimit'],
  { reason, bytes }: { readonly reason: string; readonly bytes?: number },
): Failure {
  return bytes === undefined
    ? failure('StoreRefused', { reason })
    : failure('JobTooLarge', { bytes, limit });
}

/** A failure is a warning, with its reason and its place: the job tells what becomes of it. */
function sayOutcome({ log }: WriteParts, job: string, { step, outcome }: EndedAttempt): void {
  const about = { job, step: step.name, attempt: step.attempt };
  if (outcome.kind !== 'failed') {
    const level = outcome.kind === 'timeout' ? 'warn' : 'debug';
    log[level](about, `Step ${step.name} ended: ${outcome.kind}.`);
    return;
  }
  const { name, message, at } = outcome.failure;
  const where = typeof at === 'string' ? ` (${at})` : '';
  log.warn({ ...about, error: name }, `Step ${step.name} failed${where}: ${name}: ${message}`);
}

function sayEnd({ log }: WriteParts, job: FinalJob): void {
  const { exit, failure } = job;
  const late = job['requests'] === undefined ? undefined : refusedEdit(job);
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
