import { connect } from 'node:net';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi, type TestApi } from './server.js';

/** A request whose path goes over the wire as it is. */
function asIs(
  api: TestApi,
  method: string,
  path: string,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk: string) => (text += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

/** What the database holds, to see that nothing changed. */
async function contents({ client }: TestApi): Promise<string> {
  const { jobs } = await client.search({}, { limit: 100, now: 0 });
  const definitions = [
    ...(await client.definitions('task')),
    ...(await client.definitions('flow')),
  ];
  return JSON.stringify([...jobs, ...definitions]);
}

describe('hostile requests', () => {
  it('reach no other document and no file by their path', async () => {
    const api = await openApi();
    await api.put({ ...task('t'), _id: 't' });
    const paths = [
      '/_tws/../_all_docs',
      '/_tws/jobs/../../_all_docs',
      '/_tws/jobs/..%2f..%2f_all_docs',
      '/_tws/jobs/%2e%2e%2f%2e%2e%2f_users',
      '/_tws/jobs/_design%2ftws',
      '/_tws/jobs/_local%2fx',
      '/_tws/jobs/_all_docs?include_docs=true',
      '/_tws/jobs/t',
      '/_tws/jobs/engine:x',
      '/_tws/flows/_design%2ftws',
      '/_tws/tasks/..%2f..%2f_users',
      '/_tws/docs/../../../../etc/passwd',
      '/_tws/docs/..%2f..%2fpackage.json',
      '/_tws/jobs/%00',
      '/_tws/jobs/%ff%fe',
      '/_tws/jobs/%',
      `/_tws/jobs/${'a'.repeat(5_000)}`,
      '/_tws/jobs/a/../../../..',
      '//evil.example/_tws/jobs',
      '/_tws//jobs',
    ];
    for (const path of paths) {
      const { status, text } = await asIs(api, 'GET', path);
      expect([path, [400, 404, 414].includes(status)]).toEqual([path, true]);
      expect(text).not.toMatch(/root:|"views"|"rows"/);
    }
    const absolute = await asIs(api, 'GET', 'http://evil.example/_tws/jobs');
    expect([200, 400, 404]).toContain(absolute.status);
  });

  it('with bodies that are no good are told so, and nothing changes', async () => {
    const api = await openApi();
    await api.put({ ...task('t'), _id: 't' }, { ...flow('f', ['t']), _id: 'f' });
    const before = await contents(api);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const deepObject = '{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000);
    const bodies = [
      '{"flow":"f","__proto__":{"polluted":true}}',
      '{"flow":"f","constructor":{"prototype":{"polluted":true}}}',
      '{"flow":"f","params":{"t":{"__proto__":{"polluted":true}}}}',
      '{"flow":"__proto__"}',
      deep,
      `{"flow":"f","params":${deepObject}}`,
      '{"flow":"f"',
      "{'flow':'f'}",
      '{"flow":"f"}}',
      '\u0000',
      '{"flow":"f","params":{"t":{"x":1e999999}}} trailing',
      'NaN',
      '{"flow":"f","params":{"t":{"text":"{{#each (lookup . \\"constructor\\")}}"}}}',
      '{"tasks":[{"task":"t","when":"("}]}',
    ];
    for (const body of bodies) {
      const { status, text } = await asIs(api, 'POST', '/_tws/jobs', body);
      expect([body.slice(0, 60), [400, 422].includes(status)]).toEqual([body.slice(0, 60), true]);
      expect(JSON.parse(text)).toMatchObject({ error: expect.any(String) as string });
      expect(text).not.toContain('content-type');
    }
    const { text } = await asIs(api, 'POST', '/_tws/jobs', bodies[0]);
    expect(text).toContain('which nobody may send');
    expect({}).not.toHaveProperty('polluted');
    expect(await contents(api)).toBe(before);
  });

  it('with texts that would be stored as others are refused', async () => {
    const api = await openApi();
    const before = await contents(api);
    const json = { 'content-type': 'application/json' };
    const post = (body: string | Buffer, headers: Readonly<Record<string, string>> = json) =>
      asIs(api, 'POST', '/_tws/jobs', body, headers);
    const cut = Buffer.from([0x22, 0xc3, 0x22]);
    const cases: readonly (readonly [string | Buffer, number])[] = [
      [Buffer.concat([Buffer.from('{"flow":"f","tags":['), cut, Buffer.from(']}')]), 400],
      ['{"flow":"f","params":{"a":"\\ud800"}}', 400],
      ['{"_id":"x\\ud800","flow":"f"}', 400],
      ['{"flow":"f","params":{"\\udfff":1}}', 400],
      ['{"flow":"f","params":{"a":1e999}}', 400],
    ];
    for (const [body, status] of cases)
      expect([body, (await post(body)).status]).toEqual([body, status]);
    const good = '{"flow":"f"}';
    for (const headers of [
      { 'content-type': 'application/json; charset=utf-16' },
      { ...json, 'content-encoding': 'gzip' },
    ]) {
      expect((await post(gzipSync(good), headers)).status).toBe(415);
    }
    expect(await contents(api)).toBe(before);
    const utf8 = {
      'content-type': 'application/json; charset=UTF-8',
      'content-encoding': 'identity',
    };
    expect((await post('\ufeff{"flow":"f","tags":["\u{1f600}"]}', utf8)).status).toBe(201);
  });

  const control = 'control characters';
  it.each([
    ['nothing', '', 'empty'],
    ['an underscore first', '_x', 'begin with'],
    ['one dot', '.', '"." or ".."'],
    ['two dots', '..', '"." or ".."'],
    ['a zero byte', 'a\u0000b', control],
    ['an escape sequence', 'a\u001b[2J', control],
    ['an escape sequence of one byte', 'a\u009b2J', control],
    ['an override of direction', 'a\u202eb', control],
    ['a line separator', 'a\u2028b', control],
    ['a byte order mark', '\ufeffa', control],
  ])('store nothing under an id of %s', async (_what, _id, reason) => {
    const api = await openApi();
    await api.put({ ...task('t'), _id: 't' });
    const before = await contents(api);
    const refused = async (method: string, path: string, body: unknown) => {
      const { status, text } = await asIs(api, method, `/_tws${path}`, JSON.stringify(body));
      expect([path, status]).toEqual([path, 422]);
      return text;
    };
    const job = { _id, tasks: ['t'] };
    for (const text of [
      await refused('POST', '/jobs', job),
      await refused('PUT', '/tasks/new', { ...task('new'), _id }),
      await refused('PUT', '/flows/new', { ...flow('new', ['t']), _id }),
    ]) {
      expect(JSON.parse(text)).toMatchObject({
        error: 'document_invalid',
        path: '_id',
        reason: expect.stringContaining(reason) as string,
      });
      expect(text).not.toMatch(/[\p{Cf}\p{Zl}\u007f-\u009f]/u);
    }
    const { status, body } = await api.ask('POST', '/jobs', { body: [job] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ submitted: 0, results: [{ status: 422 }] });
    expect(await contents(api)).toBe(before);
  });

  it('with very many mistakes are answered soon, and not with all of them', async () => {
    const api = await openApi();
    const many = (text: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${text}${i}`);
    const strange = `{${many('"k', 60_000)
      .map((key) => `${key}":1`)
      .join(',')}}`;
    const json = { 'content-type': 'application/json' };
    // Whoever is not signed in may send little.
    const signIn = await asIs(api, 'POST', '/_tws/session', strange, json);
    expect([signIn.status, signIn.text.length < 1_000]).toEqual([413, true]);
    const cases: readonly (readonly [string, string])[] = [
      ['/_tws/jobs/check', `{"flow":"f","tags":[${'1,'.repeat(49_000)}1]}`],
      ['/_tws/flows/check', `{"name":"f","tasks":[${'{"task":5},'.repeat(3_000)}1]}`],
      ['/_tws/jobs/x/cancel', strange],
      ['/_tws/jobs/x/cancel', strange.slice(0, 500_000).replace(/,[^,]*$/, '}')],
      ['/_tws/tokens', strange],
    ];
    for (const [path, body] of cases) {
      const began = process.cpuUsage();
      const { status, text } = await asIs(api, 'POST', path, body, json);
      expect([path, [200, 400, 404].includes(status)]).toEqual([path, true]);
      expect([path, text.length < 100_000]).toEqual([path, true]);
      // The time of the processor: others may keep the machine busy.
      const { user } = process.cpuUsage(began);
      expect([path, user < 4_000_000]).toEqual([path, true]);
    }
    const lines = await asIs(api, 'POST', '/_tws/jobs', '1\n'.repeat(2_000_000), {
      'content-type': 'application/x-ndjson',
    });
    expect(JSON.parse(lines.text)).toMatchObject({ error: 'bulk_too_many' });
  });

  it('with patterns made to take for ever are answered at once', async () => {
    const api = await openApi();
    const evil = 'a'.repeat(60_000);
    const began = performance.now();
    for (const path of [
      `/jobs?key=${evil}`,
      `/jobs?from=${'1'.repeat(30_000)}x`,
      `/jobs?wait=${'0'.repeat(10_000)}`,
      `/jobs/x?wait=${'1'.repeat(5_000)}s`,
    ]) {
      const { status } = await asIs(api, 'GET', `/_tws${path.slice(0, 15_000)}`);
      expect([400, 404, 414, 431]).toContain(status);
    }
    const texts = [
      `{{${'('.repeat(5_000)}`,
      `${'{{'.repeat(5_000)}`,
      `$match("${evil}", /(a+)+b/)`,
    ];
    for (const text of texts) {
      await api.ask('POST', '/jobs/check', {
        body: { tasks: [{ task: 't', when: text, params: { text } }] },
      });
    }
    const headers = { cookie: `tws_session=${'a;'.repeat(5_000)}`.slice(0, 8_000) };
    await api.ask('GET', '/jobs', { headers });
    await api.ask('GET', '/jobs', { headers: { authorization: `Bearer ${' '.repeat(8_000)}x` } });
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  it('with documents that take long to check are refused before they are', async () => {
    const api = await openApi();
    const before = await contents(api);
    const step = (more: object) => ({ tasks: [{ task: 't', ...more }] });
    const many = (count: number) => Array.from({ length: count }, () => 't');
    const keys = Object.fromEntries(many(30_000).map((key, i) => [`tas${key}${i}`, { a: 1 }]));
    const text = '{{a}}'.repeat(11_000);
    const properties = Object.fromEntries(
      many(3_000).map((key, i) => [`${key}${i}`, { type: 'string', pattern: '(a+)+$' }]),
    );
    const cases: readonly (readonly [string, object, string | undefined])[] = [
      ['/jobs', { tasks: many(60_000) }, undefined],
      ['/jobs', { flow: 'f', ...keys }, undefined],
      ['/jobs', step({ params: { text } }), 'tasks[0].params.text'],
      ['/jobs', step({ params: { text: '{{#if a}}'.repeat(8_000) } }), 'tasks[0].params.text'],
      ['/jobs', step({ when: `1${'+1'.repeat(60_000)}` }), 'tasks[0].when'],
      ['/jobs', { flow: 'f', locks: '(a{1,1000}){1,1000}' }, 'locks'],
      ['/jobs', { flow: 'f', locks: 'a{1,1000}'.repeat(100) }, 'locks'],
      ['/flows/f', { ...flow('f', ['t']), schema: { type: 'object', properties } }, 'schema'],
    ];
    const began = performance.now();
    for (const [path, body, at] of cases) {
      const answer = await api.ask(path === '/jobs' ? 'POST' : 'PUT', path, { body });
      expect([at, answer.status, answer.body['path']]).toEqual([at, 422, at]);
      const check = await api.ask('POST', `${path === '/jobs' ? path : '/flows'}/check`, { body });
      expect(check.body).toMatchObject({ ok: false });
    }
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(await contents(api)).toBe(before);
  });

  it('with many documents leave others their turn', async () => {
    const api = await openApi();
    const text = '{{a}}'.repeat(150);
    const bulk = Array.from({ length: 5_000 }, () => ({ tasks: [], params: { a: { text } } }));
    const bad = [...bulk, { tasks: 7 }];
    let longest = 0;
    let isDone = false;
    const others = (async () => {
      while (!isDone) {
        const began = performance.now();
        await api.ask('GET', '/ping');
        longest = Math.max(longest, performance.now() - began);
      }
    })();
    const answer = await api.ask('POST', '/jobs?atomic=true', { body: bad });
    isDone = true;
    await others;
    expect(answer.status).toBe(422);
    expect(longest).toBeLessThan(20_000);
  });

  it('run no code by templates and expressions', async () => {
    const api = await openApi({
      files: { 'say.mjs': 'export default async ({ params }) => params;' },
    });
    await api.put({ ...task('say', { plugin: 'say' }), _id: 't' });
    await api.engine({ drainMs: 100 });
    const abuses = [
      '{{constructor.constructor "return process"}}',
      '{{#with (lookup job "constructor")}}{{this}}{{/with}}',
      '{{lookup (lookup job "__proto__") "constructor"}}',
      '{{job.__proto__.constructor}}',
    ];
    for (const [i, text] of abuses.entries()) {
      const id = `j${i}`;
      const tasks = [{ task: 'say', params: { text } }];
      await api.ask('POST', '/jobs', { body: { _id: id, tasks } });
      const ended = await api.ended(id);
      expect(JSON.stringify(ended.steps)).not.toMatch(/function|native code|\[object process\]/);
    }
    const loops = [{ task: 'say', when: '($f := function($x) { $f($x) }; $f(1))' }];
    await api.ask('POST', '/jobs', { body: { _id: 'loop', tasks: loops } });
    expect(await api.ended('loop', 25_000)).toMatchObject({ state: '$$complete', exit: 3 });
    for (const [i, when] of [
      '$length($pad("x", 500000000)) > 0',
      '$count([1..9999999]) > 0',
      '$contains("a", /(?=a)a/)',
      '$constructor("return process")()',
    ].entries()) {
      const id = `when${i}`;
      await api.ask('POST', '/jobs', { body: { _id: id, tasks: [{ task: 'say', when }] } });
      expect([when, await api.ended(id)]).toMatchObject([
        when,
        { exit: 3, failure: { name: 'ExpressionError' } },
      ]);
    }
    const slow = `$contains("${'a'.repeat(5_000)}", /(a+)+b/)`;
    await api.ask('POST', '/jobs', {
      body: { _id: 'slow', tasks: [{ task: 'say', when: slow }] },
    });
    expect(await api.ended('slow')).toMatchObject({ exit: 0 });
    expect((await api.ask('GET', '/ping')).status).toBe(200);
  });

  it('that never end, or lie about their length, are given up', async () => {
    const api = await openApi();
    const { hostname, port } = new URL(api.url);
    const say = (text: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(text));
        let heard = '';
        socket.setEncoding('utf8');
        socket.on('data', (chunk) => {
          heard += chunk.toString();
          if (heard.includes('\r\n\r\n')) socket.destroy();
        });
        socket.on('close', () => resolve(heard));
        socket.on('error', () => resolve(heard));
      });
    const post =
      'POST /_tws/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
    expect(await say(`${post}content-length: 99999999999\r\n\r\n{`)).toContain('413');
    expect(await say(`${post}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`)).toContain('400');
    expect(await say('GARBAGE\r\n\r\n')).toContain('400');
    expect(
      await say(`GET /_tws/ping HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`),
    ).toContain('431');
    expect((await api.ask('GET', '/ping')).status).toBe(200);
  });
});
