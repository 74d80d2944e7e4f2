import type { Job, LiveJob } from '../../model/job.js';
import type { LiveStep, Step } from '../../model/step.js';
import { attemptsOf, countsSince } from '../../reading/attempts.js';
import { without } from '../../model/record.js';
import { withStep, ownAttempt } from '../steps.js';

/** A line that a running attempt logged; `at` epoch ms. */
export type LogLine = {
  readonly at: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** What a running attempt has reported so far: each report repeats the previous ones. */
export type Report = {
  /** What its last heartbeat with details said. */
  readonly details?: unknown;
  readonly progress?: number | string;
  readonly log?: readonly LogLine[];
  /** What it sets as `custom_status` of the job, however it ends; null takes it away. */
  readonly status?: string | null;
  /** What it changes in the `data` of the job, if it succeeds; `null` takes a key out. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The same, however it ends. */
  readonly dataAnyhow?: Readonly<Record<string, unknown>>;
  /** For how long (ms) it held up everything else in its process, the worst time. */
  readonly blockedMs?: number;
};

/**
 * What became of a report. `fenced`: the attempt no longer belongs to this engine, and the report
 * is dropped.
 */
export type Reported =
  | { readonly kind: 'reported'; readonly job: LiveJob }
  | { readonly kind: 'fenced'; readonly because: string };

/**
 * Writes the report of a running attempt into its step, if its claim is still the one that runs.
 */
export function report(job: Job, claim: string, reported: Report, now: number): Reported {
  const own = ownAttempt(job, claim);
  if (own.kind === 'fenced') return own;
  const step = { ...withReport(own.step, reported), reported: now };
  return { kind: 'reported', job: withStatus(withStep(own.job, own.step, step), reported) };
}

/** Returns the step with the report of its attempt. */
export function withReport(
  step: LiveStep,
  { details, progress, log = [], blockedMs }: Report,
): LiveStep {
  return {
    ...step,
    ...(details === undefined ? {} : { details }),
    ...(progress === undefined ? {} : { progress }),
    ...(blockedMs === undefined ? {} : { blocked_ms: blockedMs }),
    ...(log.length === 0 ? {} : { log: boundedLog(log) }),
  };
}

/** Returns the job with the status of its own that an attempt has given it. */
export function withStatus(job: LiveJob, { status }: Report): LiveJob {
  if (status === undefined) return job;
  return status === null ? without(job, 'custom_status') : { ...job, custom_status: status };
}

/** Returns the details of the last of the earlier attempts that reported any. */
export function lastDetails(earlier: readonly Step[]) {
  return earlier.findLast((step) => step['details'] !== undefined)?.['details'];
}

/**
 * Returns the earlier attempts of the step at the same work, without those of work that was undone
 * since.
 */
export function earlierAttempts(
  job: LiveJob,
  { path, attempt }: Pick<Step, 'path' | 'attempt'>,
): readonly Step[] {
  if (attempt === 1) return [];
  const since = countsSince(job, path);
  return attemptsOf(job, path).filter((step) => step.attempt < attempt && step.run >= since);
}

/** A step keeps so much of what was logged: the newest lines, in bytes of their JSON. */
const most = { lines: 50, bytes: 4096, text: 500 } as const;

/** Returns the newest lines, as many as a step keeps. */
export function boundedLog(lines: readonly LogLine[]): readonly LogLine[] {
  const newest = lines.slice(-most.lines);
  let bytes = 0;
  const tooOld = newest.findLastIndex((line) => {
    bytes += bytesOf(line);
    return bytes > most.bytes;
  });
  return newest.slice(tooOld + 1);
}

/** Returns a line as a step keeps it: a long message is cut, large data are left out. */
export function logLine({ at, message, data }: LogLine): LogLine {
  const text = message.length > most.text ? `${message.slice(0, most.text)}…` : message;
  const small = data !== undefined && JSON.stringify(data).length <= most.text;
  return { at, message: text, ...(small ? { data } : {}) };
}

function bytesOf(line: LogLine): number {
  return new TextEncoder().encode(JSON.stringify(line)).length;
}
