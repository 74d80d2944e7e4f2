import type { Status } from '../model/status.js';
import type { JobCounts, JobSummary, Span } from '../model/summary.js';

/** What the API answers, as far as the pages read it. Times in epoch ms, lengths in ms. */

/** All statuses, in the order in which lists show them. */
export const shownStatuses: readonly Status[] = [
  'failed',
  'running',
  'waiting',
  'queued',
  'scheduled',
  'paused',
  'succeeded',
  'cancelled',
];

/** A job that has ended by itself or by somebody's wish. */
export function isEnded(status: Status): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** When a job began. The start of one that is to run later is when an engine took note of it. */
export function begunAt({
  status,
  start,
}: {
  readonly status: Status;
  readonly start?: number | undefined;
}): number | undefined {
  return status === 'scheduled' || status === 'queued' ? undefined : start;
}

export type { JobCounts, JobSummary as Summary, Span } from '../model/summary.js';
export type { HistoryEvent } from '../model/history-event.js';

export type AnyDocument = Readonly<Record<string, unknown>>;

export type StoredJob = JobSummary & { readonly document: AnyDocument };

export type JobList = { readonly jobs: readonly JobSummary[]; readonly cursor?: string };

export type Stats = {
  readonly now: number;
  readonly jobs: JobCounts;
  readonly engines: { readonly alive: number; readonly slots: number; readonly in_hand: number };
  readonly spans?: readonly Span[];
};

export type CauseAnswer = {
  /** Name of the failure; `""` stands for failures without one, which no filter finds. */
  readonly failure: string;
  readonly count: number;
  /** The flow `""` stands for jobs with tasks of their own. */
  readonly flows: readonly { readonly flow: string; readonly count: number }[];
  readonly newest: { readonly id: string; readonly at: number; readonly message?: string };
};

export type Failures = {
  readonly groups: readonly CauseAnswer[];
  readonly looked: number;
  readonly more: boolean;
};

export type EngineAnswer = {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly plugins: readonly string[];
  readonly labels: readonly string[];
  readonly queues?: readonly string[];
  readonly slots: number;
  readonly started: number;
  readonly beat: number;
  readonly renew_ms?: number;
  readonly state: 'running' | 'disabled' | 'draining' | 'stopped';
  readonly alive: boolean;
  readonly in_hand: number;
};

export type ReasonAnswer = {
  readonly kind: string;
  readonly rule?: string;
  readonly because: string;
  readonly todo?: string;
  readonly until?: number;
  readonly child?: string;
};

export type ExplainAnswer = {
  readonly jobs: readonly {
    readonly id: string;
    readonly status: Status;
    readonly reasons: readonly ReasonAnswer[];
  }[];
  readonly settled: boolean;
};

export type RequestAnswer = {
  /** `there`: a job that is to move goes by that version already. */
  readonly outcome: 'applied' | 'stored' | 'there';
  readonly request?: string;
  readonly job?: JobSummary;
  readonly notice?: string;
};

export type FlowDifferencesAnswer = {
  readonly differences: readonly {
    readonly path: string;
    readonly from?: unknown;
    readonly to?: unknown;
  }[];
};

export type MigrationsAnswer = {
  readonly jobs: readonly {
    readonly id: string;
    readonly can: 'moves' | 'there' | 'stays';
    readonly because?: string;
    readonly effects?: readonly string[];
  }[];
};

export type BulkRequested = {
  readonly applied: number;
  readonly stored: number;
  readonly refused: number;
  readonly more: boolean;
  readonly results: readonly {
    readonly id: string;
    readonly outcome: 'applied' | 'stored' | 'refused';
    readonly problem?: { readonly reason: string; readonly hint: string };
  }[];
};
