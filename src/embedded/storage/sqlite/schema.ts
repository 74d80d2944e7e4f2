import type { Sqlite, Statement } from './node-sqlite.js';

/**
 * `docs` has one row for each document: its winning leaf and its revisions (`histories.ts`); a body is
 * JSON without `_id`, `_rev` and `_deleted`. `leaves` has the leaves that lost. The bytes of an
 * attachment are in `pieces`, whose ids are those of the attachment times `PIECES` and a number;
 * `uses` says which documents have it in a leaf.
 */
export const schema = `
  CREATE TABLE IF NOT EXISTS docs (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL UNIQUE,
    rev TEXT NOT NULL, deleted INTEGER NOT NULL, files INTEGER NOT NULL,
    line TEXT NOT NULL, tree TEXT, body TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS leaves (
    doc INTEGER NOT NULL, rev TEXT NOT NULL, deleted INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (doc, rev)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS attachments (
    key INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS pieces (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS uses (
    digest TEXT NOT NULL, doc INTEGER NOT NULL, PRIMARY KEY (digest, doc)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS uses_by_doc ON uses (doc);
  CREATE TABLE IF NOT EXISTS locals (
    id TEXT PRIMARY KEY, rev INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS purges (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, revs TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

const HEAD = 'key, id, seq, rev, deleted, files, line, tree';
const RANGE = 'FROM docs WHERE id >= ? AND id <= ? AND deleted = 0 ORDER BY id';

const texts = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  head: `SELECT ${HEAD} FROM docs WHERE id = ?`,
  whole: `SELECT ${HEAD}, body FROM docs WHERE id = ?`,
  body: 'SELECT body FROM docs WHERE key = ?',
  insert:
    'INSERT INTO docs (id, seq, rev, deleted, files, line, tree, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING key',
  update:
    'UPDATE docs SET seq = ?, rev = ?, deleted = ?, files = ?, line = ?, tree = ?, body = ? WHERE key = ?',
  changes: `SELECT ${HEAD}, body FROM docs WHERE seq > ? ORDER BY seq LIMIT ?`,
  ascending: `SELECT ${HEAD} ${RANGE} LIMIT ? OFFSET ?`,
  descending: `SELECT ${HEAD} ${RANGE} DESC LIMIT ? OFFSET ?`,
  wholeAscending: `SELECT ${HEAD}, body ${RANGE} LIMIT ? OFFSET ?`,
  wholeDescending: `SELECT ${HEAD}, body ${RANGE} DESC LIMIT ? OFFSET ?`,
  leaf: 'SELECT deleted, body FROM leaves WHERE doc = ? AND rev = ?',
  leaves: 'SELECT rev, deleted, body FROM leaves WHERE doc = ?',
  dropDoc: 'DELETE FROM docs WHERE key = ?',
  dropLeaves: 'DELETE FROM leaves WHERE doc = ?',
  putPurge: 'INSERT INTO purges (seq, id, revs) VALUES (?, ?, ?)',
  purges: 'SELECT seq, id, revs FROM purges WHERE seq > ? ORDER BY seq',
  dropPurges: 'DELETE FROM purges WHERE seq <= ?',
  putLeaf: 'INSERT OR REPLACE INTO leaves (doc, rev, deleted, body) VALUES (?, ?, ?, ?)',
  dropLeaf: 'DELETE FROM leaves WHERE doc = ? AND rev = ?',
  attachment: 'SELECT key, length FROM attachments WHERE digest = ?',
  putAttachment: 'INSERT INTO attachments (digest, length) VALUES (?, ?) RETURNING key',
  nameAttachment: 'UPDATE attachments SET digest = ? WHERE key = ?',
  dropAttachment: 'DELETE FROM attachments WHERE key = ?',
  piece: 'SELECT bytes FROM pieces WHERE id = ?',
  putPiece: 'INSERT OR REPLACE INTO pieces (id, bytes) VALUES (?, ?)',
  dropPieces: 'DELETE FROM pieces WHERE id >= ? AND id < ?',
  nextPiece: 'SELECT id FROM pieces WHERE id >= ? ORDER BY id LIMIT 1',
  isUsed: 'SELECT 1 FROM uses WHERE digest = ? LIMIT 1',
  usesOf: 'SELECT digest FROM uses WHERE doc = ?',
  use: 'INSERT INTO uses (digest, doc) VALUES (?, ?)',
  disuse: 'DELETE FROM uses WHERE digest = ? AND doc = ?',
  unused:
    'SELECT digest FROM attachments AS a WHERE NOT EXISTS (SELECT 1 FROM uses WHERE digest = a.digest)',
  local: 'SELECT rev, body FROM locals WHERE id = ?',
  locals: 'SELECT id, rev, body FROM locals ORDER BY id',
  putLocal: 'INSERT OR REPLACE INTO locals (id, rev, body) VALUES (?, ?, ?)',
  dropLocal: 'DELETE FROM locals WHERE id = ?',
  meta: 'SELECT value FROM meta WHERE name = ?',
  putMeta: 'INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)',
} as const;

/** The statements of a database, prepared. */
export type Statements = Readonly<Record<keyof typeof texts, Statement>>;

export const prepareStatements = (db: Sqlite): Statements =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, db.prepare(text)]),
  ) as Statements;
