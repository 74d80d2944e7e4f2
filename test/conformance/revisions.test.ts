import { expect } from 'vitest';
import { freshDatabase, request, store } from '../support/couch.js';
import type { Document } from '../support/couch.js';
import { check } from './check.js';

const rev1 = '1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const rev2 = '1-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';

check('lists the revisions of a document', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc' });
  const second = await store(db, { _id: 'doc', _rev: first, a: 1 });
  const info = await request('GET', `/${db}/doc?revs_info=true`);
  expect(info.body['_revs_info']).toMatchObject([
    { rev: second, status: 'available' },
    { rev: first, status: expect.stringMatching(/^(available|missing)$/) as string },
  ]);
  const revs = await request('GET', `/${db}/doc?revs=true`);
  expect(revs.body['_revisions']).toEqual({
    start: 2,
    ids: [second.slice(2), first.slice(2)],
  });
});

check('reads a revision by its name', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc', a: 1 });
  const read = await request('GET', `/${db}/doc?rev=${rev}`);
  expect(read.body).toEqual({ _id: 'doc', _rev: rev, a: 1 });
  const missing = await request('GET', `/${db}/doc?rev=${rev1}`);
  expect(missing.status).toBe(404);
  expect(missing.body).toEqual({ error: 'not_found', reason: 'missing' });
});

check('deletes a document and starts its next life from the tombstone', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc', a: 1 });
  const gone = await request('DELETE', `/${db}/doc?rev=${first}`);
  expect(gone.status).toBe(200);
  expect(gone.body).toMatchObject({
    ok: true,
    id: 'doc',
    rev: expect.stringMatching(/^2-/) as string,
  });
  const read = await request('GET', `/${db}/doc`);
  expect(read.status).toBe(404);
  expect(read.body).toEqual({ error: 'not_found', reason: 'deleted' });
  const tombstone = await request('GET', `/${db}/doc?rev=${gone.body.rev}`);
  expect(tombstone.body).toEqual({ _id: 'doc', _rev: gone.body.rev, _deleted: true });
  const again = await store(db, { _id: 'doc', a: 2 });
  expect(Number.parseInt(again)).toBeGreaterThanOrEqual(3);
  expect((await request('GET', `/${db}/doc`)).body).toMatchObject({ a: 2, _rev: again });
});

check('tells a missing document from a deleted one', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('GET', `/${db}/doc`);
  expect(status).toBe(404);
  expect(body).toEqual({ error: 'not_found', reason: 'missing' });
});

check('refuses to delete without the revision, and what is not there', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  expect((await request('DELETE', `/${db}/doc`)).status).toBe(409);
  expect((await request('DELETE', `/${db}/doc?rev=${rev1}`)).status).toBe(409);
  expect((await request('DELETE', `/${db}/missing?rev=${rev1}`)).status).toBe(404);
});

check('deletes by a body that says so and keeps the other fields', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc' });
  const gone = await request('PUT', `/${db}/doc`, {
    body: { _rev: first, _deleted: true, why: 'done' },
  });
  expect(gone.status).toBe(200);
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
  const tombstone = await request('GET', `/${db}/doc?rev=${gone.body.rev}`);
  expect(tombstone.body).toMatchObject({ _deleted: true, why: 'done' });
});

check('keeps both revisions of a conflict and picks the same winner everywhere', async () => {
  for (const revs of [
    [rev1, rev2],
    [rev2, rev1],
  ]) {
    const db = await freshDatabase();
    for (const _rev of revs) await replicate(db, [{ _id: 'doc', _rev, from: _rev }]);
    const { body } = await request('GET', `/${db}/doc?conflicts=true`);
    expect(body).toEqual({ _id: 'doc', _rev: rev2, from: rev2, _conflicts: [rev1] });
  }
});

check('prefers the longer history, and any living revision to a tombstone', async () => {
  const db = await freshDatabase();
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(32));
  await replicate(db, [
    { _id: 'long', _rev: `1-${c}` },
    { _id: 'long', _rev: `2-${a}`, _revisions: { start: 2, ids: [a, b] } },
    { _id: 'alive', _rev: `1-${a}` },
    { _id: 'alive', _rev: `2-${c}`, _revisions: { start: 2, ids: [c, b] }, _deleted: true },
  ]);
  expect((await request('GET', `/${db}/long`)).body._rev).toBe(`2-${a}`);
  const alive = await request('GET', `/${db}/alive?deleted_conflicts=true`);
  expect(alive.body).toMatchObject({ _rev: `1-${a}`, _deleted_conflicts: [`2-${c}`] });
});

check('ends a conflict when the losing revision is deleted', async () => {
  const db = await freshDatabase();
  await replicate(db, [
    { _id: 'doc', _rev: rev1 },
    { _id: 'doc', _rev: rev2 },
  ]);
  expect((await request('DELETE', `/${db}/doc?rev=${rev1}`)).status).toBe(200);
  const { body } = await request('GET', `/${db}/doc?conflicts=true`);
  expect(body).toEqual({ _id: 'doc', _rev: rev2 });
});

check('lets the loser win when the winning revision is deleted', async () => {
  const db = await freshDatabase();
  await replicate(db, [
    { _id: 'doc', _rev: rev1, from: 'one' },
    { _id: 'doc', _rev: rev2, from: 'two' },
  ]);
  expect((await request('DELETE', `/${db}/doc?rev=${rev2}`)).status).toBe(200);
  expect((await request('GET', `/${db}/doc`)).body).toMatchObject({ _rev: rev1, from: 'one' });
});

check('reads all leaves of a document at once', async () => {
  const db = await freshDatabase();
  await replicate(db, [
    { _id: 'doc', _rev: rev1, from: 'one' },
    { _id: 'doc', _rev: rev2, from: 'two' },
  ]);
  await request('DELETE', `/${db}/doc?rev=${rev1}`);
  type Leaf = { ok: Document };
  const { status, body } = await request<Leaf[]>('GET', `/${db}/doc?open_revs=all&r=1`);
  expect(status).toBe(200);
  expect(body.map(({ ok }) => ok._deleted ?? false).sort()).toEqual([false, true]);
  expect(body.find(({ ok }) => ok._rev === rev2)?.ok).toMatchObject({ from: 'two' });
});

check('reads the leaves that are asked for and names those it does not have', async () => {
  const db = await freshDatabase();
  await replicate(db, [{ _id: 'doc', _rev: rev1, a: 1 }]);
  const asked = encodeURIComponent(JSON.stringify([rev1, rev2]));
  const { body } = await request<unknown[]>('GET', `/${db}/doc?open_revs=${asked}`);
  expect(body).toHaveLength(2);
  expect(body).toContainEqual({ ok: { _id: 'doc', _rev: rev1, a: 1 } });
  expect(body).toContainEqual({ missing: rev2 });
});

check('stores a revision as given with new_edits=false', async () => {
  const db = await freshDatabase();
  const put = await request('PUT', `/${db}/doc?new_edits=false`, { body: { _rev: rev1, a: 1 } });
  expect(put.status).toBe(201);
  expect(put.body.rev).toBe(rev1);
  const again = await request('PUT', `/${db}/doc?new_edits=false`, { body: { _rev: rev1, a: 1 } });
  expect(again.status).toBe(201);
  expect((await request('GET', `/${db}/doc?conflicts=true`)).body).toEqual({
    _id: 'doc',
    _rev: rev1,
    a: 1,
  });
});

check('tells which revisions it lacks', async () => {
  const db = await freshDatabase();
  await replicate(db, [{ _id: 'doc', _rev: rev1 }]);
  const { status, body } = await request('POST', `/${db}/_revs_diff`, {
    body: { doc: [rev1, rev2], other: [rev2] },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ doc: { missing: [rev2] }, other: { missing: [rev2] } });
});

async function replicate(db: string, docs: readonly Document[]): Promise<void> {
  const { status, body } = await request('POST', `/${db}/_bulk_docs`, {
    body: { docs, new_edits: false },
  });
  expect(status).toBe(201);
  expect(body).toEqual([]);
}
