import { isDeepStrictEqual } from 'node:util';
import { command } from '../decide/command.js';
import { failure } from '../model/failures.js';
import { parseDocument, type StoredDocument } from '../model/parse.js';
import type { Store } from '../store/store.js';
import type { Desk } from './desk.js';
import type { Jobs } from './jobs.js';
import type { Log } from './log.js';
import type { Retry } from './patience.js';

export type RequestParts = {
  readonly store: Store;
  readonly desk: Desk;
  readonly jobs: Jobs;
  readonly retry: Retry;
  /** Aborted: nothing is written any more. */
  readonly life: AbortController;
  readonly now: () => number;
  readonly log: Log;
};

/**
 * Applies a request document to its job, once, and removes it. The job keeps the record, so that an
 * engine that dies between the two writes, or another that is as fast, does no harm.
 */
export function takeRequest(parts: RequestParts, doc: StoredDocument): void {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'request') return;
  if (!parsed.ok) return tellMalformed(parts, doc, parsed.problems[0].message);
  const request = parsed.value;
  void parts.desk.queue(request.job, async () => {
    if (await apply(parts, request)) await parts.store.remove(doc._id, doc._rev);
  });
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

/** True when the request is dealt with, applied or not. */
async function apply(
  { store, jobs, retry, life, now, log }: RequestParts,
  request: Parameters<typeof command>[1],
): Promise<boolean> {
  for (;;) {
    const about = { job: request.job, request: request._id };
    const answer = await retry(async () => ({ doc: await store.get(request.job) }));
    // The engine ends: the request stays for another one.
    if (answer === undefined || life.signal.aborted) return false;
    const { doc } = answer;
    if (doc === undefined) {
      log.warn(about, `Request "${request.action}": there is no job ${request.job}.`);
      return true;
    }
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'job' || !parsed.ok) return true;
    const commanded = command(parsed.value, request, now());
    if (commanded.kind === 'repeated') {
      log.debug(about, `Request "${request.action}" was applied to job ${request.job} already.`);
      return true;
    }
    if (commanded.kind === 'refused') {
      log.info(about, `Request "${request.action}" changes nothing: ${commanded.because}`);
      return true;
    }
    const result = await store.write(commanded.job);
    if (result.kind === 'written') {
      log.info(about, `Request "${request.action}" was applied to job ${request.job}.`);
      jobs.take({ ...(commanded.job as StoredDocument), _rev: result.rev });
      return true;
    }
    if (result.kind === 'refused') {
      log.error(about, `Request "${request.action}" cannot be applied: ${result.reason}`);
      return true;
    }
    if (result.kind === 'unknown') return false;
  }
}
