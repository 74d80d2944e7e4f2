import type { StoredDocument } from '../../model/document.js';
import { statusOf } from '../../reading/status.js';
import type { Status } from '../../model/status.js';
import { queueOfOffer } from '../../model/work.js';
import { stepsOf } from '../../client.js';

/** The states of a job in the Open Job Spec (core, section 6.1). */
export const ojsStates = [
  'scheduled',
  'available',
  'pending',
  'active',
  'completed',
  'retryable',
  'cancelled',
  'discarded',
] as const;
export type OjsState = (typeof ojsStates)[number];

/** How a job stands: its status, and what that does not tell. `offered`: it could begin, or be fetched. */
export type Standing = Status | 'offered' | 'retrying';

/** Our word for how a job stands, and theirs. */
export const stateOfStanding: Readonly<Record<Standing, OjsState>> = {
  queued: 'available',
  offered: 'available',
  scheduled: 'scheduled',
  paused: 'pending',
  running: 'active',
  waiting: 'active',
  retrying: 'retryable',
  succeeded: 'completed',
  failed: 'discarded',
  cancelled: 'cancelled',
};

/** The state of a job at `now` (epoch ms). */
export function ojsStateOf(job: StoredDocument, now: number): OjsState {
  return stateOfStanding[standingOf(job, now)];
}

/** How a job stands at `now` (epoch ms). Reads any document, also a malformed one. */
export function standingOf(job: StoredDocument, now: number): Standing {
  const status = statusOf(job as Parameters<typeof statusOf>[0], now);
  if (job['paused'] === true && (status === 'queued' || status === 'scheduled')) return 'paused';
  if (status !== 'running' && status !== 'waiting') return status;
  const steps = stepsOf(job);
  const live = steps.filter(({ state }) => state === '$$ready' || state === '$$active');
  // An engine that just offers a step to workers does nothing of its work.
  if (live.length > 0)
    return live.every(({ plugin }) => plugin === 'worker') ? 'offered' : 'running';
  const waits = steps.filter(({ state }) => state === '$$waiting');
  if (waits.length > 0) {
    const offered = waits.every(({ signal = '' }) => queueOfOffer(signal) !== undefined);
    return offered ? 'offered' : 'waiting';
  }
  const last = steps.at(-1);
  if (last?.failed === true && last.due !== undefined) {
    return last.due > now ? 'retrying' : 'offered';
  }
  // A retry has begun another run, of which nothing has begun yet.
  const isNewRun = last?.run !== undefined && Number(job['run']) > last.run;
  return job['state'] === '$$ready' || isNewRun ? 'offered' : status;
}

/** Whether nothing more happens in a state by itself. */
export function isTerminal(state: OjsState): boolean {
  return state === 'completed' || state === 'cancelled' || state === 'discarded';
}
