import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { convert } from '../../src/cli/commands/convert.js';
import { openDatabasesFolder } from '../../src/embedded/storage/databases-folder.js';
import { hasSqlite } from '../../src/embedded/storage/sqlite/node-sqlite.js';
import { project, run } from './terminal.js';

it('tws convert makes the databases of a folder ones of the storage that is named', async () => {
  const cwd = await project();
  const nothing = await run(convert, { cwd, args: ['leveldb'] });
  expect([nothing.exit, nothing.error?.code]).toEqual([66, 'embedded_no_data']);
  const wrong = await run(convert, { cwd, args: ['oracle'] });
  expect(wrong.error?.message).toContain('A storage is leveldb or sqlite, not "oracle".');
  const couch = join(cwd, '.tws', 'couch');
  await mkdir(couch, { recursive: true });
  const folder = await openDatabasesFolder(join(couch, 'databases'), 'leveldb');
  const database = await folder.open('db', { create: true });
  await database.write([{ _id: 'a' }], { newEdits: true });
  await database.close();
  const same = await run(convert, { cwd, args: ['leveldb'] });
  expect([same.exit, same.out.trim()]).toEqual([0, 'db: 1 document, is in LevelDB already.']);
  const other = await run(convert, { cwd, args: ['sqlite'] });
  if (!hasSqlite()) {
    expect([other.exit, other.error?.code]).toEqual([69, 'sqlite_missing']);
    return;
  }
  expect([other.exit, other.out.trim()]).toEqual([0, 'db: 1 document, is in SQLite now.']);
  expect(other.json).toEqual({
    storage: 'sqlite',
    databases: [{ name: 'db', from: 'leveldb', documents: 1 }],
  });
});
