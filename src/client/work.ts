import { randomUUID } from 'node:crypto';
import { renewLease, returnLease, takeOffer, type Renewal } from '../decide/waiting/lease.js';
import { problem } from '../errors.js';
import { createKeyedQueue } from '../keyed-queue.js';
import type { LiveJob } from '../model/job.js';
import { queueOf } from '../reading/entries.js';
import type { StoredDocument } from '../model/document.js';
import type { WaitingStep } from '../model/step.js';
import { leaseName } from '../model/work.js';
import type { Store } from '../store/store.js';
import { readControls, type WorkControls } from './controls.js';
import { isMovingNow } from './moving.js';
import { knowJob, liveJobIn } from '../reading/known-jobs.js';
import { keepLeased } from './leased-jobs.js';
import type { WorkOffered } from './offer-line.js';
import { isOfferGone, offerLines, readOffers } from './offer-lines.js';
import { placeAsked, rateText, takePlace } from './work-rates.js';

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
  /** What others offered a moment ago may be missed: whoever asks waits for it. */
  readonly mayMiss?: boolean | undefined;
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

/**
 * What was taken. `isLimited`: a rate holds back more, which nobody needs to wait for. `isLeft`: some is there that
 * others changed each time that it was to be taken.
 */
export type TakenWork = {
  readonly works: readonly WorkerStep[];
  readonly isLimited: boolean;
  readonly isLeft: boolean;
  /** What went wrong with others. */
  readonly errors: readonly unknown[];
};

/** Rows that are read together once a rate is full, to pass over what it holds back. */
const mostRead = 100;

/**
 * Takes offered steps, the first in each line first; nobody else gets those. None while the database moves.
 * @throws what went wrong when nothing could be taken: an error of one step keeps nobody from the others
 */
export async function takeWork(store: Store, wanted: WorkWanted): Promise<TakenWork> {
  const [{ copies }, { queues: controls }, moves] = await Promise.all([
    store.info(),
    readControls(store),
    isMovingNow(store),
  ]);
  const paused = pausedIn(controls);
  const works: WorkerStep[] = [];
  const full = new Set<string>();
  const errors: unknown[] = [];
  const left = new Set<string>();
  const taking = { ...wanted, paused, full, left, copies };
  for (const queue of moves ? [] : wanted.queues.filter((one) => !paused.has(one))) {
    try {
      for await (const offers of meantIn(store, queue, taking, () => wanted.most - works.length)) {
        for (const result of await takeBeside(store, offers, taking)) {
          if (result.status === 'rejected') errors.push(result.reason);
          else if (result.value !== undefined) works.push(result.value);
        }
        if (works.length >= wanted.most)
          return { works, isLimited: false, isLeft: left.size > 0, errors };
      }
    } catch (error) {
      errors.push(error);
    }
  }
  if (works.length === 0 && errors.length > 0) throw errors[0];
  return { works, isLimited: full.size > 0, isLeft: left.size > 0, errors };
}

function pausedIn(controls: WorkControls['queues']): ReadonlySet<string> {
  return new Set([...controls.values()].flatMap(({ queue, paused }) => (paused ? [queue] : [])));
}

/** The offers of a queue that are worth a try, so many together as are `missing`. */
async function* meantIn(
  store: Store,
  queue: string,
  { isOwner, full, mayMiss = false }: Taking,
  missing: () => number,
): AsyncGenerator<readonly WorkOffered[]> {
  const atATime = (): number => Math.max(1, Math.min(mostBeside, missing()));
  const places = beingTaken(store);
  let tried = 0;
  let next: WorkOffered[] = [];
  for await (const offer of offersOf(store, queue, mayMiss)) {
    if (!isOwner(offer.owner) || places.has(placeOf(offer)) || isOfferGone(store, offer)) continue;
    if ((tried += 1) > mostOffers) break;
    next.push(offer);
    if (next.length < (full.size > 0 ? mostRead : atATime())) continue;
    yield* slices(await notFull(store, next, full), atATime);
    next = [];
  }
  yield* slices(await notFull(store, next, full), atATime);
}

function* slices<T>(list: readonly T[], length: () => number): Generator<readonly T[]> {
  let rest = list;
  while (rest.length > 0) {
    const size = length();
    yield rest.slice(0, size);
    rest = rest.slice(size);
  }
}

/** Without the offers of which is known that their rate has no place now. */
async function notFull(
  store: Store,
  offers: readonly WorkOffered[],
  full: ReadonlySet<string>,
): Promise<readonly WorkOffered[]> {
  if (full.size === 0 || offers.length === 0) return offers;
  const docs = await store.getMany([...new Set(offers.map(({ id }) => id))]);
  return offers.filter(({ id, signal }) => {
    const doc = docs.get(id);
    const job = doc === undefined ? undefined : liveJobIn(doc);
    const asked = job && placeAsked(job, signal);
    return asked === undefined || !full.has(rateText(asked));
  });
}

/** So many offers are taken at a time. */
const mostBeside = 16;

type Taking = WorkWanted & {
  readonly paused: ReadonlySet<string>;
  /** The rates that have no place now. */
  readonly full: Set<string>;
  /** The offers that were given up. */
  readonly left: Set<string>;
  readonly copies: number;
};

/** Takes offers beside each other, those of one job one after the other. Answers in their order. */
async function takeBeside(
  store: Store,
  offers: readonly WorkOffered[],
  wanted: Taking,
): Promise<readonly PromiseSettledResult<WorkerStep | undefined>[]> {
  const jobs = createKeyedQueue();
  return Promise.allSettled(
    offers.map((offer) => jobs.take(offer.id, () => takeAlone(store, offer, wanted))),
  );
}

/** The offers of a queue in their order; `mayMiss`: as they are known, and only if that is not so, as the index has them. */
async function* offersOf(
  store: Store,
  queue: string,
  mayMiss: boolean,
): AsyncGenerator<WorkOffered> {
  const known = await offerLines(store).of(queue);
  const told = new Set<string>();
  for (const offer of known?.offers ?? []) {
    told.add(placeOf(offer));
    yield offer;
  }
  if (mayMiss && known?.isWhole() === true) return;
  for await (const offer of offersInIndex(store, queue)) {
    if (!told.has(placeOf(offer))) yield offer;
  }
}

async function* offersInIndex(store: Store, queue: string): AsyncGenerator<WorkOffered> {
  let after: WorkOffered | undefined;
  for (let looked = 0; looked < mostRows;) {
    const most = looked === 0 ? together.least : together.most;
    const { offers, last } = await readOffers(store.view, queue, most, after);
    yield* offers;
    if (last === undefined) return;
    looked += most;
    after = last;
  }
}

/** So often an offer is tried that somebody else changes meanwhile: there are others. */
const tries = 3;
/** So often a lease is renewed whose job others change: whoever does not get more time gives the work up. */
const renewals = 50;

/** What this process is about to give away, by database: whoever else asks is given something else. */
const givenAway = new WeakMap<Store, Set<string>>();
const placeOf = ({ id, signal }: WorkOffered): string => `${id} ${signal}`;

function beingTaken(store: Store): Set<string> {
  const places = givenAway.get(store) ?? new Set();
  givenAway.set(store, places);
  return places;
}

async function takeAlone(
  store: Store,
  offer: WorkOffered,
  wanted: Taking,
): Promise<WorkerStep | undefined> {
  const places = beingTaken(store);
  const place = placeOf(offer);
  if (places.has(place) || isOfferGone(store, offer)) return undefined;
  places.add(place);
  try {
    return await takeOne(store, offer, wanted);
  } finally {
    places.delete(place);
  }
}

async function takeOne(
  store: Store,
  offer: WorkOffered,
  { worker, leaseMs, isMeant, paused, full, left, copies, now }: Taking,
): Promise<WorkerStep | undefined> {
  const { id, signal, doc: known } = offer;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const doc = attempt === 0 && known !== undefined ? known : await readJob(store, id);
    const job = doc === undefined || !isMeant(doc) ? undefined : liveJobIn(doc);
    if (job === undefined || paused.has(queueOf(job))) return undefined;
    const lease = randomUUID();
    const next = takeOffer(job, signal, { worker, id: lease, leaseMs }, now());
    if (next === undefined) return undefined;
    const asked = placeAsked(job, signal);
    if (asked !== undefined && !(await takePlace(store, asked, now))) {
      full.add(rateText(asked));
      return undefined;
    }
    const stored = await storeLease(store, next, leaseName(lease), copies);
    if (stored !== undefined) return stored;
  }
  left.add(placeOf(offer));
  return undefined;
}

async function readJob(store: Store, id: string): Promise<StoredDocument | undefined> {
  const doc = await store.get(id);
  offerLines(store).found(id, doc);
  return doc;
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
      if (result.kind === 'written' && copies === 1) {
        const stored = { ...job, _rev: result.rev };
        knowJob(stored);
        keepLeased(store, stored);
        return workIn(stored, signal);
      }
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
  const job = liveJobIn(doc);
  return (job?.steps ?? []).filter(
    (step): step is WaitingStep => step.state === '$$waiting' && step.worker !== undefined,
  );
}

/** Gives a worker more time; undefined when it does not have the step any more. */
export async function renewWork(
  store: Store,
  { job: { _id: id }, step }: WorkerStep,
  { now, ...wanted }: Renewal & { readonly now: () => number },
): Promise<WorkerStep | undefined> {
  const { signal = '' } = step;
  const renew = (job: LiveJob): LiveJob | undefined => renewLease(job, signal, wanted, now());
  const { copies } = await store.info();
  for (let attempt = 0; attempt < renewals; attempt += 1) {
    const next = await changedJob(store, id, renew);
    if (next === undefined) return undefined;
    const stored = await storeLease(store, next, signal, copies);
    if (stored !== undefined) return stored;
  }
  return undefined;
}

async function changedJob(
  store: Store,
  id: string,
  change: (job: LiveJob) => LiveJob | undefined,
): Promise<LiveJob | undefined> {
  const doc = await store.get(id);
  const job = doc === undefined ? undefined : liveJobIn(doc);
  return job && change(job);
}

/**
 * Gives a step back: it is offered again at once. Undefined when the worker does not have it any more.
 * @throws TwsError `document_refused`, `write_unknown`
 */
export async function returnWork(
  store: Store,
  { job: { _id: id }, step }: WorkerStep,
  now: () => number,
): Promise<StoredDocument | undefined> {
  const giveBack = (job: LiveJob): LiveJob | undefined =>
    returnLease(job, step.signal ?? '', now());
  for (let attempt = 0; attempt < renewals; attempt += 1) {
    const next = await changedJob(store, id, giveBack);
    if (next === undefined) return undefined;
    // Whoever takes it next need not have it read.
    knowJob(next);
    const result = await store.write(next);
    if (result.kind === 'written') return { ...next, _rev: result.rev };
    if (result.kind === 'refused') {
      throw problem('document_refused', { id, reason: result.reason });
    }
    if (result.kind === 'unknown') throw problem('write_unknown', { id, cause: 'no answer' });
  }
  return undefined;
}
