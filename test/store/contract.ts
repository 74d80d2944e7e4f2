import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toBigResult, attachmentWith } from '../../src/model/big-result.js';
import type { Store } from '../../src/store/store.js';
import type { NewDocument } from '../../src/store/writer.js';
import { follow } from './follower.js';
import { text } from './matchers.js';

/** Makes an empty database with our design documents; each call of the answer is a connection to it. */
export type OpenDatabase = () => Promise<() => Store>;

/** What every implementation of `Store` does. */
export function storeContract(implementation: string, openDatabase: OpenDatabase): void {
  describe(`a store ${implementation}`, () => {
    let open: () => Store;
    let store: Store;
    beforeAll(async () => {
      open = await openDatabase();
      store = open();
    });
    const here: Here = {
      open: () => open(),
      get store() {
        return store;
      },
    };
    reads(here);
    writes(here);
    copies(here);
    views(here);
    feeds(openDatabase);
  });
}

type Here = { readonly store: Store; readonly open: () => Store };

/** The revision of a write that must succeed. */
async function put(store: Store, doc: NewDocument): Promise<string> {
  const result = await store.write(doc);
  if (result.kind !== 'written') throw new Error(JSON.stringify(result));
  return result.rev;
}

async function putAll(store: Store, docs: readonly NewDocument[]): Promise<void> {
  await Promise.all(docs.map((doc) => put(store, doc)));
}

function reads(here: Here): void {
  describe('get', () => {
    test.each([
      'plain',
      'with/slash',
      'with?mark&more=#1',
      'my_local/x',
      'ünï ↯',
      '100%',
      '..',
      '.',
    ])('reads the document %j', async (id) => {
      expect(await here.store.write({ _id: id, n: 1 })).toMatchObject({ kind: 'written' });
      expect(await here.store.get(id)).toMatchObject({ _id: id, n: 1 });
    });

    test('reads the design document', async () => {
      expect(await here.store.get('_design/tws')).toMatchObject({ language: 'javascript' });
    });

    test.each(['nothing', '', '_all_docs', '_changes'])('finds no document %j', async (id) => {
      expect(await here.store.get(id)).toBeUndefined();
    });
  });

  describe('a range of ids', () => {
    test('is read whole, each document once, page by page', async () => {
      const ids = Array.from({ length: 1_001 }, (_, i) => `page:${String(i).padStart(4, '0')}`);
      await putAll(
        here.store,
        [...ids, 'pagf', 'page'].map((_id) => ({ _id })),
      );
      const found: string[] = [];
      for await (const { _id } of here.store.rangePages('page:')) found.push(_id);
      expect(found).toEqual(ids);
      const rest: string[] = [];
      for await (const { _id } of here.store.rangePages('page:', 'page:0999')) rest.push(_id);
      expect(rest).toEqual(['page:0999', 'page:1000']);
    });

    test('is told whole, and whether it is longer than so many', async () => {
      await putAll(here.store, [{ _id: 'few:a' }, { _id: 'few:b' }]);
      expect((await here.store.range('few:')).map(({ _id }) => _id)).toEqual(['few:a', 'few:b']);
      const told = [1, 2].map((most) => here.store.exceeds('few:', most));
      expect(await Promise.all(told)).toEqual([true, false]);
    });
  });

  describe('isDeleted', () => {
    test('tells what was deleted from what never was, and from what is there', async () => {
      await put(here.store, { _id: 'alive' });
      await here.store.remove('dead', await put(here.store, { _id: 'dead' }));
      const ids = ['alive', 'dead', 'never', '', '_all_docs'];
      const told = await Promise.all(ids.map((id) => here.store.isDeleted(id)));
      expect(told).toEqual([false, true, false, false, false]);
    });
  });

  describe('getMany', () => {
    test('brings those that exist', async () => {
      await putAll(here.store, [{ _id: 'm1' }, { _id: 'm2' }]);
      await here.store.remove('m3', await put(here.store, { _id: 'm3' }));
      const found = await here.store.getMany(['m2', 'm3', 'missing', 'm1', 'm1']);
      expect([...found.keys()]).toEqual(['m2', 'm1']);
      expect(found.get('m1')).toMatchObject({ _id: 'm1', _rev: text(/^1-/) });
    });

    test('brings more than fit into one request', async () => {
      const docs = Array.from({ length: 2_500 }, (_, i) => ({ _id: `lot-${i}` }));
      await putAll(here.store, docs);
      expect((await here.store.getMany(docs.map(({ _id }) => _id))).size).toBe(2_500);
    });
  });

  test('info tells the position, the number of documents and of copies', async () => {
    const before = await here.store.info();
    expect(before).toMatchObject({ copies: 1, updateSeq: text() });
    await put(here.store, { _id: 'counted' });
    const { documents, updateSeq } = await here.store.info();
    expect(documents).toBe(before.documents + 1);
    expect(updateSeq).not.toBe(before.updateSeq);
  });
}

function writes(here: Here): void {
  describe('write', () => {
    test('stores a document and its next revision', async () => {
      const rev = await put(here.store, { _id: 'a' });
      const next = await put(here.store, { _id: 'a', _rev: rev });
      expect(next).toMatch(/^2-/);
      expect(await here.store.get('a')).toEqual({ _id: 'a', _rev: next });
    });

    test('X12: stores the document as it was when it was given, and hands out copies', async () => {
      const given = { _id: 'copied', list: [1] };
      const writing = here.store.write(given);
      given.list.push(2);
      await writing;
      const read = (await here.store.get('copied')) as unknown as typeof given;
      expect(read.list).toEqual([1]);
      read.list.push(3);
      expect(await here.store.get('copied')).toMatchObject({ list: [1] });
    });

    test('stores a text that was cut in the middle of a character', async () => {
      const cut = ['a\ud83d', '\ude00b', '\\ud83d', '\\\udc00', '😀', '\\\\ud83d'];
      await put(here.store, { _id: 'cut', cut, ['k\ud83d']: 1 });
      expect(await here.store.get('cut')).toMatchObject({
        cut: ['a\ufffd', '\ufffdb', '\\ud83d', '\\\ufffd', '😀', '\\\\ud83d'],
        ['k\ufffd']: 1,
      });
    });

    test('X11: tells a conflict for an old revision and for none', async () => {
      const rev = await put(here.store, { _id: 'b' });
      await put(here.store, { _id: 'b', _rev: rev });
      expect(await here.store.write({ _id: 'b', _rev: rev })).toEqual({ kind: 'conflict' });
      expect(await here.store.write({ _id: 'b' })).toEqual({ kind: 'conflict' });
    });

    // Shows J-09, M-05.
    test('X11: lets exactly one of many writers of a revision win', async () => {
      const rev = await put(here.store, { _id: 'race' });
      const others = [here.store, ...Array.from({ length: 7 }, here.open)];
      const results = await Promise.all(
        others.map((one, i) => one.write({ _id: 'race', _rev: rev, winner: i })),
      );
      const won = results.flatMap(({ kind }, i) => (kind === 'written' ? [i] : []));
      expect(won).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'conflict')).toHaveLength(7);
      expect(await here.store.get('race')).toMatchObject({ winner: won[0] });
    });

    test.each([
      ['a field that CouchDB does not allow', { _id: 'x1', _unknown: 1 }],
      ['an id that CouchDB does not allow', { _id: '_x2' }],
      ['a revision that is none', { _id: 'x3', _rev: 'none' }],
    ])('refuses %s and stores the rest of the batch', async (_title, bad) => {
      const ids = Array.from({ length: 5 }, (_, i) => `beside-${bad._id}-${i}`);
      const [result, ...results] = await Promise.all([
        here.store.write(bad),
        ...ids.map((_id) => here.store.write({ _id })),
      ]);
      expect(result).toMatchObject({ kind: 'refused' });
      expect(results.map(({ kind }) => kind)).toEqual(ids.map(() => 'written'));
    });

    test('refuses a document that is too large and stores the rest of the batch', async () => {
      const [large, small, own] = await Promise.all([
        here.store.write({ _id: 'large', text: 'x'.repeat(9_000_000) }),
        here.store.write({ _id: 'small' }),
        here.store.write({ _id: 'own', text: 'x'.repeat(100) }, 50),
      ]);
      expect(small).toMatchObject({ kind: 'written' });
      expect(large).toMatchObject({ kind: 'refused', reason: text('too large') });
      expect(own).toMatchObject({ kind: 'refused', bytes: 123 });
    });

    test('does several writes of a document one after the other', async () => {
      const results = await Promise.all([1, 2].map((n) => here.store.write({ _id: 'twice', n })));
      expect(results.map(({ kind }) => kind)).toEqual(['written', 'conflict']);
      expect(await here.store.get('twice')).toMatchObject({ n: 1 });
    });

    test('X11: goes on from a deleted document as a new one', async () => {
      await here.store.remove('again', await put(here.store, { _id: 'again' }));
      expect(await put(here.store, { _id: 'again', n: 2 })).toMatch(/^3-/);
      expect(await here.store.isDeleted('again')).toBe(false);
    });
  });

  test('remove deletes the revision it is given and no other', async () => {
    const rev = await put(here.store, { _id: 'gone' });
    const other = '1-0123456789abcdef0123456789abcdef';
    expect(await here.store.remove('gone', other)).toEqual({ kind: 'conflict' });
    expect(await here.store.remove('gone', rev)).toMatchObject({ kind: 'written' });
    expect(await here.store.get('gone')).toBeUndefined();
  });

  test('attachments are kept beside the document, also when it is written anew', async () => {
    const value = { long: 'ü'.repeat(40_000) };
    const json = JSON.stringify(value);
    const attached = { 'r.json': attachmentWith(toBigResult(value, json)) };
    const rev = await put(here.store, { _id: 'with', _attachments: attached });
    const stored = await here.store.get('with');
    const stub = { content_type: 'application/json', stub: true, length: Buffer.byteLength(json) };
    expect(stored?.['_attachments']).toMatchObject({ 'r.json': stub });
    await put(here.store, { ...stored, _id: 'with', _rev: rev, n: 2 });
    expect((await here.store.attachment('with', 'r.json')) === json).toBe(true);
    expect(await here.store.attachment('with', 'other')).toBeUndefined();
    expect(await here.store.attachment('nothing', 'r.json')).toBeUndefined();
  });

  test('close has later writes not known', async () => {
    const own = here.open();
    const writing = own.write({ _id: 'closing' });
    await own.close();
    expect(await writing).toMatchObject({ kind: 'written' });
    expect(await own.write({ _id: 'closed' })).toMatchObject({ kind: 'unknown' });
  });
}

function copies(here: Here): void {
  test('leaves are all revisions on which nobody has written, but for deleted ones', async () => {
    const first = await put(here.store, { _id: 'forked', n: 1 });
    const graft = (hash: string, more: object) => ({
      ...{ _id: 'forked', _rev: `2-${hash.repeat(32)}`, ...more },
      _revisions: { start: 2, ids: [hash.repeat(32), first.slice(2)] },
    });
    const docs = [graft('a', { n: 2 }), graft('b', { n: 3 }), graft('c', { _deleted: true })];
    expect(await here.store.putCopies(docs)).toEqual([]);
    const leaves = await here.store.leaves('forked', 3);
    const [a, b] = [`2-${'a'.repeat(32)}`, `2-${'b'.repeat(32)}`];
    expect([...leaves].sort((one, other) => (one._rev < other._rev ? -1 : 1))).toEqual([
      { _id: 'forked', _rev: a, n: 2 },
      { _id: 'forked', _rev: b, n: 3 },
    ]);
    expect(await here.store.get('forked')).toMatchObject({ n: 3 });
    const many = await here.store.getMany(['forked'], { conflicts: true });
    expect(many.get('forked')).toMatchObject({ n: 3, _conflicts: [a] });
    expect(await here.store.write({ _id: 'forked', _rev: a, n: 4 })).toMatchObject({
      kind: 'written',
    });
    expect(await here.store.get('forked')).toMatchObject({ n: 4 });
  });

  test.each(['nothing', '', '_all_docs'])('leaves of %j are none', async (id) => {
    expect(await here.store.leaves(id, 1)).toEqual([]);
  });

  test('a copy carries its history and its attachments into another place', async () => {
    const json = JSON.stringify({ a: 1 });
    const attached = { 'r.json': attachmentWith(toBigResult({ a: 1 }, json)) };
    const first = await put(here.store, { _id: 'moved', n: 1, _attachments: attached });
    const rev = await put(here.store, {
      ...(await here.store.get('moved')),
      ...{ _id: 'moved', _rev: first, n: 2 },
    });
    const copy = await here.store.copy('moved', rev);
    expect(copy?.['_revisions']).toMatchObject({ start: 2, ids: [rev.slice(2), first.slice(2)] });
    expect(await here.store.copy('moved', '1-0123456789abcdef0123456789abcdef')).toBeUndefined();
    const gone = await here.store.remove('moved', rev);
    if (gone.kind !== 'written') throw new Error(gone.kind);
    expect(await here.store.tombstones(['moved', 'nothing'])).toEqual(
      new Map([['moved', gone.rev]]),
    );
    expect(await here.store.mayPurge()).toBe(true);
    expect(await here.store.purge(new Map([['moved', gone.rev]]))).toEqual(new Set(['moved']));
    expect(await here.store.isDeleted('moved')).toBe(false);
    if (copy !== undefined) await here.store.putCopies([copy]);
    expect(await here.store.get('moved')).toMatchObject({ _rev: rev, n: 2 });
    expect(await here.store.attachment('moved', 'r.json')).toBe(json);
  });
}

function views({ open }: Here): void {
  const final = { state: '$$complete', steps: [], run: 1 };
  const seen: { store?: Store } = {};
  const view: Store['view'] = (name, query) => (seen.store as Store).view(name, query);
  describe('view', () => {
    beforeAll(async () => {
      seen.store = open();
      await putAll(seen.store, [
        { _id: 't1', type: 'task', name: 'fetch' },
        { _id: 't2', type: 'task', name: 'fetch', owner: 'me', plugin: 'http' },
        { _id: 'f1', type: 'flow', name: 'daily', owner: 'me', tasks: ['fetch'] },
        { _id: 'j1', type: 'job', flow: 'daily', owner: 'me' },
        { _id: 'j2', type: 'job', flow: 'daily', exec_after: '2030-01-01T00:00:00Z' },
        { _id: 'j3', type: 'job', tasks: ['fetch'], parent: { job: 'j1', step: 'a' } },
        { _id: 'j4', type: 'job', flow: 'daily', ...final, exit: 0, start: 4, end: 10 },
        {
          ...{ _id: 'j5', type: 'job', flow: 'daily', ...final },
          ...{ exit: 2, start: 5, end: 20, failure: { name: 'X' } },
        },
        { _id: 'j6', type: 'job', flow: 'daily', ...final, exit: 1, end: 30 },
        { _id: 'j7', type: 'job', flow: 'nightly', state: 'fetch-0', steps: [], next_due: 99 },
      ]);
    });

    // Shows A-05, L-08.
    test('tasks finds the one of an owner and the one of all', async () => {
      const rows = await view('tasks', { keys: ['fetch::me', 'fetch::DEFAULT', 'x::DEFAULT'] });
      expect(rows).toEqual([
        { id: 't2', key: 'fetch::me', value: 'http' },
        { id: 't1', key: 'fetch::DEFAULT', value: 'fetch' },
      ]);
    });

    test('flows brings documents when asked', async () => {
      const [row] = await view('flows', { key: 'daily::me', includeDocs: true });
      expect(row).toMatchObject({ id: 'f1', value: true, doc: { _id: 'f1', tasks: ['fetch'] } });
    });

    // Shows L-08.
    test('jobs has every job once, by flow and owner', async () => {
      const rows = await view('jobs');
      expect(rows.map(({ id }) => id).sort()).toEqual(['j1', 'j2', 'j3', 'j4', 'j5', 'j6', 'j7']);
      const own = await view('jobs', { key: 'daily::me' });
      expect(own).toEqual([{ id: 'j1', key: 'daily::me', value: { state: '', exit: null } }]);
    });

    test('unfinished has the others by state', async () => {
      const rows = await view('unfinished');
      expect(rows.map(({ id, key }) => [id, key[0]])).toEqual([
        ['j1', ''],
        ['j2', ''],
        ['j3', ''],
        ['j7', 'fetch-0'],
      ]);
    });

    test('due is ordered by time and takes a range', async () => {
      expect((await view('due')).map(({ id }) => id)).toEqual(['j7', 'j2']);
      expect((await view('due', { endKey: 100 })).map(({ key }) => key)).toEqual([99]);
      const query = { startKey: 99, endKey: 99, inclusiveEnd: false };
      expect(await view('due', query)).toEqual([]);
      const later = await view('due', { startKey: 99, descending: false, skip: 1, limit: 5 });
      expect(later.map(({ key }) => key)).toEqual([Date.parse('2030-01-01T00:00:00Z')]);
    });

    test('failed is ordered by flow and end', async () => {
      const query = { startKey: ['daily', {}], endKey: ['daily'], descending: true, limit: 1 };
      expect(await view('failed', query)).toEqual([
        { id: 'j6', key: ['daily', 30], value: { exit: 1, failure: null } },
      ]);
    });

    // Shows B-11.
    test('children are found by their parent', async () => {
      expect((await view('children', { key: 'j1' })).map(({ id }) => id)).toEqual(['j3']);
    });

    test('pages by key and id', async () => {
      const page = { startKey: [''], startKeyDocId: 'j2', limit: 1 };
      expect((await view('unfinished', page)).map(({ id }) => id)).toEqual(['j2']);
    });

    test('figures are counted in groups', async () => {
      const query = { startKey: ['', 'failed'], endKey: ['', 'failed', {}], groupLevel: 2 };
      const [row] = await view('figures', query);
      expect(row).toMatchObject({ key: ['', 'failed'], value: { count: 2 } });
    });

    test('rows brings the same, page by page, and what was written last', async () => {
      const { store } = seen as { store: Store };
      await store.remove('j7', String((await store.get('j7'))?._rev));
      const ids: string[] = [];
      for await (const { id } of store.rows('unfinished', {})) ids.push(id);
      expect(ids).toEqual(['j1', 'j2', 'j3']);
    });
  });
}

function feeds(openDatabase: OpenDatabase): void {
  describe('follow', () => {
    let store: Store;
    beforeEach(async () => {
      store = (await openDatabase())();
    });
    const since = async (): Promise<string> => (await store.info()).updateSeq;

    test('X13: brings what is there, then what comes, with documents', async () => {
      const from = await since();
      await put(store, { _id: 'before', n: 1 });
      const follower = follow(store, { since: from });
      await follower.id('before');
      const rev = await put(store, { _id: 'after', n: 2 });
      await follower.id('after');
      expect(follower.changes.at(-1)).toEqual({
        ...{ id: 'after', seq: text(), deleted: false, revs: [rev] },
        doc: { _id: 'after', _rev: rev, n: 2 },
      });
      expect(follower.states).toEqual(['following']);
    });

    test('brings revisions only, when no documents are asked for', async () => {
      const follower = follow(store, { documents: false, since: await since() });
      const rev = await put(store, { _id: 'a', n: 1 });
      await follower.id('a');
      expect(follower.changes).toEqual([{ id: 'a', seq: text(), deleted: false, revs: [rev] }]);
      await store.write({ _id: 'a', _rev: rev, _deleted: true, why: 'done' });
      await expect.poll(() => follower.changes.length).toBe(2);
      expect(follower.changes[1]).toEqual({ id: 'a', seq: text(), deleted: true, revs: [text()] });
    });

    test('brings deletions without a document, but with what was left to be read', async () => {
      const rev = await put(store, { _id: 'a' });
      const follower = follow(store, { since: await since() });
      await follower.state('following');
      await store.write({ _id: 'a', _rev: rev, _deleted: true, why: 'done' });
      await follower.id('a');
      const remains = { _id: 'a', _rev: text(), _deleted: true, why: 'done' };
      expect(follower.changes[0]).toEqual({
        ...{ id: 'a', seq: text(), deleted: true, revs: [remains._rev], remains },
      });
    });

    test('goes on where another one stopped', async () => {
      const from = await since();
      await putAll(
        store,
        Array.from({ length: 30 }, (_, i) => ({ _id: `doc-${i}` })),
      );
      const first = follow(store, { since: from });
      await expect.poll(() => first.changes.length).toBe(30);
      await first.stop();
      await put(store, { _id: 'next' });
      const second = follow(store, { since: String(first.changes.at(-1)?.seq) });
      await second.id('next');
      expect(second.ids()).toEqual(['next']);
    });

    test('ends without a change when it was told to before it began', async () => {
      const feed = store.follow({ since: '0', signal: AbortSignal.abort() });
      for await (const change of feed) throw new Error(`Unexpected change ${change.id}`);
    });

    test('changes tells what has changed until now', async () => {
      const from = await since();
      await putAll(store, [{ _id: 'c1' }, { _id: 'c2' }, { _id: 'c3' }]);
      const page = await store.changes(from, 2);
      expect(page).toMatchObject({ kind: 'known', more: true });
      if (page.kind === 'unknown') throw new Error(page.kind);
      const rest = await store.changes(page.seq, 10);
      expect(rest).toMatchObject({ kind: 'known', more: false, changes: [{ deleted: false }] });
      expect(await store.changes('nonsense', 1)).toEqual({ kind: 'unknown' });
    });
  });
}
