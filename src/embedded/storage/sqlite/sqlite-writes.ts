import { hash } from 'node:crypto';

import type { Doc, DocWriteResult } from '../storage.js';
import { bodyOf, storedChange, headOf, type Head } from './documents.js';
import { isRevisionId } from '../revision-ids.js';
import {
  firstRevision,
  generationOf,
  isKnown,
  allLeaves,
  withEdit,
  withPath,
  type Path,
  type Revisions,
} from './histories.js';
import type { Statements } from './schema.js';
import type { SqliteFiles, NewFile } from './sqlite-files.js';
import type { SqliteSession, Transaction } from './sqlite-session.js';

/** Documents of one request that are written in one go. */
const SLICE = 250;

type Writing = {
  readonly session: SqliteSession;
  readonly files: SqliteFiles;
  readonly revsLimit: () => number;
};

/** Writes documents; see `DocumentStore.write`. */
export async function writeAll(
  writing: Writing,
  docs: readonly Doc[],
  newEdits: boolean,
): Promise<DocWriteResult[]> {
  const { session, files, revsLimit } = writing;
  const hasFiles = docs.some((doc) => doc['_attachments'] !== undefined);
  const received = hasFiles ? await files.receive(docs) : undefined;
  try {
    // A revision that others descend from comes before them.
    const ordered = newEdits ? docs : [...docs].sort(byGeneration);
    const slices: Promise<DocWriteResult[]>[] = [];
    for (let from = 0; from < ordered.length; from += SLICE) {
      const slice = ordered.slice(from, from + SLICE);
      const write = (transaction: Transaction): DocWriteResult[] => {
        const context = { transaction, files, limit: revsLimit() };
        return slice.map((doc) => {
          const draft = { doc, files: received?.files.get(doc) };
          return newEdits ? writeEdit(context, draft) : writeCopy(context, draft);
        });
      };
      slices.push(session.change(slice.length, write));
    }
    const results = (await Promise.all(slices)).flat();
    return newEdits ? results : results.filter((result) => 'error' in result);
  } finally {
    received?.release();
  }
}

const byGeneration = (a: Doc, b: Doc): number =>
  generationOf(a._rev ?? '0') - generationOf(b._rev ?? '0');

type Context = {
  readonly transaction: Transaction;
  readonly files: SqliteFiles;
  readonly limit: number;
};

type Draft = { readonly doc: Doc; readonly files: readonly NewFile[] | undefined };

/** The new state of a document: its revisions, and the leaf that was added. */
type Step = {
  readonly revisions: Revisions;
  readonly rev: string;
  readonly deleted: boolean;
  readonly body: string;
};

/** Makes the next revision of a document, if the one that it names is a leaf. */
function writeEdit(context: Context, { doc, files }: Draft): DocWriteResult {
  const { sql } = context.transaction;
  const { _id: id } = doc;
  const deleted = doc._deleted === true;
  const row = sql.head.get(id);
  const head = row === undefined ? undefined : headOf(row);
  const parent = parentOf(head, doc);
  if (parent === 'conflict') {
    return { id, status: 409, error: 'conflict', reason: 'Document update conflict.' };
  }
  const text = bodyOf(doc);
  const digests = files?.map(({ name, digest }) => `${name} ${digest}`) ?? [];
  const source = `${parent ?? ''} ${deleted} ${text}${digests.join(' ')}`;
  const generation = parent === undefined ? 1 : generationOf(parent) + 1;
  const rev = `${generation}-${hash('md5', source)}`;
  const revisions =
    head === undefined || parent === undefined
      ? firstRevision(rev, deleted)
      : withEdit(head, { rev, parent, deleted }, context.limit);
  const old =
    files === undefined || parent === undefined ? undefined : bodyAt(context, head, parent);
  const body = withStubs(text, files, generation, old);
  store(context, { id, head, files }, { revisions, rev, deleted, body });
  return { ok: true, id, rev };
}

/** The leaf that an edit replaces; undefined for the first of a document. */
function parentOf(head: Head | undefined, doc: Doc): string | undefined {
  const { _rev: rev } = doc;
  if (head === undefined) return rev === undefined ? undefined : 'conflict';
  if (rev === head.rev) return rev;
  // A deleted document is made again on top of its tombstone.
  if (rev === undefined) return head.deleted && doc._deleted !== true ? head.rev : 'conflict';
  return allLeaves(head).some((leaf) => leaf.rev === rev) ? rev : 'conflict';
}

/** Stores a revision that was made elsewhere. */
function writeCopy(context: Context, { doc, files }: Draft): DocWriteResult {
  const { _id: id, _rev: rev } = doc;
  const path = pathOf(doc);
  if (rev === undefined || path === undefined || !path.ids.every(isRevisionId)) {
    return { id, status: 400, error: 'bad_request', reason: 'Invalid rev format' };
  }
  const row = context.transaction.sql.head.get(id);
  const head = row === undefined ? undefined : headOf(row);
  const own = `${path.start}-${path.ids[0]}`;
  if (head === undefined || !isKnown(head, own)) {
    const deleted = doc._deleted === true;
    const revisions = withPath(head, { path, deleted }, context.limit);
    const body = withStubs(bodyOf(doc), files, path.start, undefined);
    store(context, { id, head, files }, { revisions, rev: own, deleted, body });
  }
  return { ok: true, id, rev: own };
}

function pathOf({ _rev: rev, _revisions: revisions }: Doc): Path | undefined {
  if (revisions !== undefined) return revisions as Path;
  return rev === undefined
    ? undefined
    : { start: generationOf(rev), ids: [rev.slice(rev.indexOf('-') + 1)] };
}

/** The body with stubs of its attachments. What an edit keeps is described as it was. */
function withStubs(
  text: string,
  files: readonly NewFile[] | undefined,
  generation: number,
  old: string | undefined,
): string {
  if (files === undefined || files.length === 0) return text;
  const before = old === undefined ? {} : stubsOf(old);
  const stubs = files.map(({ name, digest, data, length, contentType, revpos }) => {
    const same = before[name]?.digest === digest ? before[name] : undefined;
    const kept = data === undefined ? same : undefined;
    return [
      name,
      {
        content_type: contentType ?? kept?.content_type ?? 'application/octet-stream',
        revpos: kept?.revpos ?? revpos ?? generation,
        digest,
        length,
        stub: true,
      },
    ];
  });
  const all = JSON.stringify(Object.fromEntries(stubs));
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"_attachments":${all}}`;
}

type Stub = { readonly digest: string; readonly content_type: string; readonly revpos: number };

/** The attachments that a body describes. */
function stubsOf(body: string): Readonly<Record<string, Stub>> {
  if (!body.includes('"_attachments":')) return {};
  const { _attachments: stubs } = JSON.parse(body) as { _attachments?: Record<string, Stub> };
  return stubs ?? {};
}

function bodyAt({ transaction }: Context, head: Head | undefined, rev: string): string | undefined {
  if (head === undefined) return undefined;
  const { sql } = transaction;
  const row = rev === head.rev ? sql.body.get(head.key) : sql.leaf.get(head.key, rev);
  return row === undefined ? undefined : String(row['body']);
}

type Target = {
  readonly id: string;
  readonly head: Head | undefined;
  readonly files: readonly NewFile[] | undefined;
};

function store(context: Context, { id, head, files }: Target, step: Step): void {
  const { transaction } = context;
  const { sql, counts } = transaction;
  const { revisions } = step;
  const { rev, deleted, line, tree } = revisions;
  if (files !== undefined) context.files.store(transaction, files);
  const body = hasOneLeaf(head, revisions) ? step.body : placeLeaves(sql, head, step);
  const mayHaveFiles = files !== undefined || head?.files === true;
  const digests = mayHaveFiles ? digestsOf(sql, head?.key, body) : none;
  counts.seq += 1;
  const { seq } = counts;
  const hasFiles = digests.size > 0;
  const values = [seq, rev, Number(deleted), Number(hasFiles), line, tree, body] as const;
  const key = head?.key ?? Number(sql.insert.get(id, ...values)?.['key']);
  if (head !== undefined) {
    sql.update.run(...values, key);
    counts[head.deleted ? 'deleted' : 'live'] -= 1;
  }
  counts[deleted ? 'deleted' : 'live'] += 1;
  if (mayHaveFiles) context.files.keep(transaction, key, digests);
  transaction.wrote(storedChange({ ...revisions, key, id, seq, files: hasFiles, body }));
}

const none: ReadonlySet<string> = new Set();

/** Whether the step replaces the only leaf. */
const hasOneLeaf = (head: Head | undefined, { tree }: Revisions): boolean =>
  tree === null && (head === undefined || head.tree === null);

/** Puts the leaves that lose where they belong, drops the others; returns the body of the winner. */
export function placeLeaves(
  sql: Statements,
  head: Head | undefined,
  step: Pick<Step, 'revisions' | 'rev' | 'body'>,
): string {
  if (head === undefined) return step.body;
  const stored = new Map(sql.leaves.all(head.key).map((row) => [String(row['rev']), row]));
  const leaves = allLeaves(step.revisions);
  const bodyOfLeaf = (rev: string): string => {
    if (rev === step.rev) return step.body;
    const row = rev === head.rev ? sql.body.get(head.key) : stored.get(rev);
    return String(row?.['body'] ?? '{}');
  };
  for (const { rev, deleted } of leaves.slice(1)) {
    if (!stored.has(rev)) sql.putLeaf.run(head.key, rev, Number(deleted), bodyOfLeaf(rev));
  }
  const losers = new Set(leaves.slice(1).map((leaf) => leaf.rev));
  const winner = bodyOfLeaf(step.revisions.rev);
  for (const rev of stored.keys()) if (!losers.has(rev)) sql.dropLeaf.run(head.key, rev);
  return winner;
}

/** The attachments of all leaves of a document. */
export function digestsOf(sql: Statements, key: number | undefined, winner: string): Set<string> {
  const others = key === undefined ? [] : sql.leaves.all(key).map((row) => String(row['body']));
  return new Set(
    [winner, ...others].flatMap((body) => Object.values(stubsOf(body)).map((stub) => stub.digest)),
  );
}
