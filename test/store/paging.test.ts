import { listening } from '../support/listening.js';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createPageSize, pagesOf } from '../../src/store/paging.js';
import { openStore } from '../../src/store/store.js';
import type { ViewQuery, ViewRow } from '../../src/store/views.js';

type Wanted = { readonly docs: readonly { readonly id: string }[] };

/** A database of heavy documents; answers views and `_bulk_get`, and writes down what was asked for. */
async function heavyDatabase(count: number, bytes: number) {
  const answers: { readonly asked: number; readonly bytes: number }[] = [];
  const text = 'x'.repeat(bytes);
  const idOf = (n: number): string => `job-${String(n).padStart(4, '0')}`;
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const wanted =
        body === '' ? undefined : (JSON.parse(body) as Wanted).docs.map(({ id }) => id);
      const all = wanted ?? Array.from({ length: count }, (_, n) => idOf(n));
      const from = query.get('start_key_doc_id') ?? '';
      const asked = Number(query.get('limit') ?? all.length);
      const ids = all.filter((id) => id >= from).slice(0, asked);
      response.setHeader('content-type', 'application/json');
      response.write(wanted === undefined ? '{"rows":[\n' : '{"results":[\n');
      let sent = 0;
      const next = (at: number): void => {
        const id = ids[at];
        if (id === undefined || response.destroyed) {
          answers.push({ asked, bytes: sent });
          return void response.end(']}');
        }
        const doc = { _id: id, _rev: '1-a', type: 'job', text };
        const more = query.get('include_docs') === 'true' ? { doc } : {};
        const view = { id, key: null, value: null, ...more };
        const row = JSON.stringify(wanted === undefined ? view : { id, docs: [{ ok: doc }] });
        sent += row.length;
        response.write(`${at === 0 ? '' : ',\n'}${row}`, () => next(at + 1));
      };
      next(0);
    });
  });
  const store = openStore({ url: await listening(server), database: 'd', app: 'a' });
  onTestFinished(() => store.close());
  return { store, answers, ids: Array.from({ length: count }, (_, n) => idOf(n)) };
}

const most = 16_000_000;

test('pages of heavy documents are short, and none is missed', async () => {
  const { store, answers, ids } = await heavyDatabase(60, 2_000_000);
  for (let round = 0; round < 2; round += 1) {
    const found: string[] = [];
    for await (const { doc } of store.rows('awake', { includeDocs: true })) {
      found.push(String(doc?._id));
    }
    expect(found).toEqual(ids);
  }
  // What is longer than it may be is cut off, and what was learnt holds for the next time.
  const cut = answers.filter(({ bytes }) => bytes > most);
  expect(Math.max(...answers.map(({ bytes }) => bytes))).toBeLessThan(4 * most);
  expect(cut.length).toBeLessThan(answers.length / 2);
});

test('a document that is longer than a page alone is read all the same', async () => {
  const { store, ids } = await heavyDatabase(3, most + 1_000_000);
  const found: string[] = [];
  for await (const { id } of store.rows('awake', { includeDocs: true })) found.push(id);
  expect(found).toEqual(ids);
});

test('documents are read by their ids, and with the rows of a view, some at a time', async () => {
  const { store, ids } = await heavyDatabase(30, 2_000_000);
  expect([...(await store.getMany(ids)).keys()]).toEqual(ids);
  const rows = await store.view('flows', { includeDocs: true });
  expect(rows.map(({ id, doc }) => [id, doc?._id])).toEqual(ids.map((id) => [id, id]));
});

test('a document with more rows at one place than a page has is read to its end', async () => {
  const place = (id: string, key: string, count: number): readonly object[] =>
    Array.from({ length: count }, (_, n) => ({ id, key, value: n }));
  const all = [
    ...place('a', 'x', 1_300),
    ...place('a', 'y', 2),
    ...place('b', 'y', 700),
    ...place('c', 'z', 1),
  ] as ViewRow<'waiting'>[];
  const read = (query: ViewQuery) => {
    const isThere = ({ id, key }: { readonly id: string; readonly key: unknown }): boolean =>
      key === query.startKey && id === query.startKeyDocId;
    const from = query.startKey === undefined ? 0 : all.findIndex(isThere);
    return Promise.resolve(all.slice(from, from + (query.limit ?? all.length)));
  };
  const found: unknown[] = [];
  for await (const row of pagesOf(read, {}, createPageSize(500))) found.push(row);
  expect(found).toEqual(all);
});
