import type { StoredDocument } from '../model/document.js';
import { readJson } from './exchange.js';
import type { OwnWrite } from './own-writes.js';

/** One change of the database. `doc` is its document as it is now; absent when it was deleted. */
export type Change = {
  readonly id: string;
  readonly seq: string;
  readonly deleted: boolean;
  /** Its leaf revisions, the winner first: all of them where conflicts are told without documents. */
  readonly revs: readonly string[];
  readonly doc?: StoredDocument;
  /** Of a deleted document what whoever deleted it left to be read. */
  readonly remains?: StoredDocument;
  /** The document is in conflict; told only where that was asked for. */
  readonly conflicted?: true;
};

/** What one line of a continuous feed says. */
export type FeedLine =
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'change'; readonly change: Change }
  /** The server ends the feed; the next one begins at `seq`. */
  | { readonly kind: 'end'; readonly seq: string }
  | { readonly kind: 'error'; readonly cause: string }
  | { readonly kind: 'malformed' };

/**
 * Reads one line of `_changes?feed=continuous`. Never rejects. `own`: finds what this process wrote, which is not read
 * again; only for a feed that does not ask for conflicts.
 */
export async function readLine(text: string, own?: OwnWrite): Promise<FeedLine> {
  if (text.trim() === '') return { kind: 'heartbeat' };
  const known = own && ownChange(text, own);
  if (known !== undefined) return { kind: 'change', change: known };
  const value = await readJson(text);
  if (typeof value !== 'object' || value === null) return { kind: 'malformed' };
  const change = changeOf(value);
  if (change !== undefined) return { kind: 'change', change };
  const { last_seq: lastSeq, error, reason } = value as Written;
  if (typeof lastSeq === 'string' || typeof lastSeq === 'number')
    return { kind: 'end', seq: String(lastSeq) };
  if (typeof error === 'string') return { kind: 'error', cause: `${error}: ${String(reason)}` };
  return { kind: 'malformed' };
}

/** The change of a line whose document this process wrote. */
function ownChange(text: string, own: OwnWrite): Change | undefined {
  // Within a text the quotes would be escaped.
  const end = text.indexOf(',"doc":{');
  if (end < 0) return undefined;
  let row: unknown;
  try {
    row = JSON.parse(`${text.slice(0, end)}}`);
  } catch {
    return undefined;
  }
  const change = changeOf(row);
  const [rev, another] = change?.revs ?? [];
  if (change === undefined || rev === undefined || another !== undefined) return undefined;
  const doc = own(change.id);
  return doc?._rev === rev ? { ...change, doc } : undefined;
}

/** Reads one row of `_changes`; undefined when it is none. */
export function changeOf(row: unknown): Change | undefined {
  const { id, seq, deleted, changes, doc } = row as Written;
  if (typeof id !== 'string' || (typeof seq !== 'string' && typeof seq !== 'number'))
    return undefined;
  const gone = deleted === true;
  const change = { id, seq: String(seq), deleted: gone, revs: revsIn(changes) };
  if (doc === undefined || !isDocument(doc)) return change;
  if (gone) return { ...change, remains: doc };
  return { ...change, ...('_conflicts' in doc ? withoutConflicts(doc) : { doc }) };
}

function revsIn(changes: unknown): readonly string[] {
  if (!Array.isArray(changes)) return [];
  return (changes as readonly { readonly rev?: unknown }[]).flatMap(({ rev }) =>
    typeof rev === 'string' ? [rev] : [],
  );
}

/** A document and whether it told conflicts, which are no part of it and must not be written back. */
export function withoutConflicts(doc: StoredDocument): {
  readonly doc: StoredDocument;
  readonly conflicted?: true;
} {
  if (!Array.isArray(doc['_conflicts'])) return { doc };
  const { _conflicts: _conflicting, ...rest } = doc;
  return { doc: rest, conflicted: true };
}

type Written = Readonly<
  Record<'id' | 'seq' | 'deleted' | 'changes' | 'doc' | 'last_seq' | 'error' | 'reason', unknown>
>;

/** Whether a value from the wire is a stored document. */
export function isDocument(value: unknown): value is StoredDocument {
  const { _id, _rev } = (value ?? {}) as { _id?: unknown; _rev?: unknown };
  return typeof _id === 'string' && typeof _rev === 'string';
}
