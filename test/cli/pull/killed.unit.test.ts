import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Client } from '../../../src/client.js';
import { realDisk, type FileDisk } from '../../../src/cli/disk.js';
import { localFiles } from '../../../src/cli/pull/local-files.js';
import { planPull } from '../../../src/cli/pull/plan.js';
import { runPull } from '../../../src/cli/pull/run.js';
import { openBook, readRecord } from '../../../src/cli/pull/synced.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { dying } from '../dying-disk.js';
import { project, task, testIo } from '../terminal.js';

type Json = Readonly<Record<string, unknown>>;

const folder = 'couch/tws/tasks';
const base = { x: 1, y: 1, z: 1 };

async function opened() {
  const named = (name: string, params: Json): Json => ({ _id: name, ...task(name, { params }) });
  const files = ['both', 'theirs', 'gone'].map((name) => [
    `${folder}/${name}.json`,
    named(name, base),
  ]);
  const root = await project(Object.fromEntries(files) as Json);
  const docs = new Map<string, StoredDocument>();
  const store = (name: string, params: Json): void => {
    docs.set(name, { ...named(name, params), _id: name, _rev: '1-a' });
  };
  const client = {
    definitions: () => Promise.resolve([...docs.values()]),
    get: (id: string) => Promise.resolve(docs.get(id)),
  } as unknown as Client;
  const { io, printed } = testIo({ cwd: root });
  const pull = async (disk: FileDisk): Promise<void> => {
    const keys = { from: 'db', keyOf: async () => 'db', isOld: () => false };
    const book = openBook(root, await readRecord(root), keys, disk);
    const place = { cwd: root, root };
    const facts = { place, files: await localFiles(place), synced: book.agreed, project: 'p' };
    const rest = { owner: undefined, isNamed: undefined, prefer: undefined };
    const steps = await planPull(client, { ...facts, ...rest, kinds: ['task'] });
    await runPull(steps, { root, prune: true, book, disk }, io);
  };
  const path = (name: string): string => join(root, folder, `${name}.json`);
  const paramsOf = async (name: string): Promise<Json> =>
    (JSON.parse(await readFile(path(name), 'utf8')) as { params: Json }).params;
  const save = (name: string, params: Json): Promise<void> =>
    writeFile(path(name), JSON.stringify(named(name, params)));
  return { root, docs, store, pull, path, paramsOf, save, printed };
}

/** This process lives on: what it left is given to one that does not. */
async function bury(root: string): Promise<void> {
  const dead = (text: string): string => text.replaceAll(`tws-${process.pid}-`, 'tws-99999999-');
  for (const at of [root, join(root, folder)]) {
    for (const name of await readdir(at)) {
      if (dead(name) !== name) await rename(join(at, name), join(at, dead(name)));
    }
  }
  const record = join(root, '.tws-synced.json');
  await writeFile(record, dead(await readFile(record, 'utf8')));
}

/** A pull of four changes that dies, what both sides do then, and a second pull. Resolves with the writes. */
async function pullKilledAt(at: number): Promise<number> {
  const { root, docs, store, pull, paramsOf, save, printed } = await opened();
  for (const name of ['both', 'theirs', 'gone']) store(name, base);
  await pull(realDisk);
  await save('both', { ...base, y: 5 });
  store('both', { ...base, x: 2, added: 1 });
  store('theirs', { ...base, x: 2, added: 1 });
  store('fresh', { ...base, added: 1 });
  docs.delete('gone');
  const disk = dying(at);
  await pull(disk).catch((error: unknown) => expect(error).toMatchObject({ message: 'killed' }));
  const died = disk.count() > at;
  await bury(root);
  // Every file is a whole one. What the pull brought is edited here, or removed again; something else there.
  const names = (await readdir(join(root, folder))).filter((name) => !name.startsWith('.'));
  for (const name of names.map((file) => file.replace('.json', ''))) {
    const { added, z: _z, ...rest } = await paramsOf(name);
    if (name !== 'gone') await save(name, rest);
    expect([undefined, 1]).toContain(added);
  }
  store('theirs', { ...base, x: 3, added: 1 });
  const wasThere = { both: await paramsOf('both'), theirs: await paramsOf('theirs') };
  await pull(realDisk);
  const told = printed().err;
  expect(told).toBe('');
  const added = (name: 'both' | 'theirs'): Json => (wasThere[name]['x'] === 2 ? {} : { added: 1 });
  expect(await paramsOf('both')).toEqual({ x: 2, y: 5, ...added('both') });
  expect(await paramsOf('theirs')).toEqual({ x: 3, y: 1, ...added('theirs') });
  expect(await paramsOf('fresh')).toEqual(
    names.includes('fresh.json') ? { x: 1, y: 1 } : { ...base, added: 1 },
  );
  expect((await readdir(join(root, folder))).toSorted()).toEqual([
    ...['both.json', 'fresh.json', 'theirs.json'],
  ]);
  expect((await readdir(root)).filter((name) => name.includes('.tws-'))).toEqual([
    '.tws-synced.json',
  ]);
  return died ? disk.count() : -1;
}

it('loses no edit of either side when a pull is killed before any of its writes', async () => {
  let at = 0;
  while ((await pullKilledAt(at)) !== -1) at += 1;
  expect(at).toBeGreaterThan(8);
});
