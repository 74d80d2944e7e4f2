import { setTimeout as sleep } from 'node:timers/promises';
import { problem, TwsError } from '../errors.js';
import { attachmentOf } from '../model/big-result.js';
import type { StoredDocument } from '../model/document.js';
import { signalAnswer, type SignalAnswer } from '../reading/signal-answer.js';
import type { Store } from '../store/store.js';
import { currentJob } from './jobs.js';
import { resultOf } from './results.js';
import { watchJob } from './watch.js';

export type AnswerOptions = {
  /** How long to wait for the answer, ms; 0: what there is now. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
};

/** A job that a signal starts is looked for so often, ms. */
const lookMs = 200;

/**
 * Waits for what a job answers to a signal that was sent to it; `pending` when the time is over. The job
 * may be one that the signal is to start.
 */
export async function answerOfSignal(
  store: Store,
  { job, id }: { readonly job: string; readonly id: string },
  { waitMs, signal }: AnswerOptions,
): Promise<SignalAnswer> {
  const over = new AbortController();
  const limits = [AbortSignal.timeout(Math.max(1, waitMs)), over.signal];
  const until = AbortSignal.any(signal === undefined ? limits : [...limits, signal]);
  let found: SignalAnswer = { kind: 'pending' };
  let of: StoredDocument | undefined;
  const look = (doc: StoredDocument): void => {
    const answer = signalAnswer(doc, id);
    // The job goes on as another one, which has the signal.
    if (answer.kind === 'unanswered' && typeof doc['continued_to'] === 'string') return;
    [found, of] = [answer, doc];
    if (answer.kind !== 'pending') over.abort();
  };
  const first = await store.get(job);
  if (first !== undefined) look(await currentJob(store, first));
  while (!until.aborted) {
    try {
      await watchJob(store, job, { signal: until, onChange: look });
      break;
    } catch (error) {
      if (!(error instanceof TwsError) || error.code !== 'document_missing') throw error;
      await sleep(lookMs, undefined, { signal: until }).catch(() => undefined);
    }
  }
  return of === undefined ? found : whole(store, of, found);
}

/** A long result is kept as an attachment. */
async function whole(
  store: Store,
  job: StoredDocument,
  found: SignalAnswer,
): Promise<SignalAnswer> {
  if (found.kind !== 'answered' || found.result_of === undefined) return found;
  const { answer, result_of: step } = found;
  if (attachmentOf({ result: answer } as never) === undefined) return found;
  return { ...found, answer: await resultOf(store, job, step) };
}

/** What a sender who waits is told instead of an answer; undefined: there is one, or none yet. */
export function problemOfAnswer(answer: SignalAnswer, job: string): TwsError | undefined {
  switch (answer.kind) {
    case 'refused':
      return problem('signal_refused', { job, reason: answer.because });
    case 'failed':
      return problem('signal_failed', { job, reason: answer.because });
    case 'unanswered':
      return problem('signal_unanswered', { job });
    case 'answered':
    case 'pending':
      return undefined;
  }
}
