import type { Renewal } from '../decide/waiting/lease.js';
import type { StoredDocument } from '../model/document.js';
import type { WorkerDocument, WorkerWish } from '../model/worker.js';
import type { Store } from '../store/store.js';
import { leasedJob } from './leased-jobs.js';
import type { CancelOptions, OfferOptions } from './offering.js';
import type { TakenWork, WorkerStep, WorkWanted } from './work.js';
import type { WorkAnswer } from './work-answer.js';
import { hearWorker, listWorkers, tellWorker, type WorkerFacts } from './workers.js';

/** What the client does for workers outside, and for jobs that only they work on. */
export type OutsideWork = {
  /** Takes steps that are offered to workers; nobody else gets those. */
  readonly takeWork: (wanted: WorkWanted) => Promise<TakenWork>;
  /** A job as it was when this process leased a step of it; undefined: it has to be read. */
  readonly leasedJob: (id: string) => StoredDocument | undefined;
  /** Gives a worker more time; undefined when it does not have the step any more. */
  readonly renewWork: (
    work: WorkerStep,
    options: Renewal & { readonly now: () => number },
  ) => Promise<WorkerStep | undefined>;
  /** Gives a step back, which is offered again at once; undefined when the worker does not have it. */
  readonly returnWork: (work: WorkerStep, now: () => number) => Promise<StoredDocument | undefined>;
  /**
   * Stores what a worker answers; resolves with the job, where no engine is needed for what follows.
   * @throws TwsError `document_conflict` when it was answered before
   */
  readonly answerWork: (
    work: WorkerStep,
    answer: WorkAnswer,
    options: OfferOptions,
  ) => Promise<StoredDocument | undefined>;
  /** Ends a job by a cancel, where that takes no engine; undefined: it has to be requested. */
  readonly cancelWork: (id: string, options: CancelOptions) => Promise<StoredDocument | undefined>;
  /** New jobs as they are best stored: begun, with their work offered, where that takes no engine. */
  readonly beginWork: <J extends { readonly _id: string }>(
    jobs: readonly J[],
    options: OfferOptions,
  ) => Promise<readonly J[]>;
  /** Keeps what a worker tells of itself; what people want of it. */
  readonly hearWorker: (facts: WorkerFacts, now: number) => Promise<WorkerWish | undefined>;
  /** The workers that gave heartbeats. */
  readonly workers: (
    now: number,
  ) => Promise<readonly (WorkerDocument & { readonly alive: boolean })[]>;
  /**
   * Tells a worker to take nothing more, to end, or to work again.
   * @throws TwsError `document_missing`, `document_conflict`
   */
  readonly tellWorker: (
    id: string,
    wanted: WorkerWish | undefined,
  ) => Promise<{ readonly id: string; readonly changed: boolean }>;
};

/** What brings the rules of the engines along is loaded when it is asked for. */
const rules = {
  offering: () => import('./offering.js'),
  work: () => import('./work.js'),
  answer: () => import('./work-answer.js'),
  beginning: () => import('./beginning.js'),
};

/** `store`: one that shares its reads, for workers ask for the same, many at the same time. */
export function outsideWork(store: Store): OutsideWork {
  return {
    takeWork: async (wanted) => (await rules.work()).takeWork(store, wanted),
    leasedJob: (id) => leasedJob(store, id),
    renewWork: async (work, options) => (await rules.work()).renewWork(store, work, options),
    returnWork: async (work, now) => (await rules.work()).returnWork(store, work, now),
    answerWork: async (work, answer, options) =>
      (await rules.answer()).answerWork(store, work, answer, options),
    cancelWork: async (id, options) => (await rules.offering()).cancelWork(store, id, options),
    beginWork: async (jobs, options) => (await rules.beginning()).beginWork(store, jobs, options),
    hearWorker: (facts, now) => hearWorker(store, facts, now),
    workers: (now) => listWorkers(store, now),
    tellWorker: (id, wanted) => tellWorker(store, id, wanted),
  };
}
