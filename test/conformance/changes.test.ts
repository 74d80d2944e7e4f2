import { expect } from 'vitest';
import { freshDatabase, request, store, storeAll } from '../support/couch.js';
import type { Answer, Change, CouchBody } from '../support/couch.js';
import { check } from './check.js';

check('lists every changed document once, with its last revision', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'a' });
  await store(db, { _id: 'b' });
  const second = await store(db, { _id: 'a', _rev: first, n: 2 });
  const { status, body } = await request('GET', `/${db}/_changes`);
  expect(status).toBe(200);
  expect(idsOf(body.results)).toEqual(['a', 'b']);
  const a = body.results?.find(({ id }) => id === 'a');
  expect(a).toEqual({ seq: expect.any(String) as string, id: 'a', changes: [{ rev: second }] });
  expect(body).toMatchObject({ last_seq: expect.any(String) as string, pending: 0 });
});

check('goes on after the sequence it is given', async () => {
  const db = await freshDatabase();
  await storeAll(db, [{ _id: 'a' }, { _id: 'b' }]);
  const { body: before } = await request('GET', `/${db}/_changes`);
  await storeAll(db, [{ _id: 'c' }, { _id: 'd' }]);
  const { body: after } = await changesSince(db, before.last_seq ?? '');
  expect(idsOf(after.results)).toEqual(['c', 'd']);
  const { body: none } = await changesSince(db, after.last_seq ?? '');
  expect(none.results).toEqual([]);
});

check('reads all changes page by page, none twice and none left out', async () => {
  const db = await freshDatabase();
  const ids = Array.from({ length: 25 }, (_, n) => `doc-${String(n).padStart(2, '0')}`);
  await storeAll(
    db,
    ids.map((_id) => ({ _id })),
  );
  const seen: string[] = [];
  let since = '0';
  for (let pending = 1; pending > 0;) {
    const { body } = await changesSince(db, since, '&limit=10');
    expect(body.results?.length).toBeLessThanOrEqual(10);
    seen.push(...(body.results ?? []).map(({ id }) => id));
    since = body.last_seq ?? '';
    pending = body['pending'] as number;
  }
  expect(seen.sort()).toEqual(ids);
});

check('goes on from the sequence of any single change', async () => {
  const db = await freshDatabase();
  const ids = Array.from({ length: 12 }, (_, n) => ({ _id: `doc-${n}` }));
  await storeAll(db, ids);
  const { body } = await request('GET', `/${db}/_changes`);
  const results = body.results ?? [];
  for (const [n, { seq }] of results.entries()) {
    const rest = await changesSince(db, seq);
    expect(idsOf(rest.body.results)).toEqual(idsOf(results.slice(n + 1)));
  }
});

check('gives nothing from now on when nothing happened', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const { body } = await request('GET', `/${db}/_changes?since=now`);
  expect(body.results).toEqual([]);
  expect(body.last_seq).toEqual(expect.any(String));
  await store(db, { _id: 'next' });
  expect(idsOf((await changesSince(db, body.last_seq ?? '')).body.results)).toEqual(['next']);
});

check('takes the sequence that the database tells as a starting point', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'before' });
  const { body } = await request('GET', `/${db}`);
  await store(db, { _id: 'after' });
  expect(idsOf((await changesSince(db, body.update_seq ?? '')).body.results)).toEqual(['after']);
});

check('includes the documents, and their conflicts', async () => {
  const db = await freshDatabase();
  const [one, two] = [`1-${'a'.repeat(32)}`, `1-${'b'.repeat(32)}`];
  await replicate(db, [
    { _id: 'doc', _rev: one },
    { _id: 'doc', _rev: two, n: 2 },
  ]);
  const { body } = await request('GET', `/${db}/_changes?include_docs=true&conflicts=true`);
  expect(body.results?.[0]).toMatchObject({
    id: 'doc',
    changes: [{ rev: two }],
    doc: { _id: 'doc', _rev: two, n: 2, _conflicts: [one] },
  });
});

check('lists the winner only, or all leaves with style=all_docs', async () => {
  const db = await freshDatabase();
  const [one, two] = [`1-${'a'.repeat(32)}`, `1-${'b'.repeat(32)}`];
  await replicate(db, [
    { _id: 'doc', _rev: one },
    { _id: 'doc', _rev: two },
  ]);
  const main = await request('GET', `/${db}/_changes`);
  expect(main.body.results?.[0]?.changes).toEqual([{ rev: two }]);
  const all = await request('GET', `/${db}/_changes?style=all_docs`);
  const revs = all.body.results?.[0]?.changes.map(({ rev }) => rev);
  expect(revs?.slice().sort()).toEqual([one, two]);
});

check('marks deleted documents', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc', a: 1 });
  const gone = await request('DELETE', `/${db}/doc?rev=${rev}`);
  const { body } = await request('GET', `/${db}/_changes?include_docs=true`);
  expect(body.results).toMatchObject([
    {
      id: 'doc',
      deleted: true,
      changes: [{ rev: gone.body.rev }],
      doc: { _id: 'doc', _rev: gone.body.rev, _deleted: true },
    },
  ]);
});

check('lists the changes backwards', async () => {
  const db = await freshDatabase();
  await storeAll(db, [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]);
  const { status, body } = await request('GET', `/${db}/_changes?descending=true`);
  expect(status).toBe(200);
  expect(idsOf(body.results)).toEqual(['a', 'b', 'c']);
  const one = await request('GET', `/${db}/_changes?descending=true&limit=1`);
  expect(one.body.results).toHaveLength(1);
});

check('takes the parameters of a feed by POST too', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const { status, body } = await request('POST', `/${db}/_changes?include_docs=true`, { body: {} });
  expect(status).toBe(200);
  expect(body.results).toMatchObject([{ id: 'doc', doc: { _id: 'doc' } }]);
});

check('refuses malformed parameters of a feed', async () => {
  const db = await freshDatabase();
  for (const [query, status] of [
    ['since=bogus', 400],
    ['feed=bogus', 400],
    ['filter=_bogus', 400],
    ['filter=app/none', 404],
    ['filter=_view', 400],
  ] as const) {
    const answer = await request('GET', `/${db}/_changes?${query}`);
    expect({ query, status: answer.status }).toEqual({ query, status });
    expect(answer.body.error).toEqual(expect.any(String));
  }
});

function idsOf(results: readonly Change[] | undefined): readonly string[] {
  return (results ?? []).map(({ id }) => id).sort();
}

function changesSince(db: string, seq: string, more = ''): Promise<Answer<CouchBody>> {
  return request('GET', `/${db}/_changes?since=${encodeURIComponent(seq)}${more}`);
}

async function replicate(db: string, docs: readonly object[]): Promise<void> {
  await request('POST', `/${db}/_bulk_docs`, { body: { docs, new_edits: false } });
}
