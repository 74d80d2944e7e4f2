import { randomUUID } from 'node:crypto';
import { renewLease, takeOffer } from '../decide/waiting/lease.js';
import { problem } from '../errors.js';
import { isLiveJob, type LiveJob } from '../model/job.js';
import { queueOf } from '../reading/entries.js';
import { parseDocument } from '../reading/parse.js';
import type { StoredDocument } from '../model/document.js';
import type { Failure, WaitingStep } from '../model/step.js';
import { leaseName, offersIn } from '../model/work.js';
import type { Store } from '../store/store.js';
import { pausedQueues } from './queues.js';
import { writeDocument } from './writes.js';

/** What a worker asks for. */
export type WorkWanted = {
  /** Looked through in this order. */
  readonly queues: readonly string[];
  readonly most: number;
  readonly worker: string;
  /** Absent: as the task says, ms. */
  readonly leaseMs?: number | undefined;
  /** Whether work of an owner may be had: that of all others does not stand in the way. */
  readonly isOwner: (owner: string) => boolean;
  /** Whether its work may be had. */
  readonly isMeant: (job: StoredDocument) => boolean;
  /** Epoch ms. */
  readonly now: () => number;
};

/** A step that a worker holds, in its job as it is stored. */
export type WorkerStep = { readonly job: StoredDocument; readonly step: WaitingStep };

/** Rows of the index that are looked at together: few at first, since most often the first will do. */
const together = { least: 50, most: 2_000 } as const;
/** So many offers are tried for one request: others may have been faster. */
const mostOffers = 1_000;
/** So many are looked through for those of owners that are meant. */
const mostRows = 100_000;

/** Takes offered steps, the first in each line first; nobody else gets those. */
export async function takeWork(store: Store, wanted: WorkWanted): Promise<readonly WorkerStep[]> {
  const taken: WorkerStep[] = [];
  const { copies } = await store.info();
  const paused = await pausedQueues(store);
  for (const queue of wanted.queues.filter((one) => !paused.has(one))) {
    let tried = 0;
    for await (const offer of offersOf(store, queue)) {
      if (taken.length >= wanted.most) return taken;
      if (!wanted.isOwner(offer.owner)) continue;
      tried += 1;
      if (tried > mostOffers) break;
      const work = await takeOne(store, offer, { ...wanted, paused }, copies);
      if (work !== undefined) taken.push(work);
    }
  }
  return taken;
}

type Offered = { readonly id: string; readonly signal: string; readonly owner: string };

async function* offersOf(store: Store, queue: string): AsyncGenerator<Offered> {
  const prefix = offersIn(queue);
  let after: Offered | undefined;
  for (let looked = 0; looked < mostRows;) {
    const limit = looked === 0 ? together.least : together.most;
    const rows = await store.view('waiting', {
      startKey: ['signal', after?.signal ?? prefix, ''],
      ...(after === undefined ? {} : { startKeyDocId: after.id, skip: 1 }),
      endKey: ['signal', `${prefix}\uffff`, {}],
      limit,
    });
    for (const { id, key, value: owner } of rows) {
      after = { id, signal: key[1], owner };
      // The order of the index takes "Mail" and "mail" for neighbours.
      if (after.signal.startsWith(prefix)) yield after;
    }
    looked += rows.length;
    if (rows.length < limit) return;
  }
}

/** So often an offer is tried that somebody else changes meanwhile: there are others. */
const tries = 3;
/** So often a lease is renewed whose job others change: whoever does not get more time gives the work up. */
const renewals = 50;

async function takeOne(
  store: Store,
  { id, signal }: Offered,
  { worker, leaseMs, isMeant, paused, now }: WorkWanted & { readonly paused: ReadonlySet<string> },
  copies: number,
): Promise<WorkerStep | undefined> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const doc = await store.get(id);
    const job = doc === undefined || !isMeant(doc) ? undefined : liveJob(doc);
    if (job === undefined || paused.has(queueOf(job))) return undefined;
    const lease = randomUUID();
    const next = takeOffer(job, signal, { worker, id: lease, leaseMs }, now());
    if (next === undefined) return undefined;
    const stored = await storeLease(store, next, leaseName(lease), copies);
    if (stored !== undefined) return stored;
  }
  return undefined;
}

/** Writes a job with a lease; undefined when somebody was faster. @throws TwsError `document_refused` */
async function storeLease(
  store: Store,
  job: LiveJob,
  signal: string,
  copies: number,
): Promise<WorkerStep | undefined> {
  const result = await store.write(job);
  switch (result.kind) {
    case 'conflict':
      return undefined;
    case 'refused':
      throw problem('document_refused', { id: job._id, reason: result.reason });
    case 'written':
    case 'unknown': {
      // Where there are several copies of a document, two may win: then it counts what all of them say.
      const read = copies > 1 ? await store.leaves(job._id, copies) : [await store.get(job._id)];
      const [only] = read;
      return read.length === 1 && only !== undefined ? workIn(only, signal) : undefined;
    }
  }
}

/** The step of a job that somebody has by this lease. */
export function workIn(doc: StoredDocument, signal: string): WorkerStep | undefined {
  const step = leasedSteps(doc).find((one) => one.signal === signal);
  return step === undefined ? undefined : { job: doc, step };
}

/** The steps of a job that workers have. */
export function leasedSteps(doc: StoredDocument): readonly WaitingStep[] {
  const job = liveJob(doc);
  return (job?.steps ?? []).filter(
    (step): step is WaitingStep => step.state === '$$waiting' && step.worker !== undefined,
  );
}

/** Gives a worker more time; undefined when it does not have the step any more. */
export async function renewWork(
  store: Store,
  { job: { _id: id }, step }: WorkerStep,
  { leaseMs, now }: { readonly leaseMs?: number | undefined; readonly now: () => number },
): Promise<WorkerStep | undefined> {
  const { signal = '' } = step;
  const { copies } = await store.info();
  for (let attempt = 0; attempt < renewals; attempt += 1) {
    const doc = await store.get(id);
    const job = doc === undefined ? undefined : liveJob(doc);
    const next = job && renewLease(job, signal, leaseMs, now());
    if (next === undefined) return undefined;
    const stored = await storeLease(store, next, signal, copies);
    if (stored !== undefined) return stored;
  }
  return undefined;
}

/** What came of the work. */
export type WorkAnswer = { readonly data: unknown } | { readonly failure: Failure };

/**
 * Stores what a worker answers; an engine takes it into the job. One answer counts for each lease.
 * @throws TwsError `document_conflict` when it was answered before
 */
export async function answerWork(
  store: Store,
  { job: { _id: job }, step }: WorkerStep,
  answer: WorkAnswer,
): Promise<void> {
  const { signal: name = '', worker } = step;
  const by = worker === undefined ? {} : { by: worker };
  const _id = `signal:${job}:${name.replace('/', '-')}`;
  await writeDocument(store, { _id, type: 'signal', job, name, ...answer, ...by });
}

function liveJob(doc: StoredDocument): LiveJob | undefined {
  const parsed = parseDocument(doc);
  return parsed.kind === 'job' && parsed.ok && isLiveJob(parsed.value) ? parsed.value : undefined;
}
