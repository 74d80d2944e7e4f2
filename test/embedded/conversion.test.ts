import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { convertDatabases } from '../../src/embedded/storage/conversion.js';
import { openDatabasesFolder } from '../../src/embedded/storage/databases-folder.js';
import { hasSqlite } from '../../src/embedded/storage/sqlite/node-sqlite.js';
import type { Doc, DocumentStore } from '../../src/embedded/storage/storage.js';
import { storageKinds, type StorageKind } from '../../src/storage-kinds.js';
import { needsSqlite, testDirectory } from './storages.js';

const hex = (letter: string): string => letter.repeat(32);

/** A database with all that a copy could lose. */
async function fill(store: DocumentStore): Promise<void> {
  const data = Buffer.alloc(700_000, 'abc');
  // PouchDB changes what it is given.
  const files = () => ({ file: { content_type: 'text/plain', data } });
  await store.write([{ _id: 'plain', text: 'ü\u0000\ud800' }, { _id: 'gone' }], { newEdits: true });
  await store.write([{ _id: 'files', _attachments: files() }], { newEdits: true });
  const leaf = (letter: string, rest: object): Doc => ({
    _id: 'torn',
    _rev: `2-${hex(letter)}`,
    _revisions: { start: 2, ids: [hex(letter), hex('a')] },
    ...rest,
  });
  const copies = [
    leaf('b', { n: 1 }),
    leaf('c', { n: 2, _attachments: files() }),
    leaf('d', { _deleted: true, why: 'x' }),
  ];
  await store.write(copies, { newEdits: false });
  const gone = (await store.get('gone')) as Doc;
  await store.write([{ _id: 'gone', _rev: String(gone._rev), _deleted: true }], { newEdits: true });
  const many = Array.from({ length: 250 }, (_, n): Doc => ({ _id: `doc-${n}`, n }));
  await store.write(many, { newEdits: true });
  await store.putLocal({ _id: '_local/note', a: 1 });
  await store.saveSetting('security', { members: { names: ['joe'], roles: [] } });
  await store.setRevsLimit(7);
}

/** All that there is to see, but for sequences. */
async function seen(store: DocumentStore): Promise<unknown> {
  const changes = await store.changes({ since: 0, limit: 1_000 });
  const docs = await Promise.all(
    changes.map(async ({ id, leaves, deleted }) => {
      const revs = leaves.toSorted();
      const open = await store.openRevs(id, revs, { revs: true, attachments: true });
      return [id, leaves[0], deleted, open];
    }),
  );
  const locals = (await store.listLocal()).map(({ _rev, ...doc }) => doc);
  const { docCount, deletedCount } = await store.info();
  const settings = [store.revsLimit(), store.setting('security')];
  return { docs, locals, settings, docCount, deletedCount };
}

async function open(dir: string, kind: StorageKind, create = false): Promise<DocumentStore> {
  const storage = await openDatabasesFolder(join(dir, 'databases'), kind);
  return storage.open('db', { create });
}

describe.skipIf(!hasSqlite())(`a conversion${needsSqlite}`, () => {
  test.each(storageKinds)('keeps all that a database in %s has', async (from) => {
    const dir = await testDirectory();
    const to = from === 'sqlite' ? 'leveldb' : 'sqlite';
    const before = await open(dir, from, true);
    await fill(before);
    const original = await seen(before);
    await before.close();
    for (const kind of [to, from, from] as const) {
      const [converted] = await convertDatabases({ dir, to: kind });
      expect(converted).toMatchObject({ name: 'db', documents: 253 });
      const after = await open(dir, kind);
      expect(await seen(after)).toEqual(original);
      await after.close();
      const files = (await readdir(join(dir, 'databases', 'db'))).toSorted();
      const own = kind === 'sqlite' ? 'documents.sqlite' : 'data';
      expect(files).toEqual([own, 'settings.json'].toSorted());
    }
  });

  test('B3: that was stopped leaves the database as it was, and can be made again', async () => {
    const dir = await testDirectory();
    const before = await open(dir, 'leveldb', true);
    await fill(before);
    const original = await seen(before);
    await before.close();
    // What a conversion that was killed has left.
    await writeFile(join(dir, 'databases', 'db', 'documents.sqlite'), 'half of a copy');
    const still = await open(dir, 'leveldb');
    expect(await seen(still)).toEqual(original);
    await still.close();
    await writeFile(join(dir, 'databases', 'db', 'documents.sqlite'), 'half of a copy');
    await convertDatabases({ dir, to: 'sqlite' });
    const after = await open(dir, 'sqlite');
    expect(await seen(after)).toEqual(original);
    await after.close();
  });

  test('that cannot copy a document says which and why, and leaves the database as it was', async () => {
    const dir = await testDirectory();
    const before = await open(dir, 'leveldb', true);
    await before.write([{ _id: 'good' }], { newEdits: true });
    await before.write([{ _id: 'odd', _rev: '1-a"b' }], { newEdits: false });
    const original = await seen(before);
    await before.close();
    await expect(convertDatabases({ dir, to: 'sqlite' })).rejects.toMatchObject({
      code: 'conversion_failed',
      message:
        'Database db was not converted, because document odd cannot be copied as it is: the other storage refuses it (Invalid rev format).',
    });
    const after = await open(dir, 'leveldb');
    expect(await seen(after)).toEqual(original);
    await after.close();
  });

  test('of a directory that a server works in is refused', async () => {
    const dir = await testDirectory();
    await mkdir(join(dir, 'databases'));
    const { lockDirectory } = await import('../../src/embedded/storage/directory-lock.js');
    const unlock = await lockDirectory(dir);
    const converting = convertDatabases({ dir, to: 'sqlite' });
    await expect(converting).rejects.toMatchObject({ code: 'embedded_dir_in_use' });
    await unlock();
  });
});

test('a folder keeps the kind of its databases, and a new one is in LevelDB', async () => {
  const fresh = await testDirectory();
  const made = await (await openDatabasesFolder(fresh)).open('a', { create: true });
  expect(await readdir(join(fresh, 'a'))).toContain('data');
  await made.close();
  const old = await testDirectory();
  await (await (await openDatabasesFolder(old, 'leveldb')).open('a', { create: true })).close();
  const next = await (await openDatabasesFolder(old)).open('b', { create: true });
  expect(await readdir(join(old, 'b'))).toContain('data');
  await next.close();
});

test.skipIf(hasSqlite())(
  'a Node without SQLite says so of a database that is kept in it',
  async () => {
    const dir = await testDirectory();
    await mkdir(join(dir, 'a'));
    await writeFile(join(dir, 'a', 'settings.json'), '{"storage":"sqlite"}');
    const opening = openDatabasesFolder(dir);
    await expect(opening).rejects.toMatchObject({ code: 'sqlite_missing' });
  },
);
