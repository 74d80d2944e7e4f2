import { addTo } from '../../model/grouped.js';
import { quickCheck } from '../../decide/compete/quick-check.js';
import type { Writing } from '../../decide/finish/settle.js';
import type { Wait } from '../../decide/intent.js';
import type { Outcome } from '../../decide/finish/outcome.js';
import { isFinalState, type Job } from '../../model/job.js';
import type { Report } from '../../decide/finish/report.js';
import { TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { notificationsOf } from '../../model/notify.js';
import type { LiveStep } from '../../model/step.js';
import { faultOf } from './decision.js';
import { afterEnd, endFaulty, endMalformed, endRefusedJob } from './end-job.js';
import type { JobParts } from './job-parts.js';
import {
  blockedEnginesKey,
  failureForBlocking,
  withoutBlockedEngines,
} from '../watch/blocked-engines.js';
import { fence, runningIn } from '../attempts/fence.js';
import { inLineOf } from '../waiting/wait-queue.js';
import { backOff } from '../retry.js';
import { settleAttempts } from './settle.js';
import { refusalOf, writeDecision, writtenIn, type EndedAttempt } from './write-job.js';
import { tellGoneSteps, tellOtherType } from './tell-edits.js';
import { writeReport } from '../attempts/write-report.js';

export type Jobs = {
  /** Takes a version of a job document that others wrote; `at`: when the feed brought it, epoch ms. */
  readonly take: (doc: StoredDocument, at?: number) => void;
  /** Takes a version found by a scan: also one that was considered before. */
  readonly review: (doc: StoredDocument) => void;
  /** Reads the job anew and takes it. */
  readonly wake: (id: string) => void;
  /** Wakes a job for which something has changed that all engines learn of at the same time. */
  readonly rouse: (id: string) => void;
  /** The same; resolves when the job was considered. */
  readonly recall: (id: string) => Promise<void>;
  /** An attempt that ran here has ended. Resolves when its outcome is stored or dropped. */
  readonly settle: (id: string, step: LiveStep, outcome: Outcome, report: Report) => Promise<void>;
  /** Writes what a running attempt has reported so far. */
  readonly report: (id: string, step: LiveStep, report: Report) => Promise<void>;
  /** A slot came free. */
  readonly fillSlots: () => void;
  /** The document was a job, and has another type now. */
  readonly estranged: (doc: StoredDocument) => void;
  /** The job, or the lock, was deleted. */
  readonly gone: (id: string) => void;
  /** Has the jobs that wait for a permit looked at, whatever was missed. */
  readonly callForPermits: () => Promise<void>;
};

/** What happens to jobs in this process: E1, E2 and E3 of the engine are kept here. */
export function createJobs(parts: JobParts): Jobs {
  const { serializer, permitQueues } = parts;
  /** Attempts that have ended and whose outcomes are not written yet, by job. */
  const ended = new Map<string, EndedAttempt[]>();
  const consider = (doc: StoredDocument): void => {
    void serializer.queue(doc._id, async () => {
      if (serializer.isNewest(doc)) await considerJob(parts, doc);
    });
  };
  return {
    take: (doc, at) => {
      if (serializer.put(doc, at === undefined ? {} : { at }) === 'news') consider(doc);
    },
    review: (doc) => {
      if (serializer.put(doc) !== 'stale') consider(serializer.documents.get(doc._id) ?? doc);
    },
    wake: (id) => void wake(parts, id),
    rouse: (id) => void recall(parts, id),
    recall: (id) => recall(parts, id),
    report: (id, step, report) =>
      serializer.queue(id, async () => {
        const doc = await writeReport(parts, id, step, report);
        if (doc !== undefined) await considerJob(parts, doc);
      }),
    settle: (id, step, outcome, report) => {
      addTo(ended, id, { step, outcome, report });
      return serializer.queue(id, async () => {
        // What ended while another write of the job was under way goes into one revision.
        const together = ended.get(id);
        ended.delete(id);
        if (together === undefined) return;
        const doc = await settleAttempts(parts, id, together);
        if (doc !== undefined) await considerJob(parts, doc);
      });
    },
    fillSlots: () => void fillSlots(parts),
    callForPermits: permitQueues.callAll,
    estranged: (doc) => void serializer.queue(doc._id, () => tellOtherType(parts, doc)),
    gone: (id) => {
      const limit = parts.locks.freed(id);
      if (limit !== undefined) return void permitQueues.call(limit);
      // Most of what is deleted is no job: requests, signals, locks.
      if (!parts.replicas.many || serializer.seen.get(id) === undefined) return forget(parts, id);
      parts.replicas.suspect(id);
      void wake(parts, id);
    },
  };
}

/** The job is deleted. The one that waits for it is woken, as far as this is known here. */
function forget(parts: JobParts, id: string): undefined {
  const { attempts, waitQueue, permitQueues, timers, serializer, replicas } = parts;
  const last = serializer.documents.get(id);
  if (last !== undefined) wakeParent(parts, last);
  if (last?.['schedule'] !== undefined) parts.onJobEnd(last);
  for (const claim of attempts.ofJob.get(id) ?? []) attempts.stop(claim, 'fenced');
  waitQueue.leave(id);
  permitQueues.leave(id);
  timers.clear(id);
  replicas.clear(id);
  serializer.drop(id);
}

/** Wakes a job: what may be done about it is new, and the order of the engines begins now. */
function recall(parts: JobParts, id: string): Promise<void> {
  parts.serializer.touch(id);
  return wake(parts, id);
}

/** Reads a job anew and considers it. */
function wake(parts: JobParts, id: string): Promise<void> {
  const { serializer, waitQueue, permitQueues, replicas, retry, readDocument } = parts;
  return serializer.queue(id, async () => {
    const doc = serializer.documents.get(id) ?? (await retry(() => readDocument(id)));
    if (doc === undefined) {
      replicas.clear(id);
      permitQueues.leave(id);
      return waitQueue.leave(id);
    }
    if (serializer.put(doc) !== 'stale') await considerJob(parts, doc);
  });
}

/** Gives free slots to the jobs that wait for one, until there is no slot or no job left. */
async function fillSlots(parts: JobParts): Promise<void> {
  const { attempts, waitQueue } = parts;
  while (waitQueue.tickets.size > 0 && attempts.freeSlots() > waitQueue.called.size) {
    const id = waitQueue.nextForSlot(attempts);
    if (id === undefined) return;
    await wake(parts, id);
    waitQueue.answered(id);
  }
}

/**
 * Deals with a job until there is nothing more to do about it here. What throws on the way twice would
 * throw at each look: the job ends. Only what the database does is waited out.
 */
async function considerJob(parts: JobParts, doc: StoredDocument): Promise<void> {
  const { permitQueues, breaker, life } = parts;
  const { places, limiting } = permitQueues;
  let hasThrown = false;
  for (let next: StoredDocument | undefined = doc; next !== undefined;) {
    const version: StoredDocument = next;
    try {
      const { flow_definition: flow } = version as { readonly flow_definition?: Limiting };
      const isLimited =
        limiting.size > 0 || flow?.max_running !== undefined || flow?.concurrency !== undefined;
      if (isLimited || places.size > 0) permitQueues.look(version);
      next = await considerVersion(parts, version);
      hasThrown = false;
    } catch (error) {
      if (life.signal.aborted || error instanceof TwsError) throw error;
      next = await (hasThrown ? endFor(parts, version, error) : onceMore(parts, version, error));
      hasThrown = !hasThrown;
    }
  }
  if (breaker.streaks.has(doc._id)) breaker.rest(doc._id);
  if (places.size > 0) permitQueues.looked(doc._id);
}

/** A flow that may limit how many of its jobs run. */
type Limiting = { readonly max_running?: unknown; readonly concurrency?: unknown } | null;

/** Waits a moment before the same version is looked at again. */
async function onceMore(
  { log, life, clock }: JobParts,
  doc: StoredDocument,
  error: unknown,
): Promise<StoredDocument> {
  const message = `What job ${doc._id} asks for could not be done; it is tried once more.`;
  log.error({ job: doc._id, error: String(error) }, message);
  await backOff(0, life.signal, clock);
  return doc;
}

/** Ends the job for what was thrown; answers the document to look at next, if any. */
async function endFor(
  parts: JobParts,
  doc: StoredDocument,
  error: unknown,
): Promise<StoredDocument | undefined> {
  return afterEnd(doc, await endFaulty(parts, doc, faultOf(error).failure));
}

/** Does what one version of a job asks for; answers the document to look at next, if any. */
async function considerVersion(
  parts: JobParts,
  given: StoredDocument,
): Promise<StoredDocument | undefined> {
  const { attempts, waitQueue, timers, serializer, parsedJobs, replicas, now } = parts;
  if (timers.due.has(given._id)) timers.clear(given._id);
  if (serializer.gone.has(given._id)) return decideAndDo(parts, given);
  // What a decision ended here leaves nothing to answer.
  const isOver = isFinalState(given['state']) && parsedJobs.own.has(given);
  if (isOver && !replicas.suspects.has(given._id)) return rest(parts, given);
  const doc = replicas.many ? await replicas.readConsistent(given) : given;
  if (doc === undefined) return forget(parts, given._id);
  const seenAt = serializer.seen.get(doc._id)?.at ?? now();
  const seen = quickCheck(doc, now(), parts.bystanders(seenAt));
  switch (seen.kind) {
    case 'final':
      return rest(parts, doc);
    case 'elsewhere':
      if (attempts.ofJob.has(doc._id)) return decideAndDo(parts, doc);
      waitQueue.leave(doc._id);
      waitQueue.watch(doc._id, [seen.engine]);
      return void serializer.drop(doc._id);
    case 'later':
      return enqueue(parts, doc, { ...othersFirst, until: seen.until });
    case 'no_slot':
      return enqueue(parts, doc, { ...othersFirst, for: 'slot', rank: seen.rank });
    case 'here':
      // Somebody else may have spoilt what a quick check does not show.
      if (!parsedJobs.own.has(doc)) return decideAndDo(parts, doc);
      return leaveToAttempt(parts, doc, seen.claim);
    case 'unclear':
      return decideAndDo(parts, doc);
  }
}

async function decideAndDo(
  parts: JobParts,
  doc: StoredDocument,
): Promise<StoredDocument | undefined> {
  const { decider, serializer, attempts, waitQueue, parsedJobs, breaker, now } = parts;
  const blocked = blockedEnginesKey in doc ? failureForBlocking(doc, parts.crashLimit) : undefined;
  if (blocked !== undefined) {
    return afterEnd(doc, await endFaulty(parts, withoutBlockedEngines(doc), blocked));
  }
  const parsed = await parsedJobs.read(doc);
  if (parsed.kind !== 'job') return void waitQueue.leave(doc._id);
  if (!parsed.ok) return afterEnd(doc, await endMalformed(parts, doc, parsed.problems));
  const gone = serializer.gone.get(doc._id);
  const told = gone && (await tellGoneSteps(parts, parsed.value, gone));
  if (told !== undefined) return told.doc;
  if (attempts.ofJob.has(doc._id)) fence(parts, doc);
  const standpoint = { job: parsed.value, seenAt: serializer.seen.get(doc._id)?.at ?? now() };
  const decision = await decider(standpoint);
  switch (decision.kind) {
    case 'fault':
      return afterEnd(doc, await endFaulty(parts, doc, decision.failure));
    case 'ignore':
      leave(parts, doc);
      return isFinalState(doc['state']) ? wakeOthers(parts, doc) : undefined;
    case 'wait':
      return enqueue(parts, parsed.value, decision);
    case 'abort':
      waitQueue.leave(doc._id);
      for (const claim of decision.claims) attempts.stop(claim, 'cancelled');
      // The job goes on beside what is stopping, and its times still come.
      return doc;
    case 'claim':
      return commit(parts, decision);
    case 'write':
    case 'spawn': {
      const loop = breaker.count(parsed.value, decision);
      if (loop !== undefined) return afterEnd(doc, await endFaulty(parts, doc, loop));
      return commit(parts, decision);
    }
  }
}

/** How long to wait for the winning revision to arrive by the feed, ms. */
const hearsayMs = 2_000;

/** Writes what was decided; a lost write is dropped (E1). */
async function commit(parts: JobParts, decision: Writing): Promise<StoredDocument | undefined> {
  const { waitQueue, attempts, serializer, timers, now, documentLimit } = parts;
  const { _id: id, _rev: rev } = decision.job;
  if (waitQueue.present.has(id)) waitQueue.leave(id);
  const written = await writeDecision(parts, decision);
  if (written.kind === 'refused') {
    return writtenIn(await endRefusedJob(parts, decision.job, refusalOf(documentLimit, written)));
  }
  if (written.kind === 'lost') {
    if (!attempts.ofJob.has(id)) serializer.drop(id);
    // If no write won, nothing else wakes the job.
    if (serializer.seen.get(id)?.rev === rev) timers.set(id, now() + hearsayMs);
  }
  // What tells of a job that goes on waits for this revision.
  if (decision.kind === 'write') decision.makes?.forEach(({ _id }) => void recall(parts, _id));
  return written.kind === 'lost' ? undefined : written.doc;
}

/** All that is left to do is an attempt that runs here. */
function leaveToAttempt(parts: JobParts, doc: StoredDocument, claim: string): undefined {
  const { attempts, waitQueue, serializer, log } = parts;
  log.debug({ job: doc._id }, 'Its step runs here.');
  const here = attempts.ofJob.get(doc._id);
  if (here?.size !== 1 || !here.has(claim)) fence(parts, doc);
  if (waitQueue.present.has(doc._id)) waitQueue.leave(doc._id);
  if (here === undefined) serializer.drop(doc._id);
}

/** The job is final. */
async function rest(parts: JobParts, doc: StoredDocument): Promise<undefined> {
  if (parts.attempts.ofJob.has(doc._id)) fence(parts, doc);
  leave(parts, doc);
  wakeOthers(parts, doc);
  if (parts.locks.mine.has(doc._id)) await parts.locks.release(doc);
}

/** There is nothing more to do about a job. */
function leave(parts: JobParts, { _id: id }: StoredDocument): void {
  const { serializer, attempts, waitQueue, permitQueues, rates } = parts;
  if (rates.concerned.has(id)) rates.leave(id);
  if (waitQueue.present.has(id)) waitQueue.leave(id);
  if (permitQueues.places.size > 0) permitQueues.leave(id);
  if (!attempts.ofJob.has(id)) serializer.drop(id);
}

/** Wakes those that wait for the end of the job. */
function wakeOthers(parts: JobParts, doc: StoredDocument): undefined {
  if (doc['parent'] !== undefined) wakeParent(parts, doc);
  if (doc['schedule'] !== undefined) parts.onJobEnd(doc);
  for (const { id } of notificationsOf(doc)) void recall(parts, id);
}

/** The job that waits for this one: it has ended, or is not there any more. */
function wakeParent(parts: JobParts, doc: StoredDocument): undefined {
  const { parent } = doc as { readonly parent?: { readonly job?: unknown } | null };
  if (typeof parent?.job === 'string') void recall(parts, parent.job);
}

/** `rule`: the rule of `decide` that says so. */
type WaitByRule = Wait & { readonly rule?: string };

const othersFirst = { kind: 'wait', because: 'Another engine goes first.', for: 'engine' } as const;

function enqueue(parts: JobParts, job: Job | StoredDocument, wait: WaitByRule): undefined {
  const { waitQueue, permitQueues, timersOf, serializer, attempts, log } = parts;
  log.debug({ job: job._id, until: wait.until, rule: wait.rule }, wait.because);
  // A job that sleeps for long is found by the view of due times when its time is near.
  const horizon = wait.asleep === true ? parts.now() + parts.horizonMs() : Infinity;
  if (wait.until !== undefined && wait.until <= horizon) timersOf(wait).set(job._id, wait.until);
  permitQueues.wait(inLineOf(job), wait);
  if (wait.for === 'slot') {
    waitQueue.forSlot(inLineOf(job), wait.rank ?? 0, wait.tasks);
    // Another job that went before it may have left its slot free meanwhile.
    void fillSlots(parts);
  } else if (wait.asleep !== true && wait.for !== 'permit') {
    // A time at which the wait ends in any case does not keep an earlier change from ending it.
    waitQueue.forChange(job._id);
  } else waitQueue.leave(job._id);
  const engines = runningIn(job as Job).map(({ engine }) => engine);
  waitQueue.watch(job._id, engines);
  const keep = wait.for !== undefined && serializer.documents.size < keptForSlot;
  if (!keep && !attempts.ofJob.has(job._id)) serializer.drop(job._id);
}

/** So many documents are kept at hand for jobs that wait for a slot; the others are read again. */
const keptForSlot = 2_000;
