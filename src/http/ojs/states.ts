import type { StoredDocument } from '../../model/document.js';
import { readJob } from '../../reading/read-job.js';
import type { Status } from '../../model/status.js';

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
export type DetailedStatus = Status | 'offered' | 'retrying';

/** Our word for how a job stands, and theirs. */
export const stateOfStatus: Readonly<Record<DetailedStatus, OjsState>> = {
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
  return stateOfStatus[detailedStatusOf(job, now)];
}

/** How a job stands at `now` (epoch ms). Reads any document, also a malformed one. */
export function detailedStatusOf(job: StoredDocument, now: number): DetailedStatus {
  const { status, retried, isOffered } = readJob(job, now);
  if (job['paused'] === true && (status === 'queued' || status === 'scheduled')) return 'paused';
  if (isOffered) return 'offered';
  return retried !== undefined && retried.due > now && isUnderWay(status) ? 'retrying' : status;
}

const isUnderWay = (status: Status): boolean => status === 'running' || status === 'waiting';

/** Whether nothing more happens in a state by itself. */
export function isTerminal(state: OjsState): boolean {
  return state === 'completed' || state === 'cancelled' || state === 'discarded';
}
