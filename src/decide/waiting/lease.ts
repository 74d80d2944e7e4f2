import type { LiveJob } from '../../model/job.js';
import type { Step, WaitingStep } from '../../model/step.js';
import { leaseName, queueOfOffer, usualWorkLeaseMs, workOptionsOf } from '../../model/work.js';
import { expiryOf, untilOf } from '../../reading/clock.js';
import { totalDeadline } from '../../reading/entries.js';
import { withStep } from '../steps.js';

/*
 * Who has a step that is done by a worker outside. A lease is written on the revision that was read, so
 * of two workers one gets the step. What comes of it is decided as for any step that waits: an answer is
 * a signal, and a lease that is not renewed ends the attempt.
 *
 * K4 A step that is given back stands in the line where it stood, and nothing is counted for it.
 * K5 A lease without the name of a worker belongs to the first one that renews it by a name.
 */

/** What a worker asks for. `id` identifies the lease; without `leaseMs` the task decides. */
export type LeaseRequest = {
  readonly worker: string;
  readonly id: string;
  readonly leaseMs?: number | undefined;
};

/** Returns the job with a step leased to a worker; undefined: there is nothing to take. */
export function takeOffer(
  job: LiveJob,
  signal: string,
  { worker, id, leaseMs }: LeaseRequest,
  now: number,
): LiveJob | undefined {
  const step = waitingFor(job, signal);
  if (step === undefined || queueOfOffer(signal) === undefined || isHalted(job)) return undefined;
  const lease = { signal: leaseName(id), offer: signal, worker, leased: now };
  const leased: WaitingStep = { ...step, ...lease };
  return withUntil(job, step, leased, now + (leaseMs ?? leaseMsOf(step)));
}

/** Returns the job with the lease extended; undefined: nobody holds it any more. */
export function renewLease(
  job: LiveJob,
  signal: string,
  { leaseMs, worker }: Renewal,
  now: number,
): LiveJob | undefined {
  const step = leasedStep(job, signal);
  if (step === undefined || Number(step.until) <= now) return undefined;
  const named = worker === undefined ? {} : { worker };
  const renewed: WaitingStep = { ...step, ...named, renewed: now };
  return withUntil(job, step, renewed, now + (leaseMs ?? leaseMsOf(step)));
}

/** What a worker asks for when it renews a lease; `worker`: its name, where the lease has none yet. */
export type Renewal = {
  readonly leaseMs?: number | undefined;
  readonly worker?: string | undefined;
};

/** Returns the job with a step given back, which is offered again at once; undefined: nobody holds it. */
export function returnLease(job: LiveJob, signal: string, now: number): LiveJob | undefined {
  const step = leasedStep(job, signal);
  if (step?.offer === undefined || Number(step.until) <= now) return undefined;
  const { worker: _w, leased: _l, renewed: _r, offer, until: _u, ...rest } = step;
  const end = Math.min(expiryOf(job), totalDeadline(job, step));
  const free: WaitingStep = { ...rest, signal: offer, ...untilOf(end) };
  const next = withStep(job, step, free);
  const { next_due: due } = job;
  // It sleeps until the next look that it had before: that finds out how long it may sleep now.
  return due === undefined ? next : { ...next, next_due: Math.min(due, end) };
}

/** Returns how long a lease of a step lasts (ms): what was agreed last, else what its task says. */
export function leaseMsOf({ until, leased, renewed, params }: WaitingStep): number {
  const from = renewed ?? leased;
  if (from !== undefined && until !== undefined) return until - from;
  return workOptionsOf(params).lease ?? usualWorkLeaseMs;
}

/** Returns the step that a worker holds by the lease of that name. */
export function leasedStep(job: LiveJob, signal: string): WaitingStep | undefined {
  const step = waitingFor(job, signal);
  return step?.worker === undefined ? undefined : step;
}

function waitingFor(job: LiveJob, signal: string): WaitingStep | undefined {
  return job.steps.find(
    (step): step is WaitingStep => step.state === '$$waiting' && step.signal === signal,
  );
}

/** Somebody wants it to halt: nothing new begins. */
function isHalted({ state, paused, cancel }: LiveJob): boolean {
  return state === '$$paused' || paused === true || (cancel !== undefined && cancel !== false);
}

/** The step has its time until then, but not longer than its attempts may take; the job sleeps until it is over. */
function withUntil(job: LiveJob, before: Step, step: WaitingStep, wanted: number): LiveJob {
  const { timeout = Infinity } = workOptionsOf(step.params);
  const until = Math.min(wanted, Number(step.leased) + timeout, totalDeadline(job, step));
  const next = withStep(job, before, { ...step, until });
  const { next_due: due } = job;
  // A job that sleeps is looked at when its first time is over; one that is awake, always.
  return due === undefined
    ? next
    : { ...next, next_due: due === before['until'] ? until : Math.min(due, until) };
}
