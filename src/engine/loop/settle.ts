import { abandoned } from '../../decide/finish/abandoned.js';
import { carrying, settle, type Writing } from '../../decide/finish/settle.js';
import { stepOf } from '../../replicas/resolve/leaf-revisions.js';
import type { Outcome } from '../../decide/finish/outcome.js';
import { createSchemaChecks, type SchemaChecks } from '../../evaluate/schema-checks.js';
import { problem, TwsError } from '../../errors.js';
import { isFinalState, type Job, type LiveJob } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import { isFailed, type Failure, type LiveStep } from '../../model/step.js';
import { NoThreadError } from '../../plugin/calculations.js';
import { faultOf, unlessThrown, type Fault } from './decision.js';
import { endFaulty, endMalformed, endRefusedJob } from './end-job.js';
import { keepResults } from '../attachments/cached-results.js';
import { withBigResult } from '../attachments/large-results.js';
import { backOff } from '../retry.js';
import type { JobParts } from './job-parts.js';
import {
  refusalOf,
  roomForResults,
  writeDecision,
  type EndedAttempt,
  type JobWritten,
} from './write-job.js';

/** What is left to write of a job. */
type Pending = {
  readonly left: readonly EndedAttempt[];
  /** How often the database refused what all results were left out of. */
  readonly refusals: number;
  /** What was thrown when it was written, if anything was: the first time, and the last. */
  readonly faults: readonly Fault[];
  /** The checks of results, each made once. */
  readonly schemas: SchemaChecks;
};

/**
 * The result of one try. `over`: all is written or dropped; `doc` has to be looked at next, if there is
 * more to do about it. `again`: try this on the same revision; `anew`: read the job first.
 */
type Tried =
  | { readonly kind: 'over'; readonly doc?: StoredDocument }
  | { readonly kind: 'again' | 'anew'; readonly pending: Pending };

/**
 * Writes the outcomes of a job's attempts that have ended by now, and in the same revision whatever
 * comes next. A lost race is computed anew on the newer revision as long as the claims in it are
 * ours; otherwise the outcome is dropped. Answers the document that has to be looked at next, if
 * there is more to do about it.
 *
 * E6 An attempt that has ended is not run again here: its outcome is kept until it is stored, the job
 *    is no longer ours, or the job has ended. When something throws on the way, the outcome is written
 *    without what follows it; when that throws, too, the job ends with exit 3. An outcome is dropped
 *    only when the database refuses it, the failure in its place and the end of the job.
 */
export async function settleAttempts(
  parts: JobParts,
  id: string,
  given: readonly EndedAttempt[],
): Promise<StoredDocument | undefined> {
  const { serializer, attempts, store, retry, life } = parts;
  let pending: Pending = { left: given, refusals: 0, faults: [], schemas: createSchemaChecks() };
  let failures = 0;
  let doc = serializer.documents.get(id) ?? (await retry(() => store.get(id)));
  while (doc !== undefined) {
    const tried = await unlessItThrows(parts, doc, pending);
    if (tried.kind === 'over') {
      doc = tried.doc;
      break;
    }
    pending = tried.pending;
    if (tried.kind === 'again') continue;
    const { _rev: before } = doc;
    doc = await retry(() => store.get(id));
    if (doc !== undefined) serializer.put(doc);
    // Nobody was faster: the database does not store anything now.
    if (doc?._rev === before) await backOff((failures += 1), life.signal, parts.clock);
  }
  for (const { step } of given) {
    if (attempts.claims.has(step.claim)) attempts.release(step.claim);
  }
  return doc;
}

async function unlessItThrows(
  parts: JobParts,
  doc: StoredDocument,
  pending: Pending,
): Promise<Tried> {
  const [, fault] = pending.faults;
  try {
    if (fault === undefined) return await trySettling(parts, doc, pending);
    return await endForFault(parts, doc, pending, fault);
  } catch (error) {
    // What the database does is waited out; two faults of our own end the job.
    const before = pending.faults.slice(0, error instanceof TwsError ? 0 : 1);
    const about = { job: doc._id, error: String(error) };
    const level = pending.faults.length === 0 ? 'error' : 'debug';
    parts.log[level](about, `An outcome of job ${doc._id} is not written yet.`);
    return {
      kind: 'anew',
      pending: { ...pending, faults: [...before, faultOf(error)] },
    };
  }
}

/** Ends the job for what was thrown twice, also where the job itself cannot be read. */
async function endForFault(
  parts: JobParts,
  doc: StoredDocument,
  pending: Pending,
  { failure }: Fault,
): Promise<Tried> {
  const isOurs = pending.left.some(({ step }) => stepOf(doc, step.claim) !== undefined);
  if (!isOurs || isFinalState(doc['state'])) return { kind: 'over', doc };
  return afterEnd(await endFaulty(parts, doc, failure), pending);
}

function afterEnd(end: JobWritten, pending: Pending): Tried {
  if (end.kind === 'written') return { kind: 'over', doc: end.doc };
  return end.kind === 'refused' ? { kind: 'over' } : { kind: 'anew', pending };
}

async function trySettling(
  parts: JobParts,
  given: StoredDocument,
  pending: Pending,
): Promise<Tried> {
  const { parsedJobs, replicas, fail } = parts;
  const open = await Promise.all(pending.left.map(readyToSettle));
  const doc = replicas.many ? await replicas.readConsistent(given) : given;
  if (doc === undefined) return { kind: 'over' };
  const parsed = await parsedJobs.read(doc);
  if (parsed.kind !== 'job' || (!parsed.ok && isFinalState(doc['state']))) {
    return { kind: 'over', doc };
  }
  if (!parsed.ok) return afterEnd(await endMalformed(parts, doc, parsed.problems), pending);
  const { schemas } = pending;
  const settleAllNow = () => unlessThrown(() => settleAll(parts, parsed.value, open, schemas));
  let settled = settleAllNow();
  while (schemas.isOpen()) {
    if (!(await isChecked(parts, doc, schemas))) return { kind: 'anew', pending };
    settled = settleAllNow();
  }
  if ('kind' in settled) return afterEnd(await endFaulty(parts, doc, settled.failure), pending);
  const { attempts } = settled;
  if (attempts.length === 0) return { kind: 'over', doc };
  const job = settled.job as LiveJob;
  for (const { step, outcome } of attempts) {
    const fatal = outcome.kind === 'done' ? undefined : fatalEnd(job, step);
    if (fatal !== undefined) fail(fatal);
  }
  const stored = await storeSettled(parts, parsed.value as LiveJob, job, {
    ...pending,
    left: attempts,
  });
  if (stored.kind !== 'unfit') return stored;
  return afterEnd(await endRefusedJob(parts, doc, stored.why), pending);
}

/** Makes the checks of results that may take long; resolves with whether there was a thread for them. */
async function isChecked(
  { log }: JobParts,
  { _id: job }: StoredDocument,
  schemas: SchemaChecks,
): Promise<boolean> {
  try {
    await schemas.settle();
    return true;
  } catch (error) {
    if (!(error instanceof NoThreadError)) throw error;
    log.warn(
      { job },
      `A result of job ${job} cannot be checked now: ${error.message}. Trying again.`,
    );
    return false;
  }
}

/** Why this engine must stop, when the attempt that just ended failed in a way its flow calls fatal. */
function fatalEnd(job: LiveJob, { claim }: LiveStep): TwsError | undefined {
  const step = job.steps.find((one) => 'claim' in one && one.claim === claim);
  if (step === undefined || !isFailed(step) || step.failure['severity'] !== 'fatal') {
    return undefined;
  }
  const { name, message } = step.failure;
  return problem('engine_fatal', { job: job._id, step: step.name, name, message });
}

async function readyToSettle(one: EndedAttempt): Promise<EndedAttempt> {
  return { ...one, outcome: await withBigResult(one.outcome) };
}

/** The database takes none of the outcomes, not even a failure. */
type Unfit = { readonly kind: 'unfit'; readonly why: Failure };

/** Stores the settled job with what follows. `read`: the job as it was before. */
async function storeSettled(
  parts: JobParts,
  read: LiveJob,
  job: LiveJob,
  pending: Pending,
): Promise<Tried | Unfit> {
  const { documentLimit } = parts;
  const { left } = pending;
  const ended = left.map(({ step }) => step.claim);
  const wanted = await whatFollows(parts, job, { ended, isFaulty: pending.faults.length > 0 });
  const mayGiveUp = read.steps.some(({ state }) => state === '$$waiting');
  const decision = mayGiveUp ? { ...wanted, abandons: abandoned(read, wanted.job) } : wanted;
  const mostBytes = left.some(isDone) ? roomForResults(documentLimit) : undefined;
  const written = await writeDecision(parts, decision, { ended: left, mostBytes });
  if (written.kind === 'written') await keepResults(parts, written.doc, left);
  switch (written.kind) {
    case 'written':
    case 'given_up':
      return { kind: 'over', doc: written.doc };
    case 'lost':
      return { kind: 'anew', pending };
    case 'refused':
      return withoutRefused(pending, refusalOf(documentLimit, written), written.bytes);
  }
}

/** What comes next is decided upon the settled job, unless that threw before. */
async function whatFollows(
  { replicas, decider }: JobParts,
  job: LiveJob,
  { ended, isFaulty }: { readonly ended: readonly string[]; readonly isFaulty: boolean },
): Promise<Writing> {
  // Nothing is begun in a conflict, but what has ended is written.
  if (isFaulty || replicas.suspects.has(job._id)) return { kind: 'write', job };
  const decision = await decider({ job, seenAt: -Infinity, ended });
  // What has ended is written first; the next look at the job meets the same fault.
  return decision.kind === 'fault' ? { kind: 'write', job } : carrying(job, decision);
}

/** What is left to try when the database refuses a document. `bytes`: its size, when that is the reason. */
function withoutRefused(pending: Pending, why: Failure, bytes: number | undefined): Tried | Unfit {
  const { left, refusals } = pending;
  const outcome = refused(why);
  if (bytes !== undefined && left.some(isDone)) {
    // One result less may be enough: those of the others are still worth keeping.
    const largest = largestResult(left);
    const fewer = left.map((one) => (one === largest ? { ...one, outcome } : one));
    return { kind: 'again', pending: { ...pending, left: fewer } };
  }
  if (refusals > 0) return { kind: 'unfit', why };
  const none = left.map((one) => ({ ...one, outcome }));
  return { kind: 'again', pending: { ...pending, left: none, refusals: refusals + 1 } };
}

/** The job with all outcomes that are still ours to write, and these. */
function settleAll(
  { now, log }: JobParts,
  read: Job,
  ended: readonly EndedAttempt[],
  { read: schema }: SchemaChecks,
): { readonly job: Job; readonly attempts: readonly EndedAttempt[] } {
  let job = read;
  const attempts = ended.filter(({ step, outcome, report }) => {
    const settled = settle(job, { claim: step.claim, outcome, report, schema }, now());
    if (settled.kind === 'settled') {
      job = settled.job;
      return true;
    }
    const about = { job: read._id, step: step.name, attempt: step.attempt };
    log.warn(about, `The outcome of step ${step.name} is dropped: ${settled.because}`);
    return false;
  });
  return { job, attempts };
}

function refused(failure: Failure): Outcome {
  return { kind: 'failed', failure, retryable: false };
}

type DoneAttempt = EndedAttempt & { readonly outcome: Extract<Outcome, { kind: 'done' }> };

function isDone(attempt: EndedAttempt): attempt is DoneAttempt {
  return attempt.outcome.kind === 'done';
}

/** The attempt whose result takes the most room in the document. */
function largestResult(ended: readonly EndedAttempt[]): EndedAttempt | undefined {
  const roomOf = ({ outcome: { result, big } }: DoneAttempt): number =>
    big === undefined && result !== undefined ? JSON.stringify(result).length : 0;
  return ended
    .filter(isDone)
    .map((one) => ({ one, room: roomOf(one) }))
    .reduce((most, other) => (other.room > most.room ? other : most)).one;
}
