import type { Failure } from '../../model/step.js';
import { exits } from '../../model/step.js';
import type { LiveJob } from '../../model/job.js';
import { expiryOf, hardDeadline, untilOf } from '../../reading/clock.js';
import { finish } from '../finish/finish.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';
import { limitsOfFlow, type Limit } from './limits.js';
import { permitting } from './permits.js';

/**
 * A job of a flow with limits (`max_running`, `concurrency`) takes a permit of each before anything of it
 * begins, keeps them whatever it waits for, and gives them back when it ends. As for all locks, the
 * first write of a document decides who has it, so there are never more than that. A slice of a map
 * belongs to its job.
 */
export function permitMove(job: LiveJob, now: number, world: World): Move | undefined {
  const limits = job.slice === undefined ? missingLimits(job) : [];
  if (limits.length === 0) return undefined;
  const context = { job, params: job.params ?? {}, step: {}, results: {}, parent_results: {} };
  const found = permitting(job, { limits, context }, world);
  switch (found.kind) {
    case 'held':
      return { kind: 'change', job: withPermits(job, found.ids, now) };
    case 'open': {
      const { move } = found;
      if (move.kind !== 'wait') return move;
      return { ...move, ...untilOf(hardDeadline(job), expiryOf(job)) };
    }
    case 'cancelled':
      return ended(job, found.failure, { state: '$$cancelled', exit: exits.cancelled }, now);
    case 'failed':
      return ended(job, found.failure, { exit: exits.definition }, now);
  }
}

type End = { readonly exit: number; readonly state?: '$$cancelled' };

function ended(job: LiveJob, failure: Failure, end: End, now: number): Move {
  return { kind: 'change', job: finish(job, { ...end, failure }, now) };
}

/** The limits of which the job has no permit. */
function missingLimits({ flow_definition: flow, locked }: LiveJob): readonly Limit[] {
  return limitsOfFlow(flow).filter(({ at }) =>
    at === 'max_running' ? locked?.permit === undefined : locked?.permits === undefined,
  );
}

/** Nothing of this run has begun yet: the time for which it waited for the permits does not count. */
function withPermits(job: LiveJob, ids: ReadonlyMap<string, string>, now: number): LiveJob {
  const { max_running: permit, ...others } = Object.fromEntries(ids);
  const permits = [...new Set(Object.values(others))];
  const locked = {
    ...job.locked,
    ...(permit === undefined ? {} : { permit }),
    ...(permits.length === 0 ? {} : { permits }),
  };
  const held = { ...job, locked };
  const waited = now - (job.timed_from ?? job.start);
  return waited > (job.held_ms ?? 0) ? { ...held, held_ms: waited } : held;
}
