import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDatabasesFolder } from '../../src/embedded/storage/databases-folder.js';
import type { Doc, DocumentStore, StoredChange } from '../../src/embedded/storage/storage.js';

let dir: string;
let store: DocumentStore;
let told: (readonly StoredChange[] | undefined)[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tws-tap-'));
  store = await (await openDatabasesFolder(dir, 'leveldb')).open('db', { create: true });
  store.watch((changes) => told.push(changes));
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

/** Writes, and answers what was overheard and what a reader of the changes gets. */
async function write(docs: readonly Doc[], newEdits = true) {
  told = [];
  const since = await store.updateSeq();
  const results = await store.write(docs, { newEdits });
  const read = await store.changes({ since, limit: 100 });
  return { results, read, told };
}

const revOf = ({ results }: Awaited<ReturnType<typeof write>>): string => {
  const [first] = results;
  return first !== undefined && 'rev' in first ? first.rev : '';
};

test.each<[string, Doc]>([
  ['a plain document', { _id: 'plain', n: 1 }],
  ['an id with quotes and other letters', { _id: 'q"\\ü \u2028', text: '"_id":"x","_rev":"1-y"}' }],
  [
    'members that look like the end of a document',
    { _id: 'end', a: { _z: 1 }, b: '","_rev":"1-x"}' },
  ],
])('overhears %s as it is read', async (_title, doc) => {
  const first = await write([doc]);
  const second = await write([{ ...doc, _rev: revOf(first), more: [1, null, 'ü'] }]);
  for (const { told, read } of [first, second]) {
    expect(told).toHaveLength(1);
    expect(told[0]?.map(({ json: _, ...change }) => change)).toEqual(read);
    expect(told[0]?.map(({ json }) => JSON.parse(json) as unknown)).toEqual(
      read.map(({ doc }) => doc),
    );
    expect(told[0]?.[0]?.json).toBe(JSON.stringify(read[0]?.doc));
  }
});

test('overhears a batch in the order of its sequences, and only what was stored', async () => {
  const first = await write([{ _id: 'taken' }]);
  const batch = await write([
    { _id: 'b' },
    { _id: 'taken', n: 1 },
    { _id: 'a', _rev: revOf(first) },
    { _id: 'c', x: 1 },
  ]);
  const stored = batch.read.map(({ id }) => id);
  expect(stored).not.toContain('taken');
  if (batch.told[0] !== undefined) expect(batch.told[0].map(({ id }) => id)).toEqual(stored);
});

test('says that it has to be read what is no plain update', async () => {
  const first = await write([{ _id: 'x', n: 1 }]);
  const branch = { _id: 'x', n: 2, _rev: '1-0000', _revisions: { start: 1, ids: ['0000'] } };
  expect((await write([branch], false)).told).toEqual([undefined]);
  expect((await write([{ _id: 'x', _rev: revOf(first), n: 3 }])).told).toEqual([undefined]);
  const gone = await write([{ _id: 'y', n: 1 }]);
  expect((await write([{ _id: 'y', _rev: revOf(gone), _deleted: true }])).told).toEqual([
    undefined,
  ]);
  const data = Buffer.from('text').toString('base64');
  const attached = { _id: 'z', _attachments: { a: { content_type: 'text/plain', data } } };
  expect((await write([attached])).told).toEqual([undefined]);
});

test('keeps silent about what is no document', async () => {
  told = [];
  await store.putLocal({ _id: '_local/x', n: 1 });
  await store.saveSetting('some', 1);
  expect(told).toEqual([]);
});

test('overhears on after the limit of revisions was changed', async () => {
  await store.setRevsLimit(20);
  expect((await write([{ _id: 'later', n: 1 }])).told[0]?.[0]?.id).toBe('later');
});
