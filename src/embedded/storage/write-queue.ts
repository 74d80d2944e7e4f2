import type { Pouch, PouchError, PouchWrite } from './pouch.js';
import type { Session } from './session.js';
import type { Doc, DocWriteResult } from './storage.js';

/** PouchDB handles larger batches in quadratic time, and a batch holds the write lock. */
const MAX_BATCH = 500;

type Waiting = {
  readonly docs: readonly Doc[];
  readonly newEdits: boolean;
  readonly resolve: (results: DocWriteResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Group commit: while one batch is being synced, the requests that arrive are gathered into the
 * next. A document's place in its own request decides its place in the answer.
 */
export type WriteQueue = {
  write(docs: readonly Doc[], newEdits: boolean): Promise<DocWriteResult[]>;
};

export function createWriteQueue(session: Session): WriteQueue {
  const waiting: Waiting[] = [];
  let running = false;

  const run = async (): Promise<void> => {
    running = true;
    // Requests of one burst arrive within the same turn of the event loop.
    await new Promise(setImmediate);
    while (waiting.length > 0) await commit(session, takeGroup(waiting));
    running = false;
  };

  return {
    write: (docs, newEdits) =>
      new Promise((resolve, reject) => {
        waiting.push({ docs, newEdits, resolve, reject });
        if (!running) void run();
      }),
  };
}

/**
 * The requests that may share a batch: one with attachments or foreign revisions goes alone, and no
 * document comes twice (see `batchesOf`).
 */
function takeGroup(waiting: Waiting[]): Waiting[] {
  const first = waiting.shift();
  if (first === undefined) return [];
  const group = [first];
  const ids = new Set(first.docs.map((doc) => doc._id));
  if (!mayShare(first)) return group;
  let size = first.docs.length;
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    size += next.docs.length;
    if (size > MAX_BATCH || !mayShare(next)) break;
    if (next.docs.some((doc) => ids.has(doc._id))) break;
    for (const doc of next.docs) ids.add(doc._id);
    group.push(next);
    waiting.shift();
  }
  return group;
}

const mayShare = (request: Waiting): boolean =>
  request.newEdits && request.docs.every((doc) => doc['_attachments'] === undefined);

async function commit(session: Session, group: readonly Waiting[]): Promise<void> {
  if (group.length > 1) {
    const docs = group.flatMap((request) => request.docs);
    const results = await writeAll(session, docs, true).catch(() => undefined);
    if (results !== undefined) {
      let at = 0;
      for (const request of group) {
        request.resolve(results.slice(at, (at += request.docs.length)));
      }
      return;
    }
    // One document spoiled the batch, and nothing of it was written: each request on its own.
  }
  for (const request of group) {
    await writeAll(session, request.docs, request.newEdits).then(request.resolve, request.reject);
  }
}

async function writeAll(
  { pouch, batch: alone }: Session,
  docs: readonly Doc[],
  newEdits: boolean,
): Promise<DocWriteResult[]> {
  const results: DocWriteResult[] = [];
  // Revisions of one document must arrive oldest first for PouchDB to join them.
  const ordered = newEdits ? docs : [...docs].sort(byIdThenGeneration);
  for (const batch of batchesOf(ordered, newEdits)) {
    // PouchDB writes its own members into the documents that it is given.
    const copies = batch.map((doc) => ({ ...doc }));
    const written = await alone(() => bulkDocs(pouch(), copies, newEdits));
    results.push(...written.map((result, i) => asResult(result, batch[i]?._id ?? '')));
  }
  return newEdits ? results : results.filter((result) => 'error' in result);
}

/**
 * A user's edits of one document never share a batch: PouchDB merges each of them, refused ones too,
 * into the one tree that it holds in memory, and would store the refused revisions with the others.
 */
function batchesOf(docs: readonly Doc[], newEdits: boolean): readonly (readonly Doc[])[] {
  const batches: Doc[][] = [];
  let batch: Doc[] = [];
  const ids = new Set<string>();
  for (const doc of docs) {
    if (batch.length === MAX_BATCH || (newEdits && ids.has(doc._id))) {
      batches.push(batch);
      batch = [];
      ids.clear();
    }
    ids.add(doc._id);
    batch.push(doc);
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

const byIdThenGeneration = (a: Doc, b: Doc): number =>
  a._id === b._id
    ? Number.parseInt(a._rev ?? '0', 10) - Number.parseInt(b._rev ?? '0', 10)
    : a._id < b._id
      ? -1
      : 1;

const bulkDocs = (pouch: Pouch, docs: object[], newEdits: boolean): Promise<PouchWrite[]> =>
  new Promise((resolve, reject) => {
    pouch._bulkDocs({ docs }, { new_edits: newEdits }, (error, results) => {
      if (error) reject(asError(error));
      else resolve(results);
    });
  });

function asResult(result: PouchWrite, id: string): DocWriteResult {
  if (result.error !== true) return { ok: true, id: result.id ?? id, rev: result.rev ?? '' };
  return {
    id,
    status: result.status ?? 500,
    error: result.name ?? 'internal_error',
    reason: result.status === 409 ? 'Document update conflict.' : String(result.reason),
  };
}

/** PouchDB's errors as `Error`s that keep `status`, `name` and `reason`. */
export function asError(error: PouchError): Error & PouchError {
  if (error instanceof Error) return error;
  return Object.assign(new Error(error.message ?? error.reason ?? 'storage error'), error);
}
