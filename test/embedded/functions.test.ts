import { beforeAll, expect, test } from 'vitest';

import { ownServer, type OwnServer, type Reply } from './own-server.js';

async function serverWithDocs(limits: { readonly functionMs?: number }): Promise<OwnServer> {
  const made = await ownServer(undefined, limits);
  await made.request('PUT', '/db');
  const docs = Array.from({ length: 5 }, (_, n) => ({ _id: `d${n}`, n }));
  await made.request('POST', '/db/_bulk_docs', { docs });
  return made;
}

/** It gives functions less time than usual, so that nobody has to wait for long. */
let server: OwnServer;
beforeAll(async () => {
  server = await serverWithDocs({ functionMs: 700 });
});

const storeView = (name: string, map: string, on = server): Promise<Reply> =>
  on.request('PUT', `/db/_design/${name}`, { views: { v: { map } } });
const readView = (name: string, on = server): Promise<Reply> =>
  on.request('GET', `/db/_design/${name}/_view/v`);

const timed = async (run: () => Promise<Reply>): Promise<Reply & { ms: number }> => {
  const begun = performance.now();
  const reply = await run();
  return { ...reply, ms: performance.now() - begun };
};

test('stops an endless map function after 5 s, without holding up other requests', async () => {
  const usual = await serverWithDocs({});
  await storeView('loop', 'function (doc) { for (;;) {} }', usual);
  await storeView('good', 'function (doc) { emit(doc.n); }', usual);
  const looping = timed(() => readView('loop', usual));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const others = await Promise.all([
    timed(() => usual.request('GET', '/db/d1')),
    timed(() => usual.request('PUT', '/db/during', {})),
    timed(() => readView('good', usual)),
  ]);
  for (const other of others) {
    expect(other.status).toBeLessThan(300);
    // The loop is ended after 5 s: whoever waited for it would take longer.
    expect(other.ms).toBeLessThan(4_900);
  }
  const stopped = await looping;
  expect(stopped).toMatchObject({ status: 500, body: { error: 'timeout' } });
  expect(stopped.ms).toBeGreaterThan(4_500);
});

test('sets a function aside that ran too long, until its document changes', async () => {
  await storeView('aside', 'function (doc) { for (;;) {} }');
  await readView('aside');
  const again = await timed(() => readView('aside'));
  expect(again.status).toBe(500);
  expect(again.ms).toBeLessThan(4_900);
  const { body } = await server.request('GET', '/db/_design/aside');
  const views = { v: { map: 'function (doc) { emit(doc._id); }' } };
  await server.request('PUT', '/db/_design/aside', { ...body, views });
  expect((await readView('aside')).status).toBe(200);
});

for (const [title, body] of [
  ['a regular expression that backtracks for ever', "/^(a+)+$/.test('a'.repeat(50) + '!');"],
  ['a loop that catches its own interruption', 'for (;;) { try { for (;;) {} } catch (e) {} }'],
  ['a function that fills the memory', "var a = []; for (;;) a.push(new Array(1e5).fill('x'));"],
  [
    'a native call that takes for ever',
    'for (;;) JSON.stringify(new Array(1e6).fill("aaaaaaaa"));',
  ],
] as const) {
  test(`answers 500 to ${title}, and lives`, async () => {
    const name = title.replaceAll(' ', '-');
    await storeView(name, `function (doc) { ${body} }`);
    expect((await readView(name)).status).toBe(500);
    expect((await server.request('GET', '/db/d1')).status).toBe(200);
  });
}

test('takes recursion without end as an error of that document', async () => {
  await storeView('deep', 'function deep(doc) { return deep(doc) + 1; }');
  expect(await readView('deep')).toMatchObject({ status: 200, body: { total_rows: 0 } });
});

test('shows nothing of the host to a function', async () => {
  const names = ['process', 'Buffer', 'fetch', 'setTimeout', 'WebAssembly', 'Worker'];
  const probe = names.map((name) => `typeof ${name}`).join(', ');
  const escape = "this.constructor.constructor('return typeof process')()";
  await storeView('escape', `function (doc) { if (doc.n === 1) emit([${probe}, ${escape}]); }`);
  const { body } = await readView('escape');
  const [row] = body['rows'] as { key: string[] }[];
  expect(new Set(row?.key)).toEqual(new Set(['undefined']));
});

test('keeps documents out while a validation function cannot be run', async () => {
  await server.request('PUT', '/guarded');
  const vdu = { validate_doc_update: 'function () { for (;;) {} }' };
  await server.request('PUT', '/guarded/_design/v', vdu);
  const refused = await server.request('PUT', '/guarded/doc', {});
  expect(refused).toMatchObject({ status: 500, body: { error: 'timeout' } });
  expect((await server.request('GET', '/guarded/doc')).status).toBe(404);
  const { body } = await server.request('GET', '/guarded/_design/v');
  await server.request('DELETE', `/guarded/_design/v?rev=${String(body['_rev'])}`);
  expect((await server.request('PUT', '/guarded/doc', {})).status).toBe(201);
});

test('stops a regular expression of a selector that backtracks for ever', async () => {
  await server.request('PUT', '/texts');
  await server.request('PUT', '/texts/doc', { text: `${'a'.repeat(50)}!` });
  const selector = { text: { $regex: '^(a+)+$' } };
  expect((await server.request('POST', '/texts/_find', { selector })).status).toBe(500);
  expect((await server.request('GET', '/texts/doc')).status).toBe(200);
});

test('lets map functions use modules of views.lib', async () => {
  await server.request('PUT', '/db/_design/lib', {
    views: {
      lib: { double: 'exports.of = function (n) { return n * 2; };' },
      v: { map: "function (doc) { if (doc.n) emit(require('views/lib/double').of(doc.n)); }" },
    },
  });
  const { body } = await readView('lib');
  expect((body['rows'] as { key: number }[]).map(({ key }) => key)).toEqual([2, 4, 6, 8]);
});
