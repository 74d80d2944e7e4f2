import { isFinal, isNew, type Job, type LiveJob } from '../../model/job.js';
import { without } from '../../model/record.js';
import type { LiveStep, WaitingStep } from '../../model/step.js';
import { offerOfWork, type OfferPlace } from '../../model/work.js';
import { decide } from '../decide.js';
import type { Decided } from '../intent.js';
import type { Query } from '../queries.js';
import { withStep } from '../steps.js';
import type { World } from '../world.js';
import { withNextDue } from './sleep.js';

/*
 * What can be done about a job without an engine: where all that is next is work for workers outside, nobody
 * has to run anything. Clients begin such jobs, offer their steps and end them in the write that they make
 * anyway.
 *
 * Y6 What comes of a job is what an engine would decide. Nothing else is known of jobs here than that a
 *    step whose plugin is `worker` is offered instead of run.
 * Y7 What needs an engine – a plugin, a child job, a lock, a permit, a rate, a notification – is left to
 *    engines: what was done before it is kept, and they go on from there.
 * Y8 Steps that are offered together stand in line in the order of the flow.
 */

/** What came of it: the next document, what must be known first, or nothing. */
export type Offering =
  | { readonly kind: 'write'; readonly job: Job }
  | Query
  /** An engine has to look at it, as it was. */
  | { readonly kind: 'none' };

/** The plugin whose steps are work for workers outside. */
export const workPlugin = 'worker';

/** Begins again and again, which each offers at least one step; more is not done in one write. */
const mostRounds = 100;

/**
 * Takes a job as far as it goes without an engine. `place`: where the steps of the job stand in line.
 */
export function offering(
  given: Job,
  now: number,
  { world, place }: { readonly world: World; readonly place: (step: LiveStep) => OfferPlace },
): Offering {
  let job = given;
  for (let round = 0; round < mostRounds; round += 1) {
    const intent = decide(job, now, world);
    if (intent.kind !== 'claim' || intent.abandons !== undefined) return rest(given, job, intent);
    const parked = intent.steps.reduce(
      (left: LiveJob | undefined, step) => left && offeredStep(left, step, now, place(step)),
      intent.job,
    );
    if (parked === undefined) return left(given, job);
    job = parked;
  }
  return left(given, job);
}

/** What the last decision comes to; what engines alone can do is left to them. */
function rest(given: Job, job: Job, intent: Decided): Offering {
  if (intent.kind === 'look_up') return intent;
  const isPlain = intent.kind === 'write' && intent.abandons === undefined;
  if (isPlain && intent.makes === undefined) return written(given, intent.job);
  if (intent.kind !== 'wait') return left(given, job);
  return job === given || isNew(job) || isFinal(job)
    ? { kind: 'none' }
    : written(given, withNextDue(job, intent));
}

/** A new job of which nothing was offered stays new: it is for engines to begin. */
function written(given: Job, next: Job): Offering {
  const isUnbegun = isNew(given) && !isFinal(next) && (isNew(next) || next.steps.length === 0);
  return isUnbegun ? { kind: 'none' } : { kind: 'write', job: next };
}

/** What was done is kept, and engines go on from there at once. */
function left(given: Job, job: Job): Offering {
  if (job === given || isFinal(job) || isNew(job)) return { kind: 'none' };
  return { kind: 'write', job: without(job, 'next_due') };
}

/** A step that would run is offered; undefined: nobody could take it in time. */
function offeredStep(
  job: LiveJob,
  step: LiveStep,
  now: number,
  place: OfferPlace,
): LiveJob | undefined {
  const offer = offerOfWork(job, step.params, now, place);
  if (step.plugin !== workPlugin || offer.kind === 'late') return undefined;
  // No engine has it.
  const { engine: _e, pid: _p, claim: _c, plugin_hash: _h, ...rest } = step;
  const until = offer.timeoutMs === undefined ? {} : { until: now + offer.timeoutMs };
  const waiting: WaitingStep = {
    ...rest,
    state: '$$waiting',
    signal: offer.signal,
    since: now,
    ...until,
  };
  const own = job.steps.find(({ path, attempt }) => path === step.path && attempt === step.attempt);
  return own && withStep(job, own, waiting);
}
