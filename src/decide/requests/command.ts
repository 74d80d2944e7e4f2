import { referenceTo, type BigResult } from '../../model/big-result.js';
import { isFinal, isLiveJob, type Job, type LiveJob, type Signal } from '../../model/job.js';
import type { JobRequest } from '../../model/request.js';
import type { SignalDocument } from '../../model/signal.js';
import { isCancelByParent } from '../finish/abandoned.js';
import { withAttached } from '../steps.js';
import { canonical } from '../../model/canonical.js';
import { isAwaitedLater } from '../../reading/later-waits.js';
import { lateAnswer } from '../../reading/people.js';
import { leasedStep } from '../waiting/lease.js';
import { without } from '../../model/record.js';
import { isRecordOf, revisionOf, withRecord } from './records.js';
import { finalAlready, notEnded } from './refusal.js';
import { reopened } from './reopen.js';
import { formerState } from './retry-record.js';
import { skipped } from './skip.js';
import { withUnreadSignals } from './unread.js';
import { asVersion } from '../../model/flow-versions.js';
import type { Query } from '../queries.js';
import { migrated } from '../versions/migrate.js';
import type { Movement } from '../versions/movement.js';
import type { DefinitionsKnown } from '../versions/take-over.js';
import { unknownWorld } from '../world.js';

/**
 * What became of a request or a signal. `repeated`: the job has recorded it already; `refused`: it
 * can have no effect here, `because` says why.
 */
export type Commanded =
  | { readonly kind: 'applied'; readonly job: Job }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'refused'; readonly because: string }
  /** Definitions have to be found first. */
  | Query;

/**
 * Applies a request to a job once. The job records it under `requests`, with all that is needed to
 * apply it again (`replicas/resolve/merged-requests.ts`).
 * `known`: the definitions, which a job needs that moves to another version of its flow.
 */
export function command(
  job: Job,
  request: JobRequest,
  now: number,
  known: DefinitionsKnown = unknownWorld,
): Commanded {
  const taken = recordsOf(job).filter(({ id }) => id === request._id);
  if (taken.some((record) => isRecordOf(record, request))) return { kind: 'repeated' };
  // A parent may store its cancel request twice when it does not know whether it was stored.
  if (taken.length > 0 && isCancelByParent(job._id, request._id)) return { kind: 'repeated' };
  if (taken.length > 0) return usedBefore(request);
  const { action } = request;
  const { who, what } = askedIn(request);
  const changed = change(job, request, { who, now, known });
  if (changed.kind !== 'applied') return changed;
  const moved = 'moved' in changed ? { moved: changed.moved } : {};
  const past = action === 'note' ? {} : formerState(job, changed.job, request);
  const id = { id: request._id, ...revisionOf(request) };
  const record = { ...id, action, ...what, ...moved, ...past, ...who, at: now };
  return { kind: 'applied', job: withRecord(changed.job as Job & Doc, record) };
}

type Doc = Readonly<Record<string, unknown>>;

/** What the job keeps of a request beside its action: who asks and why, and what for. */
function askedIn({ by, reason, step, from, params, latest, to }: JobRequest) {
  const who = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
  const what = {
    ...(step === undefined ? {} : { step }),
    ...(from === undefined ? {} : { from }),
    ...(params === undefined ? {} : { params }),
    ...(latest === undefined ? {} : { latest }),
    ...(to === undefined ? {} : { to: asVersion(to) }),
  };
  return { who, what };
}

function usedBefore({ _id: id, type }: JobRequest | SignalDocument): Commanded {
  return refused(`A ${type} with the id ${id} was taken before; send this one under another id.`);
}

/** Maximum number of signals of a job: each decision reads all of them. */
export const mostSignals = 5_000;

type Who = { readonly by?: string; readonly reason?: string };

type About = { readonly who: Who; readonly now: number; readonly known: DefinitionsKnown };

function change(job: Job, request: JobRequest, { who, now, known }: About): Commanded | Moved {
  switch (request.action) {
    case 'cancel':
      return ofUnfinished(job, { cancel: who });
    case 'pause':
      return ofUnfinished(job, { paused: true });
    case 'resume':
      return ofUnfinished(job, { paused: false });
    case 'retry':
      return isFinal(job) ? reopened(job, request, now) : refused(notEnded(job._id));
    case 'skip':
      return skipped(job, request.step ?? '', now);
    case 'migrate':
      return migrate(job, asVersion(request.to), known);
    case 'note': {
      const { text = '' } = request;
      if (text === '') return refused('A note needs "text".');
      const by = who.by === undefined ? {} : { by: who.by };
      const note = { text, ...by, at: now };
      return { kind: 'applied', job: { ...job, notes: [...listIn(job, 'notes'), note] } as Job };
    }
  }
}

/** It goes by another definition of its flow from now on. */
type Moved = Extract<Commanded, { kind: 'applied' }> & { readonly moved: Movement };

function migrate(job: Job, to: string | undefined, known: DefinitionsKnown): Commanded | Moved {
  const found = migrated(job, to, known);
  switch (found.kind) {
    case 'moves':
      return { ...found, kind: 'applied' };
    case 'there':
    case 'stays':
      return refused(found.because);
    case 'look_up':
      return found;
  }
}

function ofUnfinished(job: Job, more: Readonly<Record<string, unknown>>): Commanded {
  if (isFinal(job)) return refused(finalAlready(job._id));
  return { kind: 'applied', job: { ...awake(job), ...more } as Job };
}

/** A sleeping job with something new is to be looked at, also by engines that start later. */
function awake(job: Job): Job {
  return without(job as Job & Readonly<Record<string, unknown>>, 'next_due');
}

/**
 * Adds a signal to the job once; a waiting step takes it, now or later. `big`: its data when they
 * are long; those of a worker's answer are stored as an attachment, like the result of a step.
 */
export function receive(job: Job, signal: SignalDocument, now: number, big?: BigResult): Commanded {
  const signals = listIn(job, 'signals');
  const known = [...signals, ...recordsOf(job)].filter(({ id }) => id === signal._id);
  if (known.some((record) => isRecordOf(record, signal))) return { kind: 'repeated' };
  if (known.some((record) => isSentAgain(signal, record))) return { kind: 'repeated' };
  if (known.length > 0) return usedBefore(signal);
  const late = tooLate(job, signal);
  if (late !== undefined) return refused(late);
  if (isFinal(job)) return refused(finalAlready(job._id));
  if (signals.length >= mostSignals) {
    return refused(`Job ${job._id} has ${mostSignals} signals already, which is the most.`);
  }
  const { job: holder, data } = aside(job, signal, big);
  const kept = keptSignal(signal, data, now);
  const after = { ...awake(holder), signals: [...signals, kept] } as Job;
  return {
    kind: 'applied',
    job: isLiveJob(after) ? withUnreadSignals(after, [signal.name]) : after,
  };
}

/** Why a signal comes too late; one without an address may have been sent ahead for a wait to come. */
function tooLate(job: Job, signal: SignalDocument): string | undefined {
  const late = lateAnswer(job, signal);
  const isAhead =
    late !== undefined &&
    signal.step === undefined &&
    isLiveJob(job) &&
    isAwaitedLater(job, signal.name);
  return isAhead ? undefined : late;
}

/** A signal as its job keeps it. */
function keptSignal(signal: SignalDocument, data: unknown, now: number): Signal {
  const { _id: id, name, failure, by, as, step, attempt, via, proof } = signal;
  const known = Object.entries({ data, failure, by, as, step, attempt, via, proof });
  const given = Object.fromEntries(known.filter(([, value]) => value !== undefined));
  return { id, ...revisionOf(signal), name, at: now, ...given };
}

/** A client that got no answer sends the same once more. */
function isSentAgain({ name, data, failure }: SignalDocument, record: Doc): boolean {
  const { $attachment: isAside } = (record['data'] ?? {}) as Doc;
  const isSame = canonical(record['failure']) === canonical(failure) && record['name'] === name;
  return isSame && (isAside !== undefined || canonical(record['data']) === canonical(data));
}

/** A worker's long answer goes into an attachment; of any other signal the data stay where they are. */
function aside(
  job: Job,
  { name, data }: SignalDocument,
  big: BigResult | undefined,
): { readonly job: Job; readonly data: unknown } {
  const step = big === undefined || !isLiveJob(job) ? undefined : leasedStep(job, name);
  // What a decider decided is part of the job's state.
  if (big === undefined || step === undefined || typeof step['seen'] === 'number') {
    return { job, data };
  }
  return { job: withAttached(job as LiveJob, step, big), data: referenceTo(step, big) };
}

function refused(because: string): Commanded {
  return { kind: 'refused', because };
}

function recordsOf(job: Job): readonly Doc[] {
  return listIn(job, 'requests');
}

function listIn(job: Job, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list = (job as Readonly<Record<string, unknown>>)[key];
  return Array.isArray(list) ? (list as Readonly<Record<string, unknown>>[]) : [];
}
