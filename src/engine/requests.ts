import { isDeepStrictEqual } from 'node:util';
import { abandoned } from '../decide/abandoned.js';
import { command, receive, type Commanded } from '../decide/command.js';
import { failure } from '../model/failures.js';
import { isOnItsWay } from '../model/big-result.js';
import type { Job } from '../model/job.js';
import { parseDocument, type StoredDocument } from '../model/parse.js';
import type { JobRequest } from '../model/request.js';
import type { SignalDocument } from '../model/signal.js';
import type { Store } from '../store/store.js';
import { cancelChildren } from './abandon.js';
import { bigResult } from './big-results.js';
import type { Desk } from './desk.js';
import { refusalOf, type DocumentLimit } from './document-limit.js';
import type { Jobs } from './jobs.js';
import type { Log } from './log.js';
import { pause, type Retry } from './patience.js';

export type RequestParts = {
  readonly store: Store;
  readonly desk: Desk;
  readonly jobs: Jobs;
  /** Signals whose job has not come yet. */
  readonly early: Early;
  readonly retry: Retry;
  /** Aborted: nothing is written any more. */
  readonly life: AbortController;
  /** How long a document may be, bytes. */
  readonly documentLimit: DocumentLimit;
  readonly now: () => number;
  readonly log: Log;
};

/** Signals to jobs that are not there yet, as many as are kept in memory; a sweep finds the others. */
export type Early = {
  readonly set: (job: string, signal: StoredDocument) => void;
  readonly get: (job: string) => readonly StoredDocument[] | undefined;
  readonly delete: (job: string) => void;
};

/** So many jobs are kept in mind for which signals came early. */
const mostEarly = 1_000;

export function createEarly(): Early {
  const byJob = new Map<string, Map<string, StoredDocument>>();
  return {
    set: (job, signal) => {
      const signals = byJob.get(job) ?? new Map<string, StoredDocument>();
      if (byJob.size < mostEarly || byJob.has(job)) byJob.set(job, signals.set(signal._id, signal));
    },
    get: (job) => {
      const signals = byJob.get(job);
      return signals && [...signals.values()];
    },
    delete: (job) => byJob.delete(job),
  };
}

/** A small document that asks something of a job: a request or a signal. */
type Message = {
  readonly id: string;
  readonly job: string;
  /** What it is, for the log. */
  readonly called: string;
  readonly apply: (job: Job, now: number) => Commanded;
  /** It stays until there is such a job. */
  readonly mayWait: boolean;
};

/**
 * Applies a request or a signal to its job, once, and removes the document. The job keeps the
 * record, so that an engine that dies between the two writes, or another that is as fast, does no
 * harm. A signal may come before its job does.
 */
export function takeMessage(parts: RequestParts, doc: StoredDocument): void {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'request' && parsed.kind !== 'signal') return;
  if (!parsed.ok) return tellMalformed(parts, doc, parsed.problems[0].message);
  const message: Message =
    parsed.kind === 'request' ? requestMessage(parsed.value) : signalMessage(parsed.value);
  void parts.desk.queue(message.job, async () => {
    const verdict = await apply(parts, message);
    if (verdict.kind === 'early') parts.early.set(message.job, doc);
    if (verdict.kind !== 'dealt_with') return;
    // Whoever stored it can read in what is left of it why it changed nothing.
    const { _id, _rev } = doc;
    const refused = verdict.refused === undefined ? {} : { refused: verdict.refused };
    await parts.store.write({ _id, _rev, _deleted: true, ...refused });
  });
}

/** A job has come: the signals that came before it are taken now. */
export function takeEarly(parts: RequestParts, job: string): void {
  const docs = parts.early.get(job) ?? [];
  parts.early.delete(job);
  for (const doc of docs) takeMessage(parts, doc);
}

function requestMessage(request: JobRequest): Message {
  return {
    id: request._id,
    job: request.job,
    called: `Request "${request.action}"`,
    apply: (job, now) => command(job, request, now),
    mayWait: false,
  };
}

function signalMessage(signal: SignalDocument): Message {
  const big = bigResult(signal.data);
  return {
    id: signal._id,
    job: signal.job,
    called: `Signal "${signal.name}"`,
    apply: (job, now) => receive(job, signal, now, big),
    mayWait: true,
  };
}

/** What is wrong with a request is written into it, for whoever stored it, and logged once. */
function tellMalformed(
  { store, desk, log }: RequestParts,
  doc: StoredDocument,
  problem: string,
): void {
  const told = failure('InvalidRequest', { problem });
  if (isDeepStrictEqual(doc['failure'], told)) return;
  void desk.queue(doc._id, async () => {
    const { kind } = await store.write({ ...doc, failure: told });
    if (kind === 'written') log.warn({ request: doc._id }, `Request ${doc._id}: ${told.message}`);
  });
}

/** `dealt_with`: applied or not, it is not needed any more; `early`: there is no such job yet. */
type Verdict =
  | { readonly kind: 'dealt_with'; readonly refused?: string }
  | { readonly kind: 'early' }
  | { readonly kind: 'later' };

const dealtWith: Verdict = { kind: 'dealt_with' };

async function apply(
  { store, jobs, retry, life, documentLimit, now, log }: RequestParts,
  { id, job, called, apply: applyTo, mayWait }: Message,
): Promise<Verdict> {
  const about = { job, request: id };
  for (let failures = 0; ;) {
    const answer = await retry(async () => ({ doc: await store.get(job) }));
    // The engine ends: the message stays for another one.
    if (answer === undefined || life.signal.aborted) return { kind: 'later' };
    const { doc } = answer;
    if (doc === undefined) {
      if (mayWait) return { kind: 'early' };
      log.warn(about, `${called}: there is no job ${job}.`);
      return { kind: 'dealt_with', refused: `There is no job ${job}.` };
    }
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'job' || !parsed.ok) return dealtWith;
    const commanded = applyTo(parsed.value, now());
    if (commanded.kind === 'repeated') {
      log.debug(about, `${called} was applied to job ${job} already.`);
      return dealtWith;
    }
    if (commanded.kind === 'refused') {
      log.info(about, `${called} changes nothing: ${commanded.because}`);
      return { kind: 'dealt_with', refused: commanded.because };
    }
    await cancelChildren({ store, retry, log }, job, abandoned(parsed.value, commanded.job));
    const result = await store.write(commanded.job, documentLimit.bytes);
    if (result.kind === 'written') {
      log.info(about, `${called} was applied to job ${job}.`);
      // In the database an attachment is a stub, which later writes keep.
      const stored = isOnItsWay(commanded.job)
        ? await retry(() => store.get(job))
        : { ...(commanded.job as StoredDocument), _rev: result.rev };
      if (stored !== undefined) jobs.take(stored);
      return dealtWith;
    }
    if (result.kind === 'refused') {
      log.error(about, `${called} cannot be applied: ${result.reason}`);
      // A signal stays, for the step that waits for it; a sweep tries again.
      if (mayWait) return { kind: 'later' };
      return { kind: 'dealt_with', refused: refusalOf(documentLimit, result).message };
    }
    if (result.kind === 'unknown') await pause((failures += 1), life.signal);
  }
}
