import type { StoredDocument } from '../model/parse.js';
import { isObject } from '../model/dialects.js';
import { statusOf, type Status } from '../model/status.js';
import { keyOf } from '../model/task.js';
import type { Io, Style } from './io.js';

/** What lists and waiting show of a job. Times in epoch ms. */
export type JobFacts = {
  readonly id: string;
  /** `flow::owner`. */
  readonly key: string;
  readonly state: string;
  readonly status: Status;
  readonly exit?: number;
  readonly start?: number;
  readonly end?: number;
  readonly failure?: string;
};

/** Reads any job document, also a malformed one. */
export function jobFacts(job: StoredDocument, now: number): JobFacts {
  const { flow, owner, state, failure } = job;
  const number = <K extends string>(key: K): { readonly [P in K]?: number } =>
    (typeof job[key] === 'number' ? { [key]: job[key] } : {}) as { readonly [P in K]?: number };
  return {
    id: job._id,
    key: keyOf(
      typeof flow === 'string' ? flow : '(inline)',
      typeof owner === 'string' ? owner : undefined,
    ),
    state: typeof state === 'string' ? state : 'new',
    status: statusOf(job as Parameters<typeof statusOf>[0], now),
    ...number('exit'),
    ...number('start'),
    ...number('end'),
    ...(isObject(failure) && typeof failure['message'] === 'string'
      ? { failure: failure['message'] }
      : {}),
  };
}

/** One line about a job: `flow::owner => state status (id)`. */
export function jobLine(job: StoredDocument, io: Io): string {
  const { id, key, state, status, exit, failure } = jobFacts(job, Date.now());
  const ended =
    status === 'failed' ? ` (exit ${exit ?? '?'}): ${failure ?? 'no reason given'}` : '';
  return `${key} => ${state} ${io.style(colourOf(status), status)}${ended} ${io.style('dim', `(${id})`)}`;
}

/** The moment a job is in, for somebody who waits for it. */
export function stateLine(
  job: StoredDocument,
  io: Io,
  stream: 'stdout' | 'stderr' = 'stderr',
): string {
  const { id, state, status, failure } = jobFacts(job, Date.now());
  const reason = failure === undefined ? '' : `: ${failure}`;
  return `${id}: ${state} ${io.style(colourOf(status), status, stream)}${reason}`;
}

/** The exit status of a command that waited for this job. */
export function exitOf(job: StoredDocument): number {
  const { exit, state } = job;
  if (typeof exit === 'number') return exit;
  return state === '$$complete' ? 0 : 130;
}

/** What came of a job: its failure, its result, or else the results of its steps by name. */
export function outcomeOf(job: StoredDocument): unknown {
  const { failure, result, steps } = job;
  if (exitOf(job) !== 0) return failure ?? null;
  if (result !== undefined) return result;
  const done = (Array.isArray(steps) ? steps : []).filter(
    (step: unknown) => isObject(step) && step['state'] === '$$complete',
  ) as { readonly name: string; readonly result?: unknown }[];
  return Object.fromEntries(done.map(({ name, result: own }) => [name, own ?? null]));
}

function colourOf(status: Status): Style {
  switch (status) {
    case 'succeeded':
      return 'green';
    case 'failed':
      return 'red';
    case 'cancelled':
    case 'paused':
    case 'waiting':
      return 'yellow';
    case 'queued':
    case 'scheduled':
    case 'running':
      return 'cyan';
  }
}
