import type { Status } from '../model/status.js';

/** What the API answers, as far as the pages read it. Times in epoch ms, lengths in ms. */

/** All statuses, in the order in which lists show them. */
export const statuses: readonly Status[] = [
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

export type Summary = {
  readonly id: string;
  readonly rev: string;
  readonly flow?: string;
  readonly owner: string;
  readonly status: Status;
  readonly state?: string;
  readonly start?: number;
  readonly end?: number;
  readonly exit?: number;
  readonly failure?: { readonly name: string; readonly message: string; readonly step?: string };
  readonly exec_after?: number | string;
  readonly next_due?: number;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly keys?: Readonly<Record<string, unknown>>;
  readonly external_id?: string;
  readonly queue?: string;
  readonly target?: string;
  readonly parent?: string;
  readonly current?: readonly string[];
  readonly attempts: number;
};

export type Doc = Readonly<Record<string, unknown>>;

export type StoredJob = Summary & { readonly document: Doc };

export type JobList = { readonly jobs: readonly Summary[]; readonly cursor?: string };

export type Counts = Readonly<Record<Status, number>>;

export type Span = {
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly ms?: { readonly mean: number; readonly min: number; readonly max: number };
};

export type Stats = {
  readonly now: number;
  readonly jobs: Counts;
  readonly engines: { readonly alive: number; readonly slots: number; readonly in_hand: number };
  readonly spans?: readonly Span[];
};

export type Engine = {
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

export type Reason = {
  readonly kind: string;
  readonly because: string;
  readonly todo?: string;
  readonly until?: number;
  readonly child?: string;
};

export type Explained = {
  readonly jobs: readonly {
    readonly id: string;
    readonly status: Status;
    readonly reasons: readonly Reason[];
  }[];
  readonly settled: boolean;
};

export type HistoryEvent = {
  readonly id: number;
  readonly at: number;
  readonly level: 'service' | 'decider' | 'external' | 'activity';
  readonly kind: string;
  readonly path?: string;
  readonly name?: string;
  readonly attempt?: number;
  readonly engine?: string;
  readonly data?: unknown;
};

export type Requested = {
  readonly outcome: 'applied' | 'stored';
  readonly request?: string;
  readonly job?: Summary;
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
