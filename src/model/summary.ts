import type { Status } from './status.js';

/** A job in a list or in a stream of changes. Times in epoch ms. */
export type JobSummary = {
  readonly id: string;
  readonly rev: string;
  /** Absent for a job with a structure of its own. */
  readonly flow?: string;
  readonly owner: string;
  readonly status: Status;
  /** Absent for a new one. */
  readonly state?: string;
  readonly start?: number;
  readonly end?: number;
  readonly exit?: number;
  readonly failure?: {
    readonly name: string;
    readonly message: string;
    readonly step?: string;
  };
  readonly exec_after?: number | string;
  /** When something is to be decided next. */
  readonly next_due?: number;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly keys?: Readonly<Record<string, unknown>>;
  readonly external_id?: string;
  /** Absent: that of its flow, or `default`. */
  readonly queue?: string;
  /** What it works on. */
  readonly target?: string;
  /** Id of the parent job. */
  readonly parent?: string;
  /** Names of the steps that run or wait. */
  readonly current?: readonly string[];
  /** Attempts so far. */
  readonly attempts: number;
};

/** Jobs by status; the status is that of the last change of each. */
export type JobCounts = Readonly<Record<Status, number>>;

/** What ended in one span of time. `ms`: what the jobs took; absent where none ended. */
export type Span = {
  /** Its beginning, epoch ms. */
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly ms?: { readonly mean: number; readonly min: number; readonly max: number };
};
