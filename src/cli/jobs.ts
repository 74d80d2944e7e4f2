import type { StoredDocument } from '../model/document.js';
import { asVersion } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import { statusOf } from '../reading/status.js';
import type { Status } from '../model/status.js';
import { neverDue, toEpochMs } from '../model/scalars.js';
import { keyOf } from '../model/task.js';
import type { Io, Style } from './io.js';
import { plain } from './safe.js';

/** What lists and waiting show of a job. Times in ISO 8601, `took_ms` until now while it runs; absent before it begins. */
export type JobFacts = {
  readonly id: string;
  /** `flow::owner`. */
  readonly key: string;
  /** Version of the flow. */
  readonly version?: string;
  readonly state: string;
  readonly status: Status;
  /** The job's own beside it. */
  readonly custom_status?: string;
  readonly exit?: number;
  readonly start?: string;
  readonly end?: string;
  readonly took_ms?: number;
  /** The time before which nothing of it begins. */
  readonly due?: string;
  /** The stable word for what went wrong, and its sentence. */
  readonly failure_name?: string;
  readonly failure?: string;
};

/** Reads any job document, also a malformed one. */
export function jobFacts(job: StoredDocument, now: number): JobFacts {
  const { flow, owner, state, exit, failure } = job;
  const start = timeOf(job['start']);
  const end = timeOf(job['end']);
  const due = timeOf(job['next_due']) ?? timeOf(job['exec_after']);
  const status = statusOf(job, now);
  // The start of a job that is to run later is when an engine took note of it.
  const hasBegun = status !== 'scheduled' && status !== 'queued';
  const sleeps = status === 'scheduled' || status === 'waiting';
  const text = (key: string): string | undefined =>
    isObject(failure) && typeof failure[key] === 'string' ? failure[key] : undefined;
  const facts = {
    version: asVersion(job['flow_version']),
    custom_status: customOf(job),
    exit: typeof exit === 'number' ? exit : undefined,
    start: start?.toISOString(),
    end: end?.toISOString(),
    took_ms: hasBegun && start !== undefined ? sinceStart(start, end, now) : undefined,
    due: sleeps && due !== undefined && isAhead(due, now) ? due.toISOString() : undefined,
    failure_name: text('name'),
    failure: text('message'),
  };
  return {
    id: job._id,
    key: keyOf(
      typeof flow === 'string' ? flow : `(${kindOf(job)})`,
      typeof owner === 'string' ? owner : undefined,
    ),
    state: typeof state === 'string' ? state : 'new',
    status,
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
  };
}

/** What a job without a flow is called: its type, where the Open Job Spec has one. */
function kindOf({ ojs }: StoredDocument): string {
  return isObject(ojs) && typeof ojs['type'] === 'string' ? ojs['type'] : 'inline';
}

function sinceStart(start: Date, end: Date | undefined, now: number): number {
  return Math.max(0, (end?.getTime() ?? now) - start.getTime());
}

function customOf({ custom_status: custom }: StoredDocument): string | undefined {
  return typeof custom === 'string' && custom !== '' ? custom : undefined;
}

/** A wait for something that may never come has no time. */
function isAhead(due: Date, now: number): boolean {
  return due.getTime() > now && due.getTime() < neverDue;
}

/** A time that is a date, as users and the engine write it. */
function timeOf(time: unknown): Date | undefined {
  if (typeof time !== 'number' && typeof time !== 'string') return undefined;
  const date = new Date(toEpochMs(time));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** One line about a job: `flow::owner => state status (id)`. */
export function jobLine(job: StoredDocument, io: Io): string {
  const {
    id,
    key,
    state,
    status,
    custom_status: custom,
    exit,
    failure,
  } = jobFacts(job, Date.now());
  const ended =
    status === 'failed' ? ` (exit ${exit ?? '?'}): ${plain(failure ?? 'no reason given')}` : '';
  return `${key} => ${state} ${io.style(colourOf(status), status)}${custom === undefined ? '' : ` [${plain(custom)}]`}${ended} ${io.style('dim', `(${id})`)}`;
}

/** The moment a job is in, for somebody who waits for it. */
export function stateLine(
  job: StoredDocument,
  io: Io,
  stream: 'stdout' | 'stderr' = 'stderr',
): string {
  const { failure } = jobFacts(job, Date.now());
  const step = isObject(job['failure']) ? job['failure']['step'] : undefined;
  const at = typeof step === 'string' ? ` at step "${plain(step)}"` : '';
  const reason = failure === undefined ? '' : `: ${plain(failure)}`;
  return `${statusLine(job, io, stream)}${at}${reason}`;
}

/** A job with its state and status, for what tells its failure by itself. */
export function statusLine(job: StoredDocument, io: Io, stream: 'stdout' | 'stderr'): string {
  const { id, state, status } = jobFacts(job, Date.now());
  return `${plain(id)}: ${plain(state)} ${io.style(colourOf(status), status, stream)}`;
}

/** The exit status of a command that waited for this job. */
export function exitOf(job: StoredDocument): number {
  const { exit, state } = job;
  if (typeof exit === 'number') return exit;
  return state === '$$complete' ? 0 : 130;
}

/** The colour that stands for a status. */
export function colourOf(status: Status): Style {
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
