import { abandoned } from '../decide/abandoned.js';
import { carrying } from '../decide/carrying.js';
import type { Outcome } from '../decide/outcome.js';
import type { Report } from '../decide/report.js';
import { settle } from '../decide/settle.js';
import type { Job, LiveJob } from '../model/job.js';
import type { StoredDocument } from '../model/parse.js';
import type { Failure, LiveStep } from '../model/step.js';
import { giveUpAgain, givingUp } from './abandon.js';
import { unlessThrown } from './decision.js';
import { endFaulty } from './end-malformed.js';
import { withBigResult } from './big-results.js';
import { goOn, holding, spawnsOf, store as storeJob, type Commit } from './commit.js';
import { refusalOf, roomForResults } from './document-limit.js';
import { pause } from './patience.js';
import { fatalEnd } from './fatal.js';
import type { JobParts } from './jobs.js';

/** An attempt that ran here and has ended; its outcome is not written yet. */
export type EndedAttempt = {
  readonly step: LiveStep;
  readonly outcome: Outcome;
  readonly told: Report;
};

/**
 * Writes the outcomes of a job's attempts that have ended by now, and in the same revision whatever
 * comes next. A lost race is computed anew on the newer revision as long as the claims in it are
 * ours; otherwise the outcome is dropped. Answers the document that has to be looked at next, if
 * there is more to do about it.
 */
export async function settleAttempts(
  parts: JobParts,
  id: string,
  given: readonly EndedAttempt[],
): Promise<StoredDocument | undefined> {
  const { desk, hands, reading, store, copies, retry, decider, surroundings, now, log, fail } =
    parts;
  const { documentLimit } = parts;
  let left: readonly EndedAttempt[] = given.map((one) => ({
    ...one,
    outcome: withBigResult(one.outcome),
  }));
  let refusals = 0;
  let failures = 0;
  let doc = desk.newest(id) ?? (await retry(() => store.get(id)));
  while (doc !== undefined) {
    doc = await copies.agreed(doc);
    if (doc === undefined) break;
    const parsed = reading.read(doc);
    if (parsed.kind !== 'job' || !parsed.ok) break;
    const read = parsed.value;
    const settled = unlessThrown(() => settleAll(parts, read, left));
    if ('kind' in settled) {
      doc = await endFaulty(parts, doc, settled.failure);
      break;
    }
    left = settled.attempts;
    if (left.length === 0) break;
    const job = settled.job as LiveJob;
    for (const { step } of left) {
      const fatal = fatalEnd(job, step);
      if (fatal !== undefined) fail(fatal);
    }
    const ended = left.map(({ step }) => step.claim);
    const standpoint = { job, seenAt: -Infinity, ended };
    // Nothing is begun in a conflict, but what has ended is written.
    const decision = copies.isSuspect(id)
      ? ({ kind: 'write', job } as const)
      : await decider(job, () => surroundings(standpoint), now);
    // What has ended is written first; the next look at the job meets the same fault.
    const wanted: Commit =
      decision.kind === 'fault' ? { kind: 'write', job } : carrying(job, decision);
    const claims = wanted.kind === 'claim' ? wanted.steps : [];
    const children = abandoned(read, wanted.job);
    const hasResults = left.some(isDone);
    if (!hands.fits(wanted.job as LiveJob, claims, ended)) continue;
    const { next, written } = await holding(parts, { claims, ended, job: wanted.job }, async () => {
      const told = await givingUp(parts, wanted.job, children);
      const next = { ...wanted, job: told } as Commit;
      if (next.kind === 'write') await parts.notifications.make(next.makes);
      const most = hasResults ? roomForResults(documentLimit) : documentLimit.bytes;
      const change = { job: next.job, claims, spawns: spawnsOf(next), ended };
      return { next, written: await storeJob(parts, change, most) };
    });
    if (written.kind === 'written' || written.kind === 'given_up') {
      for (const { step, outcome } of left) {
        hands.release(step.claim);
        sayEnd(log, { job: id, step: step.name, attempt: step.attempt }, outcome);
      }
    }
    if (written.kind === 'written') {
      const doc = await goOn(parts, next, written.doc);
      await giveUpAgain(parts, id, children);
      return doc;
    }
    hands.withdraw(claims, ended);
    if (written.kind === 'given_up') return written.doc;
    if (written.kind === 'refused' && written.bytes !== undefined && hasResults) {
      // One result less may be enough: those of the others are still worth keeping.
      const largest = largestResult(left);
      const outcome = refused(refusalOf(documentLimit, written));
      left = left.map((one) => (one === largest ? { ...one, outcome } : one));
    } else if (written.kind === 'refused') {
      refusals += 1;
      if (refusals > 1) break;
      left = left.map((one) => ({ ...one, outcome: refused(refusalOf(documentLimit, written)) }));
    } else {
      const { _rev: before } = doc;
      doc = await retry(() => store.get(id));
      if (doc !== undefined) desk.put(doc);
      // Nobody was faster: the database does not store anything now.
      if (doc?._rev === before) await pause((failures += 1), parts.life.signal);
    }
  }
  for (const { step } of given) hands.release(step.claim);
  return doc;
}

type About = { readonly job: string; readonly step: string; readonly attempt: number };

/** A failure is a warning, with its reason and its place: the job tells what becomes of it. */
function sayEnd(log: JobParts['log'], about: About, outcome: Outcome): void {
  const { step } = about;
  if (outcome.kind !== 'failed') {
    const level = outcome.kind === 'timeout' ? 'warn' : 'info';
    log[level](about, `Step ${step} ended: ${outcome.kind}.`);
    return;
  }
  const { name, message, at } = outcome.failure;
  const where = typeof at === 'string' ? ` (${at})` : '';
  log.warn({ ...about, error: name }, `Step ${step} failed${where}: ${name}: ${message}`);
}

/** The job with all outcomes that are still ours to write, and these. */
function settleAll(
  { now, log }: JobParts,
  read: Job,
  ended: readonly EndedAttempt[],
): { readonly job: Job; readonly attempts: readonly EndedAttempt[] } {
  let job = read;
  const attempts = ended.filter(({ step, outcome, told }) => {
    const settled = settle(job, step.claim, outcome, now(), told);
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
