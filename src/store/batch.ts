import { databasePath } from './client.js';
import type { Connection } from './connection.js';
import { createPatience, openExchange } from './exchange.js';

const nobody: ReadonlySet<string> = new Set();

/** What became of one document that was to be written. */
export type WriteResult =
  /** Stored: CouchDB answered 201. */
  | { readonly kind: 'written'; readonly rev: string }
  /** Not stored: the revision is not the current one; somebody was faster. */
  | { readonly kind: 'conflict' }
  /**
   * Not stored: the document itself is refused (validation, size, form). `bytes`: it is so long, which
   * is more than its writer allowed; nothing was sent.
   */
  | { readonly kind: 'refused'; readonly reason: string; readonly bytes?: number }
  /** Not known (202, no answer, server error): read back and look. */
  | { readonly kind: 'unknown'; readonly cause: string };

/** How `_bulk_docs` answered; `body` is parsed JSON, or undefined when it is none. */
export type BulkAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'failed'; readonly cause: string };

/** Sends the JSON of a `_bulk_docs` request. Never rejects. */
export type SendBulk = (json: string) => Promise<BulkAnswer>;

/** Sends `_bulk_docs` requests to the database of a connection. */
export function bulkSender(connection: Connection, exchange = openExchange(connection)): SendBulk {
  const path = databasePath(connection, '/_bulk_docs');
  const patience = createPatience();
  return async (body) => {
    const answer = await exchange.send({ method: 'POST', path, body, patience });
    if (answer.kind === 'failed') return answer;
    const { status, text } = answer;
    try {
      return { kind: 'answered', status, body: JSON.parse(text) as unknown };
    } catch {
      if (status >= 300) return { kind: 'answered', status, body: undefined };
      return { kind: 'failed', cause: 'the answer is not complete' };
    }
  };
}

/** The most that goes into one request. */
export type BatchLimits = { readonly documents: number; readonly bytes: number };

/** `alone`: it goes in a request of its own, in no batch. */
type Sized = { readonly id: string; readonly bytes: number; readonly alone?: unknown };

/**
 * Takes the next batch from the front of a queue: within the limits (but at least one document), no
 * `_id` twice, none of those that are `busy` and none that goes alone; other writes of these stay in
 * the queue, in order.
 */
export function takeBatch<T extends Sized>(
  queue: readonly T[],
  limits: BatchLimits,
  busy: ReadonlySet<string> = nobody,
): { readonly batch: readonly T[]; readonly rest: readonly T[] } {
  const batch: T[] = [];
  const later: T[] = [];
  const ids = new Set<string>();
  let bytes = 0;
  let next = 0;
  for (; next < queue.length && batch.length < limits.documents; next += 1) {
    const item = queue[next] as T;
    if (ids.has(item.id) || busy.has(item.id) || item.alone !== undefined) {
      later.push(item);
      ids.add(item.id);
      continue;
    }
    if (batch.length > 0 && bytes + item.bytes > limits.bytes) break;
    ids.add(item.id);
    bytes += item.bytes;
    batch.push(item);
  }
  return { batch, rest: [...later, ...queue.slice(next)] };
}

/** The first in the queue that goes alone, and whose document is neither busy nor waits before it. */
export function takeAlone<T extends Sized>(
  queue: readonly T[],
  busy: ReadonlySet<string>,
): T | undefined {
  const before = new Set(busy);
  return queue.find(({ id, alone }) => {
    if (alone !== undefined && !before.has(id)) return true;
    before.add(id);
    return false;
  });
}

/**
 * The result of each document of a batch, in the order of `ids`; or `split`: CouchDB refused the
 * whole request for the sake of some document in it (400, 413), so nothing of it was stored and
 * halves must be tried.
 */
export function resultsOf(
  ids: readonly string[],
  answer: BulkAnswer,
): readonly WriteResult[] | 'split' {
  if (answer.kind === 'failed') return ids.map(() => ({ kind: 'unknown', cause: answer.cause }));
  const { status, body } = answer;
  if ((status === 201 || status === 202) && Array.isArray(body)) {
    return rowResults(ids, body, status);
  }
  const { error, reason } = errorOf(body);
  // A proxy refuses a body as too large without CouchDB's JSON.
  if (status === 413 || (status === 400 && error !== undefined)) {
    if (ids.length > 1) return 'split';
    return ids.map(() => ({ kind: 'refused', reason: refusal(status, error, reason) }));
  }
  const cause = `CouchDB answers ${status}${reason === undefined ? '' : `: ${reason}`}`;
  return ids.map(() => ({ kind: 'unknown', cause }));
}

function rowResults(
  ids: readonly string[],
  rows: readonly unknown[],
  status: 201 | 202,
): readonly WriteResult[] {
  const byId = new Map<unknown, Row>();
  for (const row of rows) {
    if (typeof row === 'object' && row !== null) byId.set((row as Row).id, row);
  }
  // 202 is said of the whole request; "accepted", where it is told, of the rows that are meant.
  const isStated = [...byId.values()].some(({ accepted }) => accepted === true);
  return ids.map((id) => {
    const row = byId.get(id);
    if (row === undefined) return { kind: 'unknown', cause: 'the answer leaves the document out' };
    const failed = row.error === undefined ? undefined : failureOf(row);
    if (failed !== undefined) return failed;
    if (typeof row.rev !== 'string')
      return { kind: 'unknown', cause: 'the answer has no revision' };
    const isAccepted = status === 202 && (!isStated || row.accepted === true);
    if (isAccepted) return { kind: 'unknown', cause: 'CouchDB answers 202: not on enough nodes' };
    return { kind: 'written', rev: row.rev };
  });
}

type Row = {
  readonly id?: unknown;
  readonly rev?: unknown;
  readonly error?: unknown;
  readonly reason?: unknown;
  readonly accepted?: unknown;
};

/** Why the document of a row was not written; undefined when the row names no error. */
function failureOf(row: Row): WriteResult | undefined {
  const { error, reason } = errorOf(row);
  if (error === undefined) return undefined;
  if (error === 'conflict') return { kind: 'conflict' };
  if (refusals.has(error)) return { kind: 'refused', reason: reason ?? error };
  return { kind: 'unknown', cause: `${error}: ${reason ?? ''}` };
}

/** Errors of a row that say no to this document; any other error leaves open what happened. */
const refusals = new Set([
  'forbidden',
  'unauthorized',
  'document_too_large',
  'doc_validation',
  'bad_request',
  'illegal_docid',
]);

function errorOf(body: unknown): {
  readonly error: string | undefined;
  readonly reason: string | undefined;
} {
  const { error, reason } = (body ?? {}) as { error?: unknown; reason?: unknown };
  return {
    error: typeof error === 'string' ? error : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  };
}

function refusal(status: number, error: string | undefined, reason?: string): string {
  if (status === 413) return 'The document is too large for this CouchDB.';
  return reason ?? error ?? `CouchDB answers ${status}.`;
}
