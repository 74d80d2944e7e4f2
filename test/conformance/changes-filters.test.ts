import { beforeAll, describe, expect } from 'vitest';
import { freshDatabase, openFeed, request, store, storeAll } from '../support/couch.js';
import type { Feed, RequestOptions } from '../support/couch.js';
import { check } from './check.js';

const design = {
  _id: '_design/app',
  views: { jobs: { map: "function (doc) { if (doc.type === 'job') emit(doc._id); }" } },
  filters: {
    of_type: 'function (doc, req) { return doc.type === req.query.type; }',
    deleted: 'function (doc, req) { return doc._deleted === true; }',
    by_user: "function (doc, req) { return req.userCtx.roles.indexOf('_admin') >= 0; }",
  },
};

const docs = [
  { _id: 'job-1', type: 'job', state: 'ready' },
  { _id: 'job-2', type: 'job', state: 'done' },
  { _id: 'flow-1', type: 'flow' },
];

describe('a filter of a feed', () => {
  let db = '';
  beforeAll(async () => {
    db = await freshDatabase();
    await storeAll(db, [...docs, design]);
  });

  for (const [title, query, body, expected] of [
    ['by ids', 'filter=_doc_ids', { doc_ids: ['job-1', 'flow-1'] }, ['flow-1', 'job-1']],
    ['by a selector', 'filter=_selector', { selector: { type: 'job' } }, ['job-1', 'job-2']],
    ['by a view', 'filter=_view&view=app/jobs', undefined, ['job-1', 'job-2']],
    ['for design documents', 'filter=_design', undefined, ['_design/app']],
    ['by a function', 'filter=app/of_type&type=flow', undefined, ['flow-1']],
    [
      'by a function that sees the user',
      'filter=app/by_user',
      undefined,
      ['_design/app', 'flow-1', 'job-1', 'job-2'],
    ],
  ] as const) {
    const feed = (style: string): string => `/${db}/_changes?feed=${style}&${query}`;
    const method = body === undefined ? 'GET' : 'POST';

    check(`selects changes ${title} in a normal feed`, async () => {
      const answer = await request(method, feed('normal'), { body });
      expect(answer.status).toBe(200);
      expect(answer.body.results?.map(({ id }) => id).sort()).toEqual(expected);
      expect(answer.body.last_seq).toEqual(expect.any(String));
    });

    check(`selects changes ${title} in a longpoll feed`, async () => {
      const answer = await request(method, feed('longpoll'), { body });
      expect(answer.body.results?.map(({ id }) => id).sort()).toEqual(expected);
    });

    check(`selects changes ${title} in a continuous feed`, async () => {
      const ids = await readAll(method, `${feed('continuous')}&timeout=500`, { body });
      expect(ids.sort()).toEqual(expected);
    });
  }
});

check('takes doc_ids in the query', async () => {
  const db = await freshDatabase();
  await storeAll(db, docs);
  const ids = encodeURIComponent(JSON.stringify(['job-2']));
  const { body } = await request('GET', `/${db}/_changes?filter=_doc_ids&doc_ids=${ids}`);
  expect(body.results?.map(({ id }) => id)).toEqual(['job-2']);
});

check('counts only what a filter lets through against the limit', async () => {
  const db = await freshDatabase();
  await storeAll(db, [
    ...Array.from({ length: 20 }, (_, n) => ({ _id: `other-${n}` })),
    { _id: 'job-1', type: 'job' },
  ]);
  const { body } = await request('POST', `/${db}/_changes?filter=_selector&limit=1`, {
    body: { selector: { type: 'job' } },
  });
  expect(body.results?.map(({ id }) => id)).toEqual(['job-1']);
});

check('shows deleted documents to a filter', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc' });
  await storeAll(db, [design, { _id: 'here' }]);
  await request('DELETE', `/${db}/doc?rev=${rev}`);
  const { body } = await request('GET', `/${db}/_changes?filter=app/deleted`);
  expect(body.results?.map(({ id }) => id)).toEqual(['doc']);
});

check('wakes a filtered longpoll for what it selects and for nothing else', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_changes?feed=longpoll&since=now&filter=_selector&timeout=20000`;
  const feed = await openFeed('POST', `${path}&heartbeat=200`, {
    body: { selector: { type: 'job' } },
  });
  await feed.line();
  await store(db, { _id: 'flow', type: 'flow' });
  await store(db, { _id: 'job', type: 'job' });
  const text = await rest(feed);
  expect(text).toContain('"id":"job"');
  expect(text).not.toContain('"id":"flow"');
});

check('passes new changes through the filter of a continuous feed', async () => {
  const db = await freshDatabase();
  await store(db, design);
  for (const [query, body] of [
    ['filter=_selector', { selector: { type: 'job' } }],
    ['filter=_view&view=app/jobs', undefined],
    ['filter=app/of_type&type=job', undefined],
  ] as const) {
    const path = `/${db}/_changes?feed=continuous&since=now&heartbeat=200&${query}`;
    const feed = await openFeed(body === undefined ? 'GET' : 'POST', path, { body });
    await feed.line();
    const id = query.length.toString();
    await store(db, { _id: `flow-${id}`, type: 'flow' });
    await store(db, { _id: `job-${id}`, type: 'job' });
    expect((await feed.change())?.id).toBe(`job-${id}`);
    feed.close();
  }
});

async function readAll(method: string, path: string, options: RequestOptions): Promise<string[]> {
  const feed = await openFeed(method, path, options);
  expect(feed.status).toBe(200);
  const ids: string[] = [];
  for (let change = await feed.change(); change !== undefined; change = await feed.change()) {
    if (change.last_seq === undefined) ids.push(change.id);
  }
  return ids;
}

async function rest(feed: Feed): Promise<string> {
  let text = '';
  for (let line = await feed.line(); line !== undefined; line = await feed.line()) text += line;
  return text;
}
