import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { Absent, type Doc, type DocumentStore } from '../../src/embedded/storage/storage.js';
import { kinds, openKind } from './storages.js';

const id = (letter: string): string => letter.repeat(32);
const copy = { newEdits: false } as const;
const edit = { newEdits: true } as const;

/** A revision that was made elsewhere, with its ancestors. */
function revision(ids: readonly string[], start: number, rest: object = {}): Doc {
  const [own = '', ...older] = ids.map(id);
  return {
    _id: 'doc',
    _rev: `${start}-${own}`,
    _revisions: { start, ids: [own, ...older] },
    ...rest,
  };
}

async function write(store: DocumentStore, doc: Doc): Promise<string> {
  const [result] = await store.write([doc], edit);
  if (result === undefined || !('rev' in result)) throw new Error(JSON.stringify(result));
  return result.rev;
}

describe.each(kinds)('the storage %s', (kind) => {
  test('says with name, message and code that it was closed', async () => {
    const store = await openKind(kind);
    await store.close();
    const closed = {
      name: 'StoreClosed',
      message: 'The database was closed or removed.',
      code: 'store_closed',
    };
    await expect(store.get('doc')).rejects.toMatchObject(closed);
    await expect(store.info()).rejects.toMatchObject(closed);
    await expect(store.write([{ _id: 'doc' }], edit)).rejects.toMatchObject(closed);
  });

  test('joins the branches of a tree, whatever their order', async () => {
    const revisions = [
      revision(['a'], 1, { n: 1 }),
      revision(['c', 'b', 'a'], 3, { n: 3 }),
      revision(['d', 'a'], 2, { n: 4 }),
      revision(['f', 'e', 'b', 'a'], 4, { n: 5, _deleted: true }),
    ];
    for (const order of [revisions, revisions.toReversed()]) {
      const store = await openKind(kind);
      for (const doc of order) expect(await store.write([doc], copy)).toEqual([]);
      expect(await store.get('doc', { conflicts: true, deletedConflicts: true })).toEqual({
        _id: 'doc',
        _rev: `3-${id('c')}`,
        n: 3,
        _conflicts: [`2-${id('d')}`],
        _deleted_conflicts: [`4-${id('f')}`],
      });
      const known = [`1-${id('z')}`, `2-${id('d')}`, `3-${id('c')}`, `4-${id('f')}`];
      expect(await store.revsDiff({ doc: known, none: ['1-x'] })).toEqual({
        doc: { missing: [`1-${id('z')}`] },
        none: { missing: ['1-x'] },
      });
      const open = await store.openRevs('doc', 'all', { revs: true });
      expect(open.map((leaf) => 'ok' in leaf && leaf.ok._rev).toSorted()).toEqual(
        known.slice(1).toSorted(),
      );
      const [deleted] = await store.openRevs('doc', [`4-${id('f')}`], { revs: true });
      expect(deleted).toMatchObject({
        ok: { _deleted: true, n: 5, _revisions: { start: 4, ids: ['f', 'e', 'b', 'a'].map(id) } },
      });
      expect(await store.get('doc', { rev: `1-${id('a')}` })).toEqual(new Absent('missing'));
      const latest = await store.get('doc', { rev: `1-${id('a')}`, latest: true });
      expect(known.slice(1)).toContain(latest instanceof Absent ? undefined : latest._rev);
    }
  });

  test('goes on from any leaf, and from a tombstone when it has nothing else', async () => {
    const store = await openKind(kind);
    await store.write([revision(['a'], 1), revision(['b'], 1)], copy);
    expect(await store.write([{ _id: 'doc', n: 1 }], edit)).toMatchObject([{ status: 409 }]);
    const next = await write(store, { _id: 'doc', _rev: `1-${id('a')}`, n: 2 });
    expect(await store.get('doc')).toMatchObject({ _rev: next, n: 2 });
    const gone = await write(store, { _id: 'doc', _rev: next, _deleted: true });
    expect(await store.get('doc')).toMatchObject({ _rev: `1-${id('b')}` });
    await write(store, { _id: 'doc', _rev: `1-${id('b')}`, _deleted: true });
    expect(await store.get('doc')).toEqual(new Absent('deleted'));
    const again = await write(store, { _id: 'doc', n: 3 });
    expect(again.startsWith('4-')).toBe(true);
    expect(gone.startsWith('3-')).toBe(true);
    expect(await store.info()).toMatchObject({ docCount: 1, deletedCount: 0 });
  });

  test('remembers as many revisions as the limit says', async () => {
    const store = await openKind(kind);
    await store.setRevsLimit(3);
    let rev = await write(store, { _id: 'doc' });
    for (let n = 0; n < 5; n += 1) rev = await write(store, { _id: 'doc', _rev: rev, n });
    const doc = (await store.get('doc', { revs: true, revsInfo: true })) as Doc;
    expect(doc['_revisions']).toMatchObject({ start: 6, ids: { length: 3 } });
    expect(doc['_revs_info']).toMatchObject([
      { rev, status: 'available' },
      { status: 'missing' },
      { status: 'missing' },
    ]);
  });

  test('tells what a write changed as a reader of the changes sees it', async () => {
    const store = await openKind(kind);
    const told: unknown[] = [];
    store.watch((changes) => told.push(...(changes ?? [])));
    const rev = await write(store, { _id: 'a', n: 1 });
    await write(store, { _id: 'a', _rev: rev, n: 2 });
    const read = await store.changes({ since: 1, limit: 10 });
    expect(told.map((change) => ({ ...(change as object), json: undefined })).at(-1)).toEqual({
      ...read[0],
      json: undefined,
    });
  });

  test('lists rows from any end, with and without their documents', async () => {
    const store = await openKind(kind);
    const ids = ['a', 'b', 'ä', '\u{1F600}', '_design/x'];
    const docs = Array.from({ length: 700 }, (_, i): Doc => ({ _id: `n${1000 + i}`, i }));
    await store.write([...ids.map((_id): Doc => ({ _id })), ...docs], edit);
    const listed = async (options: Parameters<DocumentStore['range']>[0]) =>
      (await store.range(options)).map((row) => row.id);
    expect(await listed({ limit: 2 })).toEqual(['_design/x', 'a']);
    expect(await listed({ descending: true, limit: 2 })).toEqual(['\u{1F600}', 'ä']);
    expect(await listed({ startkey: 'b', endkey: 'n1001', inclusiveEnd: false })).toEqual([
      'b',
      'n1000',
    ]);
    const between = { startkey: 'n', endkey: 'n\u{10FFFF}', skip: 1 };
    expect(await listed(between)).toEqual(docs.slice(1).map((doc) => doc._id));
    const rows = await store.range({ ...between, includeDocs: true });
    expect(rows.map((row) => row.doc?.['i'])).toEqual(docs.slice(1).map((doc) => doc['i']));
    expect(await store.rows(['b', 'none'], {})).toMatchObject([{ id: 'b' }, null]);
  });

  test('is smaller after a compaction, when documents and attachments are gone', async () => {
    const store = await openKind(kind);
    const data = randomBytes(3_000_000);
    const files = { large: { content_type: 'application/octet-stream', data } };
    const rev = await write(store, { _id: 'doc', _attachments: files });
    await write(store, { _id: 'doc', _rev: rev, _deleted: true });
    const many = Array.from({ length: 300 }, (_, n): Doc => {
      return { _id: `d${n}`, text: randomBytes(4_000).toString('base64') };
    });
    const written = await store.write(many, edit);
    const gone = written.map((one): Doc => {
      return { _id: one.id, _rev: 'rev' in one ? one.rev : '', _deleted: true };
    });
    await store.write(gone, edit);
    const size = async (): Promise<number> => {
      await store.compact();
      return (await store.info()).fileBytes;
    };
    // Attachments that nobody has any more are removed in the background.
    await expect.poll(size).toBeLessThan(1_500_000);
  });

  test('B2: keeps the bytes of attachments as long as a leaf or a reader has them', async () => {
    const store = await openKind(kind);
    const data = randomBytes(1_500_000);
    const small = Buffer.from('small');
    const files = {
      large: { content_type: 'application/octet-stream', data },
      small: { content_type: 'text/plain', data: small },
      empty: { content_type: 'text/plain', data: Buffer.alloc(0) },
    };
    const rev = await write(store, { _id: 'doc', _attachments: files });
    const { _attachments: stubs } = (await store.get('doc')) as unknown as {
      _attachments: typeof files;
    };
    const digest = `md5-${createHash('md5').update(data).digest('base64')}`;
    expect(stubs.large).toEqual({
      ...{ content_type: 'application/octet-stream', digest, length: data.length },
      ...{ revpos: 1, stub: true },
    });
    const found = await store.attachment('doc', 'large');
    if (found === undefined || found instanceof Absent) throw new Error('not there');
    const { large: _, ...others } = stubs;
    const next = await write(store, { _id: 'doc', _rev: rev, _attachments: others });
    const part = await bytesOf(found.read(70_000, 1_400_000));
    expect(part.equals(data.subarray(70_000, 1_400_001))).toBe(true);
    found.close();
    expect(await store.attachment('doc', 'large')).toBeUndefined();
    expect(await store.get('doc', { attachments: true })).toMatchObject({
      _rev: next,
      _attachments: {
        small: { revpos: 1, data: small.toString('base64') },
        empty: { data: '' },
      },
    });
    const missing = { a: { stub: true, digest: 'md5-none', revpos: 1 } };
    const refused = store.write([{ _id: 'other', _attachments: missing }], edit);
    await expect(refused).rejects.toMatchObject({ status: 412 });
  });
});

async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
