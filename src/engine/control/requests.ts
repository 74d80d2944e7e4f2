import { setTimeout as sleep } from 'node:timers/promises';
import { abandoned } from '../../decide/finish/abandoned.js';
import { continuationOf } from '../../reading/parent.js';
import { failure } from '../../model/failures.js';
import { isOnItsWay } from '../../model/big-result.js';
import { isFinal, type Job } from '../../model/job.js';
import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import { inReadingOrder } from '../../model/reading-order.js';
import type { Store } from '../../store/store.js';
import {
  cancelChildrenAgain,
  withChildrenCancelled,
  recordInParent,
} from '../children/cancel-children.js';
import { requestMessage, signalMessage, type Message } from './message.js';
import { unlessThrown } from '../loop/decision.js';
import type { Replicas } from '../../replicas/replicas.js';
import type { Serializer } from '../loop/serializer.js';
import type { EarlySignals } from './early-signals.js';
import { refusalOf, type DocumentLimit } from '../loop/document-limit.js';
import type { Jobs } from '../loop/jobs.js';
import type { Log } from '../log.js';
import type { LogOnce } from '../events/log-once.js';
import { backOff, type Retry } from '../retry.js';
import { parseInTurns } from '../loop/parsed-jobs.js';
import { reportMalformed } from './report-malformed.js';

export type RequestParts = {
  readonly store: Store;
  readonly serializer: Serializer;
  readonly jobs: Jobs;
  /** Signals whose job has not come yet. */
  readonly earlySignals: EarlySignals;
  readonly replicas: Pick<Replicas, 'many'>;
  readonly retry: Retry;
  /** Aborted: nothing is written any more. */
  readonly life: AbortController;
  /** How long a document may be, bytes. */
  readonly documentLimit: DocumentLimit;
  readonly now: () => number;
  readonly log: Log;
  readonly once: Pick<LogOnce, 'log'>;
};

/**
 * Applies a request or a signal to its job, once, and removes the document. The job keeps the
 * record, so that an engine that dies between the two writes, or another that is as fast, does no
 * harm. A signal may come before its job does.
 *
 * R1 A message that cannot be applied is recorded in the job with the reason. Without a job the
 *    document itself gets `refused` and is ignored from then on.
 */
export function takeMessage(parts: RequestParts, doc: StoredDocument, isOld = false): void {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'request' && parsed.kind !== 'signal') return;
  if (doc['refused'] !== undefined) return;
  if (!parsed.ok) {
    const why = failure('InvalidRequest', { problem: parsed.problems[0].message });
    return reportMalformed(parts, doc, 'request', why);
  }
  const message: Message =
    parsed.kind === 'request' ? requestMessage(parsed.value) : signalMessage(parsed.value);
  void deal(parts, doc, message, isOld);
}

/**
 * Deals with a message in the turn of its job, or of the job that goes on from that one. One that is
 * `isOld` may have been withdrawn or changed since it was read; the feed brings what it is now.
 */
async function deal(
  parts: RequestParts,
  doc: StoredDocument,
  message: Message,
  isOld: boolean,
): Promise<void> {
  const passed = new Set<string>();
  for (let job: string | undefined = message.job; job !== undefined && !passed.has(job);) {
    const of: string = job;
    passed.add(of);
    job = undefined;
    await parts.serializer.queue(of, async () => {
      if (isOld && !(await isCurrent(parts, doc))) return;
      const verdict = await apply(parts, { ...message, job: of });
      switch (verdict.kind) {
        case 'continued':
          job = verdict.as;
          return;
        case 'early':
          return parts.earlySignals.set(of, doc);
        case 'later':
          return;
        case 'unanswerable':
          return void (await parts.store.write({ ...doc, refused: verdict.refused }));
        case 'dealt_with': {
          // Readers of what is left of it learn why it changed nothing.
          const { _id, _rev } = doc;
          const refused = verdict.refused === undefined ? {} : { refused: verdict.refused };
          await parts.store.write({ _id, _rev, _deleted: true, ...refused });
        }
      }
    });
  }
}

async function isCurrent({ store, retry }: RequestParts, doc: StoredDocument): Promise<boolean> {
  const there = await retry(() => store.get(doc._id));
  return there?._rev === doc._rev;
}

/** A job has come: the messages that wait for it are taken now. */
export function takeEarly(parts: RequestParts, job: string): void {
  const docs = parts.earlySignals.get(job) ?? [];
  parts.earlySignals.delete(job);
  for (const doc of docs) takeMessage(parts, doc, true);
}

/**
 * `dealt_with`: applied or refused, it is not needed any more; `early`: there is no such job yet, or
 * too much happens to it now; `later`: the next sweep tries again; `unanswerable`: no job can hold the
 * refusal; `continued`: the job goes on as that one.
 */
type Verdict =
  | { readonly kind: 'dealt_with'; readonly refused?: string }
  | { readonly kind: 'early' }
  | { readonly kind: 'later' }
  | { readonly kind: 'unanswerable'; readonly refused: string }
  | { readonly kind: 'continued'; readonly as: string };

/** So often a message is tried against other writes of its job; then the next version brings it. */
const mostTries = 12;
/** The longest pause between two tries, ms; each is drawn anew, so that engines do not keep step. */
const longestPauseMs = 250;

async function apply(parts: RequestParts, message: Message): Promise<Verdict> {
  const { signal } = parts.life;
  let unknowns = 0;
  for (let conflicts = 0; conflicts < mostTries;) {
    const verdict = await applyOnce(parts, message);
    if (verdict === 'conflict') {
      conflicts += 1;
      const pauseMs = Math.random() * Math.min(longestPauseMs, 5 * 2 ** conflicts);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    } else if (verdict === 'unknown') await backOff((unknowns += 1), signal);
    else return verdict;
  }
  return { kind: 'early' };
}

/** Nothing came of a try: another write was faster, or nobody knows what was stored. */
type Again = 'conflict' | 'unknown';

async function applyOnce(parts: RequestParts, message: Message): Promise<Verdict | Again> {
  const { store, retry, life, now, log } = parts;
  const { id, job, called, mayWait } = message;
  const about = { job, request: id };
  const answer = await retry(async () => ({ doc: await store.get(job) }));
  // The engine ends: the message stays for another one.
  if (answer === undefined || life.signal.aborted) return { kind: 'later' };
  const { doc } = answer;
  if (doc === undefined) {
    if (mayWait) return { kind: 'early' };
    const refused = `There is no job ${job}.`;
    log.warn(about, `${called}: ${refused}`);
    return { kind: 'unanswerable', refused };
  }
  const parsed = await parseInTurns(doc);
  if (parsed.kind !== 'job') {
    const refused = `Document ${job} is no job.`;
    log.warn(about, `${called}: ${refused}`);
    return { kind: 'unanswerable', refused };
  }
  if (!parsed.ok) {
    // A job that cannot be read is ended, also one that sleeps; then the message is refused in it.
    parts.jobs.take(doc);
    return { kind: 'early' };
  }
  const { value } = parsed;
  const next = continuationOf(value);
  if (next !== undefined && message.follows) return { kind: 'continued', as: next };
  const commanded = unlessThrown(() => message.apply(value, now()));
  switch (commanded.kind) {
    case 'repeated':
      log.debug(about, `${called} was applied to job ${job} already.`);
      return { kind: 'dealt_with' };
    case 'refused':
      return refuse(parts, message, value, commanded.because);
    case 'fault':
      return refuse(parts, message, value, commanded.failure.message);
    case 'applied':
      return storeChanged(parts, message, value, commanded.job);
  }
}

/** Puts the refusal on record in the job. */
async function refuse(
  parts: RequestParts,
  { id, job, called, isOfParent, refuse: refusing }: Message,
  before: Job,
  because: string,
): Promise<Verdict | Again> {
  const { store, now, log, documentLimit } = parts;
  log.info({ job, request: id }, `${called} changes nothing: ${because}`);
  if (isOfParent && !isFinal(before)) await recordInParent(parts, before, id, because);
  const next = refusing(before, because, now());
  if (next === before) return { kind: 'dealt_with', refused: because };
  const result = await store.write(inReadingOrder(next), documentLimit.bytes);
  if (result.kind === 'conflict' || result.kind === 'unknown') return result.kind;
  if (result.kind === 'written') return { kind: 'dealt_with', refused: because };
  return { kind: 'unanswerable', refused: because };
}

/** Stores the job as the message changed it. */
async function storeChanged(
  parts: RequestParts,
  { id, job, called, isOfParent, mayWait }: Message,
  before: Job,
  wanted: Job,
): Promise<Verdict | Again> {
  const { store, jobs, retry, life, documentLimit, now, log, once } = parts;
  const about = { job, request: id };
  const children = abandoned(before, wanted);
  const changed = await withChildrenCancelled({ store, retry, once, now }, wanted, children);
  // The engine ends: nobody knows whether the children were told.
  if (life.signal.aborted) return { kind: 'later' };
  const result = await store.write(changed, documentLimit.bytes);
  switch (result.kind) {
    case 'conflict':
      return 'conflict';
    case 'unknown':
      return 'unknown';
    case 'refused': {
      once.log('error', job, `${called} (${id}) cannot be applied: ${result.reason}`);
      // A signal stays, for the step that waits for it; a sweep tries again.
      if (mayWait) return { kind: 'later' };
      const refused = refusalOf(documentLimit, result).message;
      if (isOfParent) await recordInParent(parts, before, id, refused);
      return { kind: 'unanswerable', refused };
    }
    case 'written': {
      log.info(about, `${called} was applied to job ${job}.`);
      // In the database an attachment is a stub, which later writes keep.
      const stored = isOnItsWay(changed)
        ? await retry(() => store.get(job))
        : { ...(changed as StoredDocument), _rev: result.rev };
      if (stored !== undefined) jobs.take(stored);
      await cancelChildrenAgain(parts, job, children);
      return { kind: 'dealt_with' };
    }
  }
}
