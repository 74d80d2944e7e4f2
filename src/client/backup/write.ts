import { problem } from '../../errors.js';
import { isObject } from '../../model/object.js';
import { engineControlId, everyEngine } from '../../model/engine-control.js';
import {
  databasePath,
  documentPath,
  openClient,
  unexpected,
  type CouchClient,
} from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { createMissingDatabase } from '../../store/database.js';
import { guardState, installDesign } from '../../store/design.js';
import { movedId } from '../../store/moved.js';
import { openStore } from '../../store/store.js';
import { writeDocument } from '../writes.js';
import type { BackedUp } from './read.js';

/*
 * RB1 A backup is only restored into a database without documents, or into one that this same backup began to fill.
 * RB2 Before the first job is written, no engine and no worker may begin a step there; a person allows it.
 * RB3 Design documents come last, so that no guard judges how a document once came to be.
 * RB4 Revisions keep their numbers, and writing them again changes nothing: a restore may be repeated.
 */

const mark = '_local/tws-restore-of';

/** What a restore leaves out: these speak of the database that the backup was made of. */
export function isOfSource(id: string): boolean {
  return id === movedId || id === engineControlId(everyEngine);
}

/**
 * Prepares a database for a backup (RB1). Resolves with how many lines of it are written already.
 * @throws TwsError `restore_target_used`, and those of servers out of reach
 */
export async function claimForRestore(
  connection: Connection,
  { backup, into }: { readonly backup: string; readonly into: boolean },
): Promise<number> {
  await createMissingDatabase(connection);
  const client = openClient(connection);
  const found = await readMark(client);
  if (found?.backup === backup) return found.lines;
  const documents = await countDocuments(client);
  if (documents > 0 && !into) {
    throw problem('restore_target_used', { database: connection.database, documents });
  }
  await writeRestored(connection, backup, 0);
  return 0;
}

/** Has engines and workers begin nothing (RB2). */
export async function holdEngines(connection: Connection, made: string): Promise<void> {
  const store = openStore(connection);
  try {
    const _id = engineControlId(everyEngine);
    const control = await store.get(_id);
    if (control?.['restored'] !== undefined) return;
    await writeDocument(store, {
      ...{ ...control, _id, type: 'engine-control', engine: everyEngine, enabled: false },
      restored: made,
      reason: `Restored from a backup of ${made}.`,
    });
  } finally {
    await store.close();
  }
}

/** Writes revisions as they are (RB4). @throws TwsError `restore_refused` with the first that is refused */
export async function writeRevisions(
  connection: Connection,
  docs: readonly BackedUp[],
): Promise<void> {
  const client = openClient(connection);
  const action = 'write documents of the backup';
  const reply = await client.ask({
    method: 'POST',
    path: databasePath(connection, '/_bulk_docs'),
    body: { new_edits: false, docs },
    ...{ action, long: true },
  });
  if (reply.kind === 'refused') throw unexpected(connection, action, reply);
  type Refused = { readonly id?: string; readonly error?: string; readonly reason?: string };
  const refused = (reply.body as readonly Refused[]).filter(({ error }) => error !== undefined);
  const [first] = refused;
  if (first === undefined) return;
  const reason = first.reason ?? String(first.error);
  throw problem('restore_refused', { id: String(first.id), reason, count: refused.length });
}

/** Remembers how many lines of a backup are written. */
export async function writeRestored(
  connection: Connection,
  backup: string,
  lines: number,
): Promise<void> {
  const client = openClient(connection);
  const action = 'remember which backup is restored';
  const before = await readMark(client);
  const body = {
    ...(before === undefined ? {} : { _rev: before.rev }),
    ...{ backup, lines },
  };
  const path = databasePath(connection, documentPath(mark));
  const reply = await client.ask({ method: 'PUT', path, body, action });
  if (reply.kind === 'refused') throw unexpected(connection, action, reply);
}

async function readMark(client: CouchClient) {
  const action = 'read which backup is restored';
  const path = databasePath(client.connection, documentPath(mark));
  const reply = await client.ask({ path, action });
  if (reply.kind === 'refused') {
    if (reply.status === 404) return undefined;
    throw unexpected(client.connection, action, reply);
  }
  const { backup, lines, _rev } = reply.body as Readonly<Record<string, unknown>>;
  return { backup: String(backup), lines: Number(lines), rev: String(_rev) };
}

/** Documents that are no design documents. */
async function countDocuments(client: CouchClient): Promise<number> {
  const all = await listRevisions(client, { limit: 1_000 });
  return all.filter(({ id }) => !id.startsWith('_design/') && !isOfSource(id)).length;
}

/** Installs the design documents of this version, with a guard if there is one. */
export async function finishRestore(connection: Connection): Promise<void> {
  const guard = (await guardState(connection)) === 'installed';
  await installDesign(connection, { guard });
}

/** What a backup says of a document: its current revision, and the lengths of its attachments. */
export type Expected = { readonly rev: string; readonly lengths: ReadonlyMap<string, number> };

/** Compares what was restored with what the backup holds. @throws TwsError `restore_incomplete` */
export async function verifyRestored(
  connection: Connection,
  expected: ReadonlyMap<string, Expected>,
): Promise<void> {
  const client = openClient(connection);
  const ids = [...expected.keys()].filter((id) => !id.startsWith('_design/') && !isOfSource(id));
  const wrong: string[] = [];
  for (let from = 0; from < ids.length; from += 1_000) {
    const keys = ids.slice(from, from + 1_000);
    const rows = await listRevisions(client, undefined, keys);
    const there = new Map(rows.map((row) => [row.id, row]));
    wrong.push(...keys.filter((id) => !isAsExpected(there.get(id), expected.get(id))));
  }
  if (wrong.length === 0) return;
  const { database } = connection;
  throw problem('restore_incomplete', { database, count: wrong.length, ids: wrong.slice(0, 5) });
}

type Row = { readonly id: string; readonly rev: string; readonly doc?: unknown };

function isAsExpected(row: Row | undefined, expected: Expected | undefined): boolean {
  if (row === undefined || row.rev !== expected?.rev) return false;
  if (expected.lengths.size === 0) return true;
  const stubs = isObject(row.doc) ? row.doc['_attachments'] : undefined;
  return [...expected.lengths].every(
    ([name, length]) => isObject(stubs) && (stubs[name] as { length?: number })?.length === length,
  );
}

async function listRevisions(
  client: CouchClient,
  query: Readonly<Record<string, unknown>> = {},
  keys?: readonly string[],
): Promise<readonly Row[]> {
  const action = 'list its documents';
  const reply = await client.ask({
    path: databasePath(client.connection, '/_all_docs'),
    query: keys === undefined ? query : { ...query, include_docs: true },
    ...(keys === undefined ? {} : { method: 'POST' as const, body: { keys } }),
    ...{ action, long: true },
  });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  type Found = {
    readonly id?: string;
    readonly value?: { readonly rev: string; readonly deleted?: boolean };
    readonly doc?: unknown;
  };
  const { rows } = reply.body as { readonly rows: readonly Found[] };
  return rows.flatMap(({ id, value, doc }) =>
    id === undefined || value === undefined || value.deleted === true
      ? []
      : [{ id, rev: value.rev, doc }],
  );
}
