import { progressOf } from '../decide/progressed.js';
import { failure } from '../model/failures.js';
import type { Job } from '../model/job.js';
import type { Failure } from '../model/step.js';
import type { Decision } from './decision.js';

/**
 * Stops jobs that an engine writes again and again without getting anywhere, whatever the cause.
 *
 * B1 A job trips it when more than 20 decisions within 10 s were to be written while no step began
 *    or ended.
 * B2 The birth of a child job counts as progress, once for each child.
 */
export type Breaker = {
  /** Counts a decision that is to be written. Returns why the job has to be stopped, if it has to. */
  readonly count: (before: Job, decision: Decision) => Failure | undefined;
};

const mostWrites = 20;
const withinMs = 10_000;
/** So many jobs are remembered; those that were written longest ago are forgotten first. */
const remembered = 1_000;

type Seen = {
  readonly progress: string;
  readonly times: readonly number[];
  readonly children: ReadonlySet<string>;
};

/** `now`: a clock that is never set, ms. */
export function createBreaker(now: () => number): Breaker {
  const seen = new Map<string, Seen>();
  return {
    count: (before, decision) => {
      if (decision.kind !== 'write' && decision.kind !== 'spawn') return undefined;
      const id = before._id;
      const progress = progressOf(before);
      const known = seen.get(id);
      seen.delete(id);
      if (progressOf(decision.job) !== progress) return undefined;
      const last = known?.progress === progress ? known : undefined;
      const born = decision.kind === 'spawn' ? decision.children.map(({ _id }) => _id) : [];
      const children = new Set([...(last?.children ?? []), ...born]);
      if (children.size > (last?.children.size ?? 0)) {
        remember(seen, id, { progress, times: [], children });
        return undefined;
      }
      const from = now() - withinMs;
      const times = [...(last?.times ?? []).filter((time) => time > from), now()];
      if (times.length <= mostWrites) {
        remember(seen, id, { progress, times, children });
        return undefined;
      }
      const state = String(decision.job.state);
      const facts = { writes: mostWrites, seconds: withinMs / 1_000, last: `state ${state}` };
      return failure('DecisionLoop', facts);
    },
  };
}

function remember(seen: Map<string, Seen>, id: string, entry: Seen): void {
  seen.set(id, entry);
  if (seen.size <= remembered) return;
  const oldest = seen.keys().next().value;
  if (oldest !== undefined) seen.delete(oldest);
}
