import { isObject } from '../../model/object.js';

/**
 * What a job keeps of the requests that were made to it, oldest first, under `requests`.
 *
 * Q1 A request is never refused for the number of those before it: the oldest give way, and the job
 *    says so.
 * Q2 The last request that paused or cancelled the job, or took that back, stays: it tells an edit of
 *    the document from what was requested.
 * Q3 An id counts once. A document that is stored under it later, after the first was dealt with or
 *    instead of it, is another message: its revision tells.
 */

type Doc = Readonly<Record<string, unknown>>;

/** Maximum number of records: each decision reads all of them. */
export const mostRecords = 5_000;

const dropped = {
  path: 'requests',
  message: `requests: only the last ${mostRecords} are kept; older ones were left out.`,
} as const;

/** Returns the job with one more record of a request (Q1, Q2). */
export function withRecord<J extends Doc>(job: J, record: Doc): J {
  const all = [...listOf(job['requests']), record];
  const surplus = all.length - mostRecords;
  if (surplus <= 0) return { ...job, requests: all };
  const needed = new Set([lastSwitch(all, 'pause'), lastSwitch(all, 'cancel')]);
  const surplusOnes = new Set(all.filter((one) => !needed.has(one)).slice(0, surplus));
  const problems = listOf(job['problems']);
  const isTold = problems.some((one) => isObject(one) && one['message'] === dropped.message);
  return {
    ...job,
    requests: all.filter((one) => !surplusOnes.has(one)),
    ...(isTold ? {} : { problems: [...problems, dropped] }),
  };
}

/** Whether a full list may have dropped a record: it is older than those that are left. */
export function mayBeDropped({ at }: Doc, requests: readonly unknown[]): boolean {
  // Two older ones may have stayed (Q2).
  const oldest = requests.length < mostRecords ? undefined : requests[2];
  return isObject(oldest) && Number(at) < Number(oldest['at']);
}

/** A job that goes on after its end is neither paused nor cancelled. */
const switches = {
  pause: ['pause', 'resume', 'retry'],
  cancel: ['cancel', 'retry'],
} as const;

/**
 * Returns the records that paused or cancelled the job, or took that back, as far as they were
 * applied.
 */
export function switchesIn(records: readonly unknown[], kind: keyof typeof switches) {
  return records.filter(
    (one): one is Doc =>
      isObject(one) && !isRefusal(one) && switches[kind].some((action) => action === one['action']),
  );
}

function lastSwitch(records: readonly unknown[], kind: keyof typeof switches): unknown {
  return switchesIn(records, kind).at(-1);
}

/** Whether a record under `requests` is the refusal of something that could not be applied. */
export function isRefusal(record: Doc): boolean {
  return record['refused'] !== undefined;
}

/** Returns the number for the next record whose id ends with one: higher than all of these. */
export function nextNumber(records: readonly unknown[]): number {
  const numbers = records.map((one) => (isObject(one) ? numberIn(one['id']) : -1));
  return numbers.reduce((most, number) => Math.max(most, number + 1), records.length);
}

function numberIn(id: unknown): number {
  const [, number] = /^(?:edit:\w+|retry):(\d{1,9})$/.exec(String(id)) ?? [];
  return Number(number ?? -1);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A document that brings a message, or the record of one. */
type Message = { readonly _id: string; readonly _rev?: string | undefined };

/**
 * Returns what distinguishes the message from others with its id, to be kept in its record: the
 * number of its revision, unless that is the first.
 */
export function revisionOf({ _rev: rev }: Message): { readonly revision?: number } {
  const revision = Number.parseInt(rev ?? '1', 10);
  return revision > 1 ? { revision } : {};
}

/** Whether a record belongs to this message (Q3). */
export function isRecordOf(record: unknown, message: Message): boolean {
  return (
    isObject(record) &&
    record['id'] === message._id &&
    record['revision'] === revisionOf(message).revision
  );
}
