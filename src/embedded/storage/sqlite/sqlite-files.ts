import { randomUUID } from 'node:crypto';

import { digestOf } from '../attachment-digests.js';
import type { Doc } from '../storage.js';
import type { Statements } from './schema.js';
import type { SqliteSession, Transaction } from './sqlite-session.js';

/** Ids of pieces are those of their attachment times this. */
const PIECES = 65_536;
const PIECE_BYTES = 64 * 1024;
/** Attachments up to this size are stored with their document, larger ones before it. */
const SMALL_BYTES = 256 * 1024;
/** So many pieces are written or removed in one transaction. */
const STEP = 16;
/** What a piece weighs in a group of changes. */
const PIECE_WEIGHT = 10;

/** An attachment of a document on its way into the store. */
export type NewFile = {
  readonly name: string;
  readonly digest: string;
  /** The bytes, unless they are stored already. */
  readonly data: Buffer | undefined;
  readonly length: number;
  readonly contentType: string | undefined;
  readonly revpos: number | undefined;
};

/**
 * The bytes of attachments, each once for all documents that have it.
 *
 * B2 What is held is not removed, though no document uses it: documents that are about to be written
 *    hold their attachments, and so does a reader of one. What neither is used nor held is removed; what
 *    a crash left of it is when the database is opened.
 */
export type SqliteFiles = {
  /** Reads the attachments of documents, stores the large ones, and holds all until `release`. */
  receive(docs: readonly Doc[]): Promise<Received>;
  hold(digest: string): void;
  release(digests: readonly string[]): void;
  /** Notes, within a transaction, that a document has these attachments now, and no others. */
  keep(transaction: Transaction, doc: number, files: ReadonlySet<string>): void;
  /** Stores small attachments, within the transaction of their document. */
  store(transaction: Transaction, files: readonly NewFile[]): void;
  /** Removes what nobody uses any more, after a crash. */
  removeLeftovers(): Promise<void>;
};

export type Received = {
  readonly files: ReadonlyMap<Doc, readonly NewFile[]>;
  readonly release: () => void;
};

export function sqliteFiles(session: SqliteSession): SqliteFiles {
  const held = new Map<string, number>();
  const removal = createRemoval(session, (digest) => held.has(digest));
  const hold = (digest: string): void => void held.set(digest, (held.get(digest) ?? 0) + 1);
  const release = (digests: readonly string[]): void => {
    for (const digest of digests) {
      const left = (held.get(digest) ?? 1) - 1;
      if (left > 0) held.set(digest, left);
      else held.delete(digest);
    }
    void removal.doubt(digests);
  };

  return {
    hold,
    release,
    async receive(docs) {
      const files = new Map<Doc, readonly NewFile[]>();
      const digests: string[] = [];
      const holdThis = (digest: string): void => {
        hold(digest);
        digests.push(digest);
      };
      try {
        for (const doc of docs) {
          if (doc['_attachments'] === undefined) continue;
          const found: NewFile[] = [];
          for (const [name, about] of Object.entries(doc['_attachments'] as Attachments)) {
            found.push(await receiveFile(session, name, about, holdThis));
          }
          files.set(doc, found);
        }
      } catch (error) {
        release(digests);
        throw error;
      }
      return { files, release: () => release(digests) };
    },
    keep({ sql }, doc, digests) {
      const before = sql.usesOf.all(doc).map((row) => String(row['digest']));
      const dropped = before.filter((digest) => !digests.has(digest));
      for (const digest of digests) if (!before.includes(digest)) sql.use.run(digest, doc);
      for (const digest of dropped) sql.disuse.run(digest, doc);
      void removal.doubt(dropped);
    },
    store: storeSmall,
    async removeLeftovers() {
      const unused = await session.read((sql) => sql.unused.all());
      await removal.doubt(unused.map((row) => String(row['digest'])));
    },
  };
}

/** Removes attachments that may have lost their last use, one group after the other. */
function createRemoval(
  session: SqliteSession,
  isHeld: (digest: string) => boolean,
): { doubt(digests: readonly string[]): Promise<void> } {
  let doubtful = new Set<string>();
  let removing: Promise<void> = Promise.resolve();
  const remove = async (): Promise<void> => {
    const digests = [...doubtful];
    doubtful = new Set();
    if (digests.length === 0) return;
    const dropped = await session.change(1, ({ sql }) =>
      digests.flatMap((digest) => {
        const stored = isHeld(digest) ? undefined : sql.attachment.get(digest);
        if (stored === undefined || sql.isUsed.get(digest) !== undefined) return [];
        const key = Number(stored['key']);
        sql.nameAttachment.run(goneName(key), key);
        return [key];
      }),
    );
    for (const key of dropped) await dropPieces(session, key);
  };
  return {
    doubt(digests) {
      if (digests.length === 0) return removing;
      for (const digest of digests) doubtful.add(digest);
      // What cannot be removed now is found when the database is opened again.
      return (removing = removing.then(remove).catch(() => undefined));
    },
  };
}

function storeSmall(transaction: Transaction, files: readonly NewFile[]): void {
  for (const { digest, data } of files) {
    if (data === undefined || transaction.sql.attachment.get(digest) !== undefined) continue;
    const key = addAttachment(transaction.sql, digest, data.length);
    putPieces(transaction, key, data, [0, pieceCount(data)]);
  }
}

type Attachments = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

async function receiveFile(
  session: SqliteSession,
  name: string,
  about: Attachments[string],
  hold: (digest: string) => void,
): Promise<NewFile> {
  const { data, content_type: type, revpos } = about;
  const shown = {
    name,
    contentType: typeof type === 'string' ? type : undefined,
    revpos: typeof revpos === 'number' ? revpos : undefined,
  };
  if (!Buffer.isBuffer(data)) {
    const digest = String(about['digest']);
    hold(digest);
    const stored = await session.read((sql) => sql.attachment.get(digest));
    if (stored === undefined) throw missingStub(digest);
    return { ...shown, digest, data: undefined, length: Number(stored['length']) };
  }
  const digest = `md5-${await digestOf(data)}`;
  hold(digest);
  const file = { ...shown, digest, length: data.length };
  if (data.length <= SMALL_BYTES) return { ...file, data };
  await storeLarge(session, digest, data);
  return { ...file, data: undefined };
}

/** Stores the pieces at a place of their own, which gets the attachment's name when all are there. */
async function storeLarge(session: SqliteSession, digest: string, data: Buffer): Promise<void> {
  if ((await session.read((sql) => sql.attachment.get(digest))) !== undefined) return;
  const place = `new:${randomUUID()}`;
  const key = await session.change(1, ({ sql }) => addAttachment(sql, place, data.length));
  const count = pieceCount(data);
  const steps: Promise<void>[] = [];
  for (let from = 0; from < count; from += STEP) {
    const to = Math.min(count, from + STEP);
    steps.push(session.change(STEP * PIECE_WEIGHT, (t) => putPieces(t, key, data, [from, to])));
  }
  await Promise.all(steps);
  const isFirst = await session.change(1, ({ sql }) => {
    const other = sql.attachment.get(digest);
    sql.nameAttachment.run(other === undefined ? digest : goneName(key), key);
    return other === undefined;
  });
  // Somebody else stored the same bytes meanwhile.
  if (!isFirst) await dropPieces(session, key);
}

const pieceCount = (data: Buffer): number => Math.ceil(data.length / PIECE_BYTES);

const goneName = (key: number): string => `gone:${key}`;

function addAttachment(sql: Statements, digest: string, length: number): number {
  return Number(sql.putAttachment.get(digest, length)?.['key']);
}

function putPieces(
  { sql, spent }: Transaction,
  key: number,
  data: Buffer,
  [from, to]: readonly [number, number],
): void {
  for (let n = from; n < to; n += 1) {
    const bytes = data.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES);
    sql.putPiece.run(key * PIECES + n, bytes);
    spent(bytes.length);
  }
}

/** Removes the pieces of an attachment that nobody finds any more, a few at a time; then its row. */
async function dropPieces(session: SqliteSession, key: number): Promise<void> {
  const first = key * PIECES;
  for (let left = true; left;) {
    left = await session.change(STEP * PIECE_WEIGHT, ({ sql }) => {
      const next = Number(sql.nextPiece.get(first)?.['id'] ?? Infinity);
      if (next >= first + PIECES) {
        sql.dropAttachment.run(key);
        return false;
      }
      sql.dropPieces.run(next, next + STEP);
      return true;
    });
  }
}

const missingStub = (digest: string): Error =>
  Object.assign(new Error(`no attachment ${digest}`), {
    status: 412,
    name: 'missing_stub',
    reason: `unknown stub attachment with digest ${digest}`,
  });

/** The bytes of an attachment from one place to another, both included; undefined: it is not there. */
export function* readPieces(
  sql: Statements,
  digest: string,
  [first, last]: readonly [number, number],
): Generator<Buffer> {
  const key = Number(sql.attachment.get(digest)?.['key']);
  for (let n = Math.floor(first / PIECE_BYTES); n * PIECE_BYTES <= last; n += 1) {
    const row = sql.piece.get(key * PIECES + n);
    if (row === undefined) throw new Error(`attachment ${digest} is not complete`);
    const bytes = row['bytes'] as Uint8Array;
    const start = Math.max(0, first - n * PIECE_BYTES);
    const end = Math.min(bytes.length, last + 1 - n * PIECE_BYTES);
    yield Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  }
}

/** The body of a leaf with the bytes of its attachments in place of stubs. */
export function withData(sql: Statements, doc: Doc): Doc {
  const stubs = doc['_attachments'] as Attachments | undefined;
  if (stubs === undefined) return doc;
  const filled = Object.entries(stubs).map(([name, { stub: _, length, ...about }]) => {
    const all = readPieces(sql, String(about['digest']), [0, Number(length) - 1]);
    return [name, { ...about, data: Buffer.concat([...all]).toString('base64') }];
  });
  return { ...doc, _attachments: Object.fromEntries(filled) as Record<string, unknown> };
}
