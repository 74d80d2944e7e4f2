import { carrying } from '../decide/carrying.js';
import type { Change, Committed } from '../decide/copies/commit.js';
import { endInvalid, endRefused } from '../decide/finish.js';
import type { ChildJob, Outcome, Wait } from '../decide/intent.js';
import { settle } from '../decide/settle.js';
import {
  defaultPriority,
  isFinal,
  isLiveJob,
  type FinalJob,
  type Job,
  type LiveJob,
} from '../model/job.js';
import { parseDocument, type StoredDocument } from '../model/parse.js';
import { inReadingOrder } from '../model/reading-order.js';
import { isLive, type LiveStep } from '../model/step.js';
import type { NewDocument } from '../store/writer.js';
import type { Store } from '../store/store.js';
import type { Copies } from './copies.js';
import type { Decider, Decision, Standpoint, Surroundings } from './decision.js';
import type { Desk } from './desk.js';
import type { Hands } from './hands.js';
import type { Log } from './log.js';
import type { Parking } from './parking.js';
import type { Retry } from './patience.js';
import type { Timers } from './timers.js';

/** The parts of an engine that have to do with jobs. */
export type JobParts = {
  readonly store: Store;
  readonly desk: Desk;
  readonly hands: Hands;
  readonly parking: Parking;
  readonly timers: Timers;
  readonly copies: Copies;
  readonly decider: Decider;
  /** The world around a decision. */
  readonly surroundings: (standpoint: Standpoint) => Surroundings;
  readonly now: () => number;
  /** So far ahead times are kept in memory, ms. */
  readonly horizonMs: number;
  readonly retry: Retry;
  /** Aborted: nothing is written any more. */
  readonly life: AbortController;
  readonly log: Log;
};

export type Jobs = {
  /** Takes a version of a job document from the feed, as often as it comes. */
  readonly take: (doc: StoredDocument) => void;
  /** Takes a version found by a scan: also one that was considered before. */
  readonly review: (doc: StoredDocument) => void;
  /** Reads the job anew and takes it. */
  readonly wake: (id: string) => void;
  /** Wakes a job for which something has changed that all engines learn of at the same time. */
  readonly rouse: (id: string) => void;
  /** A slot came free. */
  readonly fillSlots: () => void;
  /** The job was deleted. */
  readonly gone: (id: string) => void;
};

/** What happens to jobs in this process: E1, E2 and E3 of the engine are kept here. */
export function createJobs(parts: JobParts): Jobs {
  const { desk } = parts;
  const consider = (doc: StoredDocument): void => {
    void desk.queue(doc._id, async () => {
      if (desk.isNewest(doc)) await considerJob(parts, doc);
    });
  };
  return {
    take: (doc) => {
      if (desk.put(doc) === 'news') consider(doc);
    },
    review: (doc) => {
      if (desk.put(doc) !== 'stale') consider(doc);
    },
    wake: (id) => void wake(parts, id),
    rouse: (id) => {
      desk.touch(id);
      void wake(parts, id);
    },
    fillSlots: () => void fillSlots(parts),
    gone: (id) => {
      if (!parts.copies.many) return forget(parts, id);
      parts.copies.suspect(id);
      void wake(parts, id);
    },
  };
}

/** The job is deleted. */
function forget({ hands, parking, timers, desk }: JobParts, id: string): void {
  for (const claim of hands.of(id)) hands.stop(claim, 'fenced');
  parking.leave(id);
  timers.clear(id);
  desk.drop(id);
}

/** Reads a job anew and considers it. */
function wake(parts: JobParts, id: string): Promise<void> {
  const { desk, parking, retry, store } = parts;
  return desk.queue(id, async () => {
    const doc = desk.newest(id) ?? (await retry(() => store.get(id)));
    if (doc === undefined) return parking.leave(id);
    if (desk.put(doc) !== 'stale') await considerJob(parts, doc);
  });
}

/** Gives free slots to the jobs that wait for one, until there is no slot or no job left. */
async function fillSlots(parts: JobParts): Promise<void> {
  while (parts.hands.freeSlots() > 0) {
    const id = parts.parking.nextForSlot();
    if (id === undefined) return;
    await wake(parts, id);
  }
}

/** Decides on one version of a job and does what was decided. */
async function considerJob(parts: JobParts, given: StoredDocument): Promise<void> {
  const { decider, surroundings, now, parking, timers, copies } = parts;
  timers.clear(given._id);
  const doc = await copies.agreed(given);
  if (doc === undefined) return forget(parts, given._id);
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'job') return parking.leave(doc._id);
  if (!parsed.ok) return endMalformed(parts, doc, parsed.problems);
  fence(parts, parsed.value);
  const seenAt = parts.desk.seenAt(doc._id);
  const decision = await decider(parsed.value, () => surroundings({ seenAt }), now);
  switch (decision.kind) {
    case 'ignore':
      return leave(parts, parsed.value);
    case 'wait':
      return park(parts, parsed.value, decision);
    case 'abort':
      parking.leave(doc._id);
      return decision.claims.forEach((claim) => parts.hands.stop(claim, 'cancelled'));
    case 'claim':
      // The slot may have gone while the decision looked things up.
      if (parts.hands.freeSlots() < decision.steps.length) return considerJob(parts, doc);
      return commit(parts, decision);
    case 'write':
    case 'spawn':
      return commit(parts, decision);
  }
}

/** Stops what runs here but is, by the document, no longer ours. */
function fence({ hands, log }: JobParts, job: Job): void {
  const running = isLiveJob(job) ? job.steps.filter(isLive) : [];
  const live = new Set(running.map((step) => step.claim));
  for (const claim of hands.of(job._id)) {
    if (live.has(claim)) continue;
    log.warn({ job: job._id, claim }, 'An attempt was taken from this engine; it is stopped.');
    hands.stop(claim, 'fenced');
  }
}

/** A final job is off the desk; a job that waits for it is woken. */
function leave(parts: JobParts, job: Job): void {
  parts.parking.leave(job._id);
  if (parts.hands.of(job._id).length === 0) parts.desk.drop(job._id);
  if (!isFinal(job)) return;
  const { parent } = job as { readonly parent?: { readonly job?: unknown } };
  if (typeof parent?.job === 'string') void wake(parts, parent.job);
}

function park(parts: JobParts, job: Job, wait: Wait): void {
  const { parking, timers, desk, hands, log } = parts;
  log.debug({ job: job._id, until: wait.until }, wait.because);
  if (wait.until !== undefined && !isFarAway(parts, wait)) timers.set(job._id, wait.until);
  const owner = isLiveJob(job) ? job.steps.find(isLive)?.engine : undefined;
  if (owner !== undefined) parking.forEngine(job._id, owner);
  else if (wait.for === 'slot') parking.forSlot(job._id, priorityOf(job), wait.rank ?? 0);
  else if (wait.for === 'engine' || wait.until === undefined) parking.forChange(job._id);
  else parking.leave(job._id);
  const keep = wait.for !== undefined && desk.size < keptForSlot;
  if (!keep && hands.of(job._id).length === 0) desk.drop(job._id);
}

/** A job that sleeps for long is found by the view of due times when its time is near. */
function isFarAway({ now, horizonMs }: JobParts, { asleep, until = 0 }: Wait): boolean {
  return asleep === true && until > now() + horizonMs;
}

/** So many documents are kept at hand for jobs that wait for a slot; the others are read again. */
const keptForSlot = 2_000;

function priorityOf(job: Job): number {
  const { priority } = job as { readonly priority?: unknown };
  return typeof priority === 'number' ? priority : defaultPriority;
}

type Commit = Extract<Decision, { kind: 'write' | 'claim' | 'spawn' }>;

/** Writes what was decided; whoever loses the race does nothing more (E1). */
async function commit(parts: JobParts, decision: Commit): Promise<void> {
  const { hands, desk, parking } = parts;
  const { job } = decision;
  parking.leave(job._id);
  const claims = decision.kind === 'claim' ? decision.steps : [];
  hands.reserve(claims);
  const written = await write(parts, { job, claims });
  if (written.kind !== 'written') {
    for (const { claim } of claims) hands.release(claim);
    if (written.kind === 'refused') return endRefusedJob(parts, job._id, written.reason);
    if (hands.of(job._id).length === 0) desk.drop(job._id);
    return;
  }
  await goOn(parts, decision, written.doc);
}

/** Stores a job (E3); once the engine ends, no more. */
async function write({ copies, life }: JobParts, change: Change): Promise<Committed> {
  return life.signal.aborted ? { kind: 'lost' } : copies.commit(change);
}

/** What the database refuses once it refuses always: the job ends, in the smallest document there is. */
async function endRefusedJob(parts: JobParts, id: string, reason: string): Promise<void> {
  const { store, retry, desk, now, log } = parts;
  log.error({ job: id }, `Job ${id} cannot be stored as it would go on: ${reason}`);
  const doc = await retry(() => store.get(id));
  if (doc !== undefined) await store.write(inReadingOrder(endRefused(doc, reason, now())));
  desk.drop(id);
}

/** After a confirmed write: starts the claims, makes the children, looks at what comes next. */
async function goOn(parts: JobParts, decision: Commit, doc: StoredDocument): Promise<void> {
  parts.desk.put(doc);
  switch (decision.kind) {
    case 'claim':
      return startAll(parts, { ...decision.job, _rev: doc._rev }, decision.steps);
    case 'spawn':
      await writeChildren(parts, decision.children);
      return considerJob(parts, doc);
    case 'write':
      if (!isFinal(decision.job)) return considerJob(parts, doc);
      sayEnd(parts, decision.job);
      return leave(parts, decision.job);
  }
}

function startAll(parts: JobParts, job: LiveJob, steps: readonly LiveStep[]): void {
  const { hands, desk, log } = parts;
  for (const step of steps) {
    const about = { job: job._id, step: step.name, attempt: step.attempt };
    log.info(about, `Step ${step.name} begins.`);
    hands.start(job, step, (outcome) =>
      desk.queue(job._id, () => settleAttempt(parts, job._id, step, outcome)),
    );
  }
}

async function writeChildren(parts: JobParts, children: readonly ChildJob[]): Promise<void> {
  // A conflict says that the child is there already: its id is made from the parent's step.
  await Promise.all(children.map((child) => parts.store.write(child as NewDocument)));
}

function sayEnd({ log }: JobParts, job: FinalJob): void {
  const { exit, failure } = job;
  const because = failure === undefined ? '' : ` ${failure.message}`;
  log.info({ job: job._id, exit }, `Job ${job._id} ended with exit ${exit}.${because}`);
}

/**
 * Writes an outcome, and in the same revision whatever comes next. A lost race is computed anew on
 * the newer revision as long as the claim in it is ours; otherwise the outcome is dropped.
 */
async function settleAttempt(
  parts: JobParts,
  id: string,
  step: LiveStep,
  given: Outcome,
): Promise<void> {
  const { desk, hands, store, copies, retry, decider, surroundings, now, log } = parts;
  const about = { job: id, step: step.name, attempt: step.attempt };
  let outcome = given;
  let refusals = 0;
  let doc = desk.newest(id) ?? (await retry(() => store.get(id)));
  while (doc !== undefined) {
    doc = await copies.agreed(doc);
    if (doc === undefined) break;
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'job' || !parsed.ok) break;
    const settled = settle(parsed.value, step.claim, outcome, now());
    if (settled.kind === 'fenced') {
      log.warn(about, `The outcome of step ${step.name} is dropped: ${settled.because}`);
      break;
    }
    const standpoint = { seenAt: -Infinity, ended: step.claim };
    // Nothing is begun in a conflict, but what has ended is written.
    const next: Commit = copies.isSuspect(id)
      ? { kind: 'write', job: settled.job }
      : carrying(settled.job, await decider(settled.job, () => surroundings(standpoint), now));
    const claims = next.kind === 'claim' ? next.steps : [];
    if (hands.freeSlots(step.claim) < claims.length) continue;
    hands.reserve(claims);
    const written = await write(parts, { job: next.job, claims, ended: step.claim });
    if (written.kind === 'written' || written.kind === 'given_up') {
      hands.release(step.claim);
      log.info(about, `Step ${step.name} ended: ${outcome.kind}.`);
    }
    if (written.kind === 'written') return goOn(parts, next, written.doc);
    for (const { claim } of claims) hands.release(claim);
    if (written.kind === 'given_up') return considerJob(parts, written.doc);
    if (written.kind === 'refused') {
      refusals += 1;
      if (refusals > 1) break;
      outcome = refused(written.reason);
    } else {
      doc = await retry(() => store.get(id));
      if (doc !== undefined) desk.put(doc);
    }
  }
  hands.release(step.claim);
  if (doc !== undefined) await considerJob(parts, doc);
}

function refused(reason: string): Outcome {
  const message = `The database refuses the outcome of the step: ${reason}`;
  return { kind: 'failed', failure: { name: 'StoreRefused', message }, retryable: false };
}

/** A job document that cannot be read ends with exit 3 and says what is wrong with it. */
async function endMalformed(
  parts: JobParts,
  doc: StoredDocument,
  problems: Parameters<typeof endInvalid>[1],
): Promise<void> {
  const { store, hands, desk, parking, now, log } = parts;
  parking.leave(doc._id);
  for (const claim of hands.of(doc._id)) hands.stop(claim, 'fenced');
  const job = endInvalid(doc, problems, now());
  const result = await store.write(inReadingOrder(job));
  if (result.kind === 'refused') {
    log.error({ job: doc._id }, `The malformed job cannot be ended: ${result.reason}`);
  }
  desk.drop(doc._id);
}
