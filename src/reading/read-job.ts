import type { StoredDocument } from '../model/document.js';
import { neverDue, toEpochMs } from '../model/scalars.js';
import type { Status } from '../model/status.js';
import { queueOfOffer } from '../model/work.js';
import { statusOf } from './status.js';
import { readSteps, type StepReading } from './step-reading.js';

/** What stands in a job document of any shape. Times are epoch ms. */
export type JobReading = {
  readonly status: Status;
  readonly steps: readonly StepReading[];
  /** Steps that an engine has claimed or runs. */
  readonly running: readonly StepReading[];
  readonly waiting: readonly StepReading[];
  /** The last attempt, when it failed and nothing but its next attempt is to come. */
  readonly retried?: StepReading & { readonly due: number };
  /**
   * All that is under way was offered to workers and nobody has it; or nothing is, and the next
   * attempt may begin.
   */
  readonly isOffered: boolean;
  /** The time until which the job sleeps, where that is to come. */
  readonly until?: number;
};

/** Reads a job document once, as it stands at `now` (epoch ms). Never throws. */
export function readJob(job: StoredDocument, now: number): JobReading {
  const steps = readSteps(job);
  const running = steps.filter(({ state }) => state === '$$ready' || state === '$$active');
  const waiting = steps.filter(({ state }) => state === '$$waiting');
  const read = { status: statusOf(job, now), steps, running, waiting };
  const until = sleepsUntil(job, steps, now);
  const retried = running.length + waiting.length > 0 ? undefined : retriedOf(steps);
  return {
    ...read,
    ...(retried === undefined ? {} : { retried }),
    isOffered: isOffered(job, { ...read, retried }, now),
    ...(until === undefined ? {} : { until }),
  };
}

function retriedOf(steps: readonly StepReading[]): JobReading['retried'] {
  const last = steps.at(-1);
  if (last?.failed !== true || last.due === undefined) return undefined;
  return { ...last, due: last.due };
}

function sleepsUntil(
  { next_due: due, exec_after: after }: StoredDocument,
  steps: readonly StepReading[],
  now: number,
): number | undefined {
  const times = [due, steps.length === 0 ? after : undefined].map(timeOf);
  const until = Math.max(...times);
  return until <= now || until >= neverDue ? undefined : until;
}

/** 0: it is no time. */
function timeOf(time: unknown): number {
  if (typeof time !== 'number' && typeof time !== 'string') return 0;
  const at = toEpochMs(time);
  return Number.isFinite(at) ? at : 0;
}

type ReadSoFar = Pick<JobReading, 'status' | 'steps' | 'running' | 'waiting'> & {
  readonly retried: JobReading['retried'];
};

function isOffered(
  { state, run }: StoredDocument,
  { status, steps, running, waiting, retried }: ReadSoFar,
  now: number,
): boolean {
  if (status !== 'running' && status !== 'waiting') return false;
  // An engine that just offers a step to workers does nothing of its work.
  if (running.length > 0) return running.every(({ plugin }) => plugin === 'worker');
  if (waiting.length > 0) {
    return waiting.every(({ signal = '' }) => queueOfOffer(signal) !== undefined);
  }
  if (retried !== undefined) return retried.due <= now;
  // A retry has begun another run, of which nothing has begun yet.
  const last = steps.at(-1);
  return state === '$$ready' || (last !== undefined && Number(run) > last.run);
}
