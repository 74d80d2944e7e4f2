import type { LRUCache } from 'lru-cache';
import { createLru } from '../../memo.js';
import type { StoredDocument } from '../../model/document.js';
import { isCancelByParent } from '../../decide/finish/abandoned.js';
import { command, receive, type Commanded } from '../../decide/requests/command.js';
import type { DefinitionsKnown } from '../../decide/versions/take-over.js';
import { withRefusal } from '../../decide/requests/refusal.js';
import { isFinal, type Job } from '../../model/job.js';
import type { JobRequest, RequestAction } from '../../model/request.js';
import type { SignalDocument, SignalStart } from '../../model/signal.js';
import type { NewDocument } from '../../store/writer.js';
import { bigResult } from '../attachments/large-results.js';

/** A small document that asks something of a job: a request or a signal. */
export type Message = {
  readonly id: string;
  readonly job: string;
  /** What it is, for the log. */
  readonly called: string;
  readonly apply: (job: Job, now: number, known: DefinitionsKnown) => Commanded;
  /** The job with a record of why the message changes nothing. */
  readonly refuse: (job: Job, because: string, now: number) => Job;
  /** A parent gives up its child by it. */
  readonly isOfParent: boolean;
  /** It stays until there is such a job. */
  readonly mayWait: boolean;
  /** The job that is made for it where there is none; the same for every engine. */
  readonly starts?: (NewDocument & { readonly _id: string }) | undefined;
  /** It is for the job that goes on from the one that it names. */
  readonly follows: boolean;
};

/** What asks something of work that goes on, in whichever job it does. */
const following: readonly RequestAction[] = ['cancel', 'pause', 'resume', 'skip', 'migrate'];

/** The message of a request. */
export function requestMessage(request: JobRequest): Message {
  const isOfParent = isCancelByParent(request.job, request._id);
  return {
    id: request._id,
    job: request.job,
    called: `Request "${request.action}"`,
    apply: (job, now, known) => command(job, request, now, known),
    isOfParent,
    // A child that has ended before its parent gave it up keeps no record of it.
    refuse: (job, because, now) =>
      isOfParent && isFinal(job) ? job : withRefusal(job, request, because, now),
    mayWait: false,
    follows: following.includes(request.action),
  };
}

/** The message of a signal. */
export function signalMessage(signal: SignalDocument): Message {
  const big = bigResult(signal.data);
  return {
    id: signal._id,
    job: signal.job,
    called: `Signal "${signal.name}"`,
    apply: (job, now) => receive(job, signal, now, big),
    refuse: (job, because, now) => withRefusal(job, signal, because, now),
    isOfParent: false,
    mayWait: true,
    ...(signal.start === undefined ? {} : { starts: startedJob(signal, signal.start) }),
    follows: true,
  };
}

/** The job that a signal starts. */
function startedJob({ _id, job }: SignalDocument, start: SignalStart): Message['starts'] {
  return { _id: job, type: 'job', ...start, started_by: { signal: _id } };
}

/** Messages to jobs that are not there yet, as many as are kept in memory; a sweep finds the others. */
export type EarlySignals = LRUCache<string, ReadonlyMap<string, StoredDocument>>;

/** The largest number of absent jobs whose messages are kept in memory. */
const mostEarly = 1_000;

export function createEarlySignals(): EarlySignals {
  return createLru(mostEarly);
}

/** The events that were taken last, by id: the revision, and its type and key. */
export type HeardEvents = LRUCache<string, { readonly rev: string; readonly name: string }>;

/** Number of events that are remembered. */
const mostHeard = 20_000;

export function createHeardEvents(): HeardEvents {
  return createLru(mostHeard);
}
