import { abandoned, withUncancelled } from '../../decide/finish/abandoned.js';
import type { GivenUp } from '../../decide/intent.js';
import { continuationOf, isMadeBy } from '../../reading/parent.js';
import { failure } from '../../model/failures.js';
import { isFinal, type Job } from '../../model/job.js';
import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import { requestMessage, signalMessage, type EarlySignals, type Message } from './message.js';
import { unlessThrown } from '../loop/decision.js';
import type { Jobs } from '../loop/jobs.js';
import type { Library } from '../loop/library.js';
import { refusalOf, writeJob, type JobWritten, type WriteParts } from '../loop/write-job.js';
import type { EngineMeters } from '../meters.js';
import { backOff } from '../retry.js';
import { parseInTurns } from '../loop/serializer.js';
import { judgeByStored } from './find-definitions.js';
import { reportMalformed } from './report-malformed.js';

export type RequestParts = WriteParts & {
  readonly jobs: Jobs;
  /** Signals whose job has not come yet. */
  readonly earlySignals: EarlySignals;
  readonly library: Pick<Library, 'find' | 'foundFlow' | 'foundTask'>;
  readonly meters: Partial<EngineMeters> | undefined;
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
      const verdict = await apply(parts, { ...message, job: of }, doc);
      switch (verdict.kind) {
        case 'continued':
          job = verdict.as;
          return;
        case 'early':
          return putEarly(parts.earlySignals, of, doc);
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

function putEarly(signals: EarlySignals, job: string, signal: StoredDocument): void {
  signals.set(job, new Map(signals.get(job)).set(signal._id, signal));
}

/** A job has come: the messages that wait for it are taken now. */
export function takeEarly(parts: RequestParts, job: string): void {
  const docs = parts.earlySignals.get(job);
  if (docs === undefined) return;
  parts.earlySignals.delete(job);
  for (const doc of docs.values()) takeMessage(parts, doc, true);
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

async function apply(parts: RequestParts, message: Message, doc: StoredDocument): Promise<Verdict> {
  const { clock } = parts;
  const { signal } = parts.life;
  let unknowns = 0;
  for (let conflicts = 0; conflicts < mostTries;) {
    const verdict = await applyOnce(parts, message, doc);
    if (verdict === 'started') conflicts += 1;
    else if (verdict === 'conflict') {
      conflicts += 1;
      const pauseMs = Math.random() * Math.min(longestPauseMs, 5 * 2 ** conflicts);
      await clock.sleep(pauseMs, signal);
    } else if (verdict === 'unknown') await backOff((unknowns += 1), signal, clock);
    else return verdict;
  }
  return { kind: 'early' };
}

/** Nothing came of a try: another write was faster, or nobody knows what was stored. */
type Again = 'conflict' | 'unknown';

async function applyOnce(
  parts: RequestParts,
  message: Message,
  from: StoredDocument,
): Promise<Verdict | Again | 'started'> {
  const { store, retry, life, now, log } = parts;
  const { id, job, called, mayWait, starts } = message;
  const about = { job, request: id };
  const answer = await retry(async () => ({ doc: await store.get(job) }));
  // The engine ends: the message stays for another one.
  if (answer === undefined || life.signal.aborted) return { kind: 'later' };
  const { doc } = answer;
  if (doc === undefined) {
    if (starts !== undefined) {
      const isOpen = await isCurrent(parts, from);
      return isOpen ? startJob(parts, message, starts) : { kind: 'later' };
    }
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
  const commanded = await judgeByStored(parts, (known) =>
    unlessThrown(() => message.apply(value, now(), known)),
  );
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

/**
 * Makes the job that a signal starts; the signal is applied to it by the next try.
 *
 * R2 Of several signals that start a job one makes it, and each is applied to it: the store takes one
 *    document of an id, and a signal stays until a job has it on record. So one that is gone by the
 *    time its job is found missing starts nothing: the job had it, ended and was removed.
 */
async function startJob(
  { store, documentLimit, meters, log }: RequestParts,
  { id, job, called }: Message,
  starts: NonNullable<Message['starts']>,
): Promise<Verdict | Again | 'started'> {
  const { bytes } = documentLimit;
  const stored = await store.write(starts, bytes);
  switch (stored.kind) {
    case 'written':
      log.info({ job, request: id }, `${called} started job ${job}.`);
      meters?.triggers?.('signal', 'started', 1);
      return 'started';
    case 'conflict':
    case 'unknown':
      return stored.kind;
    case 'refused':
      log.warn({ job, request: id }, `${called} cannot start job ${job}: ${stored.reason}`);
      meters?.triggers?.('signal', 'refused', 1);
      return { kind: 'unanswerable', refused: `It cannot start job ${job}: ${stored.reason}` };
  }
}

/** Puts the refusal on record in the job. */
async function refuse(
  parts: RequestParts,
  { id, job, called, isOfParent, refuse: refusing }: Message,
  before: Job,
  because: string,
): Promise<Verdict | Again> {
  parts.log.info({ job, request: id }, `${called} changes nothing: ${because}`);
  if (isOfParent && !isFinal(before)) await recordInParent(parts, before, id, because);
  const next = refusing(before, because, parts.now());
  if (next === before) return { kind: 'dealt_with', refused: because };
  const result = await writeChanged(parts, next);
  if (result.kind === 'lost') return againAfter(result);
  return { kind: result.kind === 'refused' ? 'unanswerable' : 'dealt_with', refused: because };
}

/** Stores the job as the message changed it. */
async function storeChanged(
  parts: RequestParts,
  { id, job, called, isOfParent, mayWait }: Message,
  before: Job,
  wanted: Job,
): Promise<Verdict | Again> {
  const { documentLimit, log, once } = parts;
  const result = await writeChanged(parts, wanted, abandoned(before, wanted));
  switch (result.kind) {
    case 'lost':
      return againAfter(result);
    case 'refused': {
      once.log('error', job, `${called} (${id}) cannot be applied: ${result.reason}`);
      // A signal stays, for the step that waits for it; a sweep tries again.
      if (mayWait) return { kind: 'later' };
      const refused = refusalOf(documentLimit, result).message;
      if (isOfParent) await recordInParent(parts, before, id, refused);
      return { kind: 'unanswerable', refused };
    }
    case 'written':
    case 'given_up':
      log.info({ job, request: id }, `${called} was applied to job ${job}.`);
      return { kind: 'dealt_with' };
  }
}

/** Writes a job that a message changed, and has it looked at. */
async function writeChanged(
  parts: RequestParts,
  job: Job,
  abandons: readonly GivenUp[] = [],
): Promise<JobWritten> {
  const written = await writeJob(parts, { job, abandons, unconfirmed: true });
  if (written.kind === 'written') parts.jobs.review(written.doc);
  return written;
}

function againAfter({ cause }: Extract<JobWritten, { kind: 'lost' }>): Again {
  return cause === undefined ? 'conflict' : 'unknown';
}

/**
 * Puts on record in the parent that a child refuses the cancel request `id`. Other writes of the parent
 * are waited out; a parent that is gone, that cannot be read, or that is not the one that made the
 * child, is left as it is.
 */
async function recordInParent(
  parts: RequestParts,
  child: Job,
  id: string,
  because: string,
): Promise<void> {
  const { store, retry, once, now } = parts;
  const { job, step } =
    (child as { readonly parent?: { job?: unknown; step?: unknown } }).parent ?? {};
  if (typeof job !== 'string') return;
  const record = { child: child._id, step: String(step), id, because };
  await retry(async () => {
    const doc = await store.get(job);
    if (doc === undefined || !isMadeBy(child, doc)) return;
    const parent = await parseInTurns(doc);
    if (parent.kind !== 'job' || !parent.ok) return;
    const next = withUncancelled(parent.value, [record], now());
    if (next === parent.value) return;
    const written = await writeChanged(parts, next);
    if (written.kind === 'lost') throw new Error(`Job ${job} was changed: ${againAfter(written)}`);
    if (written.kind === 'refused') {
      const what = `Job ${job} cannot be told about its child ${child._id}`;
      once.log('error', job, `${what}: ${because}`);
    }
  });
}
