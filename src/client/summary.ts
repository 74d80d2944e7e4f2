import { isObject } from '../model/dialects.js';
import type { StoredDocument } from '../model/parse.js';
import { statusOf, type Status } from '../model/status.js';
import { ownerOf } from '../model/task.js';
import { numbers, stepsOf, texts } from './next-steps.js';

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

/** What lists show of a job document, also of a malformed one. `now`: epoch ms. */
export function summaryOf(job: StoredDocument, now: number): JobSummary {
  const { _id: id, _rev: rev, failure, exec_after: after, tags, keys, parent, steps } = job;
  const current = stepsOf(job)
    .filter(({ state }) => state === '$$ready' || state === '$$active' || state === '$$waiting')
    .map(({ name }) => name);
  return {
    id,
    rev,
    ...texts(job, ['flow', 'state', 'external_id', 'queue', 'target']),
    owner: ownerOf(job),
    status: statusOf(job as Parameters<typeof statusOf>[0], now),
    ...numbers(job, ['start', 'end', 'exit', 'next_due', 'priority']),
    ...(isObject(failure) ? { failure: failureOf(failure) } : {}),
    ...(typeof after === 'number' || typeof after === 'string' ? { exec_after: after } : {}),
    ...(Array.isArray(tags) ? { tags: tags.filter((tag) => typeof tag === 'string') } : {}),
    ...(isObject(keys) ? { keys } : {}),
    ...(isObject(parent) && typeof parent['job'] === 'string' ? { parent: parent['job'] } : {}),
    ...(current.length > 0 ? { current } : {}),
    attempts: Array.isArray(steps) ? steps.length : 0,
  };
}

function failureOf({ name, message, step }: Record<string, unknown>): {
  readonly name: string;
  readonly message: string;
  readonly step?: string;
} {
  return {
    name: typeof name === 'string' ? name : '',
    message: typeof message === 'string' ? message : '',
    ...(typeof step === 'string' ? { step } : {}),
  };
}
