import { expect } from 'vitest';
import { freshDatabase, request, store, type Row } from '../support/couch.js';
import { check } from './check.js';

const rev = (generation: number, letter: string): string => `${generation}-${letter.repeat(32)}`;
const byNumber = {
  _id: '_design/app',
  views: { by_n: { map: 'function (doc) { emit(doc.n, null); }' } },
};

const purge = (db: string, revs: unknown) =>
  request('POST', `/${db}/_purge`, { body: revs as object });

/** The rows of the view `by_n`: ids and numbers. */
async function rowsOf(db: string): Promise<readonly (readonly unknown[])[]> {
  const { body } = await request('GET', `/${db}/_design/app/_view/by_n`);
  return (body.rows as readonly Row[]).map(({ id, key }) => [id, key]);
}

async function changedIds(db: string): Promise<readonly string[]> {
  const { body } = await request('GET', `/${db}/_changes`);
  return (body.results ?? []).map(({ id }) => id).toSorted();
}

async function tombstoneOf(db: string, id: string): Promise<string> {
  const first = await store(db, { _id: id, n: 1 });
  const { body } = await request('DELETE', `/${db}/${id}?rev=${first}`);
  return body.rev as string;
}

/** A document with two leaves of the second generation; the second one wins. */
async function storeConflict(db: string): Promise<void> {
  const leaf = (letter: string, n: number) => ({
    ...{ _id: 'doc', _rev: rev(2, letter), n },
    _revisions: { start: 2, ids: [letter.repeat(32), 'a'.repeat(32)] },
  });
  const docs = [leaf('b', 1), leaf('c', 2)];
  await request('POST', `/${db}/_bulk_docs`, { body: { docs, new_edits: false } });
}

check('purges a document: nothing of it is left', async () => {
  const db = await freshDatabase();
  await store(db, byNumber);
  await store(db, { _id: 'other', n: 2 });
  const first = await store(db, { _id: 'doc', n: 1 });
  expect(await rowsOf(db)).toEqual([
    ['doc', 1],
    ['other', 2],
  ]);
  const before = await request('GET', `/${db}`);
  const { status, body } = await purge(db, { doc: [first] });
  expect(status).toBe(201);
  expect(body).toEqual({ purge_seq: null, purged: { doc: [first] } });
  const read = await request('GET', `/${db}/doc`);
  expect(read.status).toBe(404);
  expect(read.body.reason).toBe('missing');
  expect((await request('GET', `/${db}/doc?rev=${first}`)).status).toBe(404);
  expect(await changedIds(db)).toEqual(['_design/app', 'other']);
  expect(await rowsOf(db)).toEqual([['other', 2]]);
  const after = await request('GET', `/${db}`);
  expect(after.body['doc_count']).toBe(2);
  expect(after.body['purge_seq']).not.toBe(before.body['purge_seq']);
  expect(await store(db, { _id: 'doc', n: 3 })).toMatch(/^1-/);
  expect(await rowsOf(db)).toEqual([
    ['other', 2],
    ['doc', 3],
  ]);
});

check('purges a tombstone', async () => {
  const db = await freshDatabase();
  const tombstone = await tombstoneOf(db, 'doc');
  expect((await purge(db, { doc: [tombstone] })).body['purged']).toEqual({ doc: [tombstone] });
  expect((await request('GET', `/${db}/doc`)).body.reason).toBe('missing');
  expect(await changedIds(db)).toEqual([]);
  expect((await request('GET', `/${db}`)).body['doc_del_count']).toBe(0);
});

check('purges one leaf of a conflict: the other one is shown as a new change', async () => {
  const db = await freshDatabase();
  await store(db, byNumber);
  await storeConflict(db);
  expect(await rowsOf(db)).toEqual([['doc', 2]]);
  const { body } = await request('GET', `/${db}/_changes`);
  const { body: purged } = await purge(db, { doc: [rev(2, 'c')] });
  expect(purged['purged']).toEqual({ doc: [rev(2, 'c')] });
  const read = await request('GET', `/${db}/doc?conflicts=true&revs=true`);
  expect(read.body).toEqual({
    ...{ _id: 'doc', _rev: rev(2, 'b'), n: 1 },
    _revisions: { start: 2, ids: ['b'.repeat(32), 'a'.repeat(32)] },
  });
  expect(await rowsOf(db)).toEqual([['doc', 1]]);
  const next = await request('GET', `/${db}/_changes?since=${body.last_seq}`);
  expect(next.body.results).toMatchObject([{ id: 'doc', changes: [{ rev: rev(2, 'b') }] }]);
  expect(await store(db, { _id: 'doc', _rev: rev(2, 'b'), n: 4 })).toMatch(/^3-/);
});

check('purges only leaves that a document has', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc', n: 1 });
  const second = await store(db, { _id: 'doc', _rev: first, n: 2 });
  const wanted = { doc: [first, rev(9, 'f')], none: [rev(1, 'a')], '_local/x': ['0-1'], empty: [] };
  const { status, body } = await purge(db, wanted);
  expect(status).toBe(201);
  expect(body['purged']).toEqual({ doc: [], none: [], '_local/x': [], empty: [] });
  expect((await request('GET', `/${db}/doc`)).body).toEqual({ _id: 'doc', _rev: second, n: 2 });
});

const keepsRows = async (expected: readonly unknown[]): Promise<void> => {
  const db = await freshDatabase();
  await store(db, byNumber);
  const tombstone = await tombstoneOf(db, 'doc');
  await store(db, { _id: 'doc', n: 3 });
  expect(await rowsOf(db)).toEqual([['doc', 3]]);
  expect((await purge(db, { doc: [tombstone] })).body['purged']).toEqual({ doc: [] });
  expect(await rowsOf(db)).toEqual(expected);
};
check(
  'keeps the rows of a document that was made again before its tombstone was to be purged',
  () => keepsRows([['doc', 3]]),
  () => keepsRows([]),
);

check('purges a design document: its views are no more', async () => {
  const db = await freshDatabase();
  const design = await store(db, { ...byNumber, validate_doc_update: 'function () { throw 1; }' });
  await purge(db, { '_design/app': [design] });
  expect((await request('GET', `/${db}/_design/app`)).status).toBe(404);
  await expect
    .poll(async () => (await request('PUT', `/${db}/doc`, { body: {} })).status)
    .toBe(201);
});

check('refuses what is no list of revisions', async () => {
  const db = await freshDatabase();
  const refused: readonly (readonly [unknown, string])[] = [
    [[], 'Request body must be a JSON object'],
    [{ doc: 'x' }, 'Invalid list of revisions'],
    [{ doc: [1] }, 'Invalid rev format'],
    [{ doc: ['x'] }, 'Invalid rev format'],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`doc-${i}`, [rev(1, 'a')]])),
      'Exceeded maximum number of documents.',
    ],
  ];
  for (const [body, reason] of refused) {
    const answer = await purge(db, body);
    expect([answer.status, answer.body]).toEqual([400, { error: 'bad_request', reason }]);
  }
  expect((await purge(db, {})).body).toEqual({ purge_seq: null, purged: {} });
  expect((await request('GET', `/${db}/_purge`)).status).toBe(405);
});

check('has a limit of the purges that are remembered', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_purged_infos_limit`;
  expect((await request<unknown>('GET', path)).body).toBe(1000);
  expect((await request('PUT', path, { body: 'x' })).status).toBe(400);
  expect((await request('PUT', path, { body: 5 })).body).toEqual({ ok: true });
  expect((await request<unknown>('GET', path)).body).toBe(5);
});
