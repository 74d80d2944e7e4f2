import { toEpochMs } from '../model/scalars.js';
import type { Status } from '../model/status.js';

type Doc = Readonly<Record<string, unknown>>;

/** Status of a job document at `now` (epoch ms). Reads any document, also a malformed one. */
export function statusOf(job: Doc, now: number): Status {
  switch (job.state) {
    case '$$complete':
      return job.exit === 0 ? 'succeeded' : 'failed';
    case '$$cancelled':
      return 'cancelled';
    case '$$paused':
      return 'paused';
    default:
      return liveStatus(job, now);
  }
}

function liveStatus(job: Doc, now: number): Status {
  const states = Array.isArray(job.steps)
    ? job.steps.map((step: unknown) => (step as { state?: unknown } | null)?.state)
    : [];
  if (states.some((state) => state === '$$ready' || state === '$$active')) return 'running';
  if (states.includes('$$waiting')) return 'waiting';
  if (isAfter(job.next_due, now)) return states.length === 0 ? 'scheduled' : 'waiting';
  if (states.length > 0) return 'running';
  return isAfter(job.exec_after, now) ? 'scheduled' : 'queued';
}

function isAfter(time: unknown, now: number): boolean {
  return (typeof time === 'number' || typeof time === 'string') && toEpochMs(time) > now;
}
