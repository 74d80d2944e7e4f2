import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { problem, type TwsError } from '../../errors.js';
import {
  directoryOf,
  filesOf,
  INDEXES,
  storageKindOf,
  KIND,
  openHome,
  openHomeStore,
} from './database-homes.js';
import { databaseNames, openDatabasesFolder } from './databases-folder.js';
import { lockDirectory } from './directory-lock.js';
import type { Doc, DocumentStore, FeedChange } from './storage.js';
import type { StorageKind } from '../../storage-kinds.js';

const PAGE = 100;

/** What became of one database. */
export type Converted = {
  readonly name: string;
  /** The kind that it was of. */
  readonly from: StorageKind;
  /** Documents that are not deleted. */
  readonly documents: number;
};

/**
 * Makes all databases of a server's directory ones of another kind, while no server works there. Each
 * is copied with its conflicts, tombstones, histories, attachments and local documents; sequences
 * begin anew, and indexes are built at their next use.
 *
 * B3 A database is of its old kind until its copy is complete, compared and on disk: what is stopped
 *    may be run again.
 * @throws TwsError `embedded_dir_in_use`, `embedded_no_data`, `sqlite_missing`, `conversion_failed`
 */
export async function convertDatabases(options: {
  readonly dir: string;
  readonly to: StorageKind;
  /** Called after each database. */
  readonly onConverted?: (converted: Converted) => void;
}): Promise<Converted[]> {
  const { dir, to, onConverted } = options;
  const directory = join(dir, 'databases');
  if (!existsSync(directory)) throw problem('embedded_no_data', { dir });
  const unlock = await lockDirectory(dir);
  try {
    // It takes away what a crash has left, and refuses what this Node cannot read.
    await openDatabasesFolder(directory, to);
    const done: Converted[] = [];
    for (const name of await databaseNames(directory)) {
      const converted = await convertOne(join(directory, directoryOf(name)), name, to);
      done.push(converted);
      onConverted?.(converted);
    }
    return done;
  } finally {
    await unlock();
  }
}

async function convertOne(home: string, name: string, to: StorageKind): Promise<Converted> {
  const place = await openHome(home);
  const from = storageKindOf(place.settings);
  const source = await openHomeStore(from, place);
  try {
    const { docCount: documents } = await source.info();
    if (from === to) return { name, from, documents };
    const target = await openHomeStore(to, place);
    try {
      await copy(source, target, name);
    } catch (error) {
      await target.close();
      await removeFiles(home, to);
      throw error;
    }
    await target.close();
    // Those of the other kind would be taken for up to date.
    await rm(join(home, INDEXES), { recursive: true, force: true });
    await place.settings.save(KIND, to);
    return { name, from, documents };
  } finally {
    await source.close();
    if (storageKindOf(place.settings) !== from) await removeFiles(home, from);
  }
}

/** Removes the documents of a database that are kept in one kind. */
async function removeFiles(home: string, kind: StorageKind): Promise<void> {
  for (const file of filesOf(kind)) await rm(join(home, file), { recursive: true, force: true });
}

async function copy(source: DocumentStore, target: DocumentStore, name: string): Promise<void> {
  for (let since = 0, reached = 0; ;) {
    const page = await source.changes({ since, limit: PAGE });
    for (const { id } of page) {
      await copyDocument(source, target, id).catch((cause: unknown) => {
        throw failed(name, id, cause instanceof Error ? cause.message : String(cause), cause);
      });
    }
    const copies = await target.changes({ since: reached, limit: PAGE });
    compare(name, page, copies);
    if (page.length < PAGE) break;
    since = page.at(-1)?.seq ?? since;
    reached = copies.at(-1)?.seq ?? reached;
  }
  for (const doc of await source.listLocal()) await target.putLocal(doc);
}

async function copyDocument(
  source: DocumentStore,
  target: DocumentStore,
  id: string,
): Promise<void> {
  const docs: Doc[] = [];
  for (const leaf of await source.openRevs(id, 'all', { revs: true })) {
    if ('ok' in leaf) docs.push(await withBytes(source, leaf.ok));
  }
  const [refused] = await target.write(docs, { newEdits: false });
  if (refused !== undefined && 'error' in refused) {
    throw new Error(`the other storage refuses it (${refused.reason})`);
  }
}

/** A leaf with the bytes of its attachments in place of stubs. */
async function withBytes(source: DocumentStore, doc: Doc): Promise<Doc> {
  const { _attachments: stubs, ...rest } = doc;
  if (stubs === undefined) return doc;
  const filled: Record<string, unknown> = {};
  for (const [name, { stub: _, ...about }] of Object.entries(stubs as Record<string, Doc>)) {
    const found = await source.attachment(doc._id, name, doc._rev);
    if (found === undefined || !('read' in found))
      throw new Error(`its attachment ${name} is missing`);
    try {
      const pieces: Buffer[] = [];
      for await (const piece of found.read(0, found.length - 1)) pieces.push(piece);
      filled[name] = { ...about, data: Buffer.concat(pieces) };
    } finally {
      found.close();
    }
  }
  return { ...rest, _attachments: filled };
}

/** @throws TwsError `conversion_failed` when a copy has other leaves than the original */
function compare(
  name: string,
  originals: readonly FeedChange[],
  copies: readonly FeedChange[],
): void {
  const shown = new Map(copies.map((copied) => [copied.id, leavesText(copied)]));
  const wrong = originals.find((original) => shown.get(original.id) !== leavesText(original));
  if (wrong !== undefined) throw failed(name, wrong.id, 'the copy has other revisions');
}

const failed = (database: string, id: string, reason: string, cause?: unknown): TwsError =>
  problem('conversion_failed', { database, id, reason }, { cause });

const leavesText = ({ leaves: [winner = '', ...others], deleted }: FeedChange): string =>
  [winner, deleted, ...others.toSorted()].join(' ');
