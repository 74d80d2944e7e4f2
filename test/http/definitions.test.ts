import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';

type Warnings = {
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
};

/** What each route stores, and where: a document of another type may have that id already. */
const kinds = {
  task: { path: '/tasks/a', body: task('a') },
  flow: { path: '/flows/a', body: flow('a', ['noop']) },
  schedule: {
    path: '/schedules/a',
    body: { name: 'a', owner: 'DEFAULT', flow: 'f', every: 60_000 },
  },
  hook: { path: '/hooks/a', body: { name: 'a', owner: 'DEFAULT', flow: 'f', check: 'none' } },
  notify: { path: '/notify/DEFAULT', body: { notify: [{ on: ['failed'], task: 'a' }] } },
} as const;
const names = Object.keys(kinds) as (keyof typeof kinds)[];
const bodyOf = (kind: keyof typeof kinds) => ({ ...kinds[kind].body, type: kind });

describe('documents of other types', () => {
  it('are neither shown, replaced nor removed by a route, whatever the request names', async () => {
    const { ask, put, client } = await openApi();
    for (const kind of names) {
      const { path, body } = kinds[kind];
      const _id = kind === 'notify' ? 'notify:DEFAULT' : `${kind}:DEFAULT:a`;
      const others = names.filter((one) => one !== kind);
      for (const other of [...others, 'job']) {
        const type = other as keyof typeof kinds;
        const stored = { ...(others.includes(type) ? bodyOf(type) : { type, flow: 'f' }), _id };
        await put(stored);
        const there = await client.get(_id);
        const byId = kind === 'notify' ? path : `${path.slice(0, -1)}${_id}`;
        const asked = [
          await ask('PUT', path, { body, headers: { 'if-match': '*' } }),
          await ask('PUT', byId, { body: { ...body, _id, _rev: there?._rev } }),
          await ask('GET', byId),
          await ask('DELETE', byId),
        ].map(({ status }) => status);
        expect([kind, other, asked]).toEqual([kind, other, [409, 409, 404, 404]]);
        expect(await client.get(_id)).toEqual(there);
        await client.remove(_id, there?._rev ?? '');
      }
      const [other] = others.toReversed();
      const wrong = [
        ['type', { type: other }],
        ['_id', { _id: `${String(other)}:DEFAULT:a` }],
        ...(kind === 'flow' ? (['gathering:f', 'rate:1', 'removal:1'] as const) : []).map(
          (wished) => ['_id', { _id: wished }] as const,
        ),
      ] as const;
      for (const [at, given] of wrong) {
        const { status, body: told } = await ask('PUT', path, { body: { ...body, ...given } });
        expect([kind, given, status, told['path']]).toEqual([kind, given, 422, at]);
      }
    }
  });
});

describe('storing tasks and flows', () => {
  it('gives telling ids, and finds them by id, name and name::owner', async () => {
    const { ask } = await openApi();
    const made = await ask('PUT', '/tasks/echo', { body: { name: 'echo', plugin: 'noop' } });
    expect(made.body).toMatchObject({ id: 'task:DEFAULT:echo', created: true, warnings: [] });
    expect(made.headers.get('location')).toBe('/_tws/tasks/task%3ADEFAULT%3Aecho');
    const body = { type: 'flow', name: 'f', owner: 'acme', tasks: ['echo'] };
    for (const [path, given] of [
      ['/flows/f', {}],
      ['/flows/f::acme', {}],
      ['/flows/flow:acme:f', {}],
      ['/flows/mine', { _id: 'mine' }],
    ] as const) {
      const { ask: askOther } = await openApi();
      const answer = await askOther('PUT', path, { body: { ...body, ...given } });
      expect([path, answer.status]).toEqual([path, 201]);
      expect(answer.body['id']).toBe('_id' in given ? 'mine' : 'flow:acme:f');
      const byName = await askOther('GET', '/flows/f?owner=acme');
      expect(byName.body).toMatchObject({
        owner: 'acme',
        name: 'f',
        document: { tasks: ['echo'] },
      });
      expect((await askOther('GET', '/flows/f::acme')).status).toBe(200);
      expect((await askOther('GET', '/flows/f')).status).toBe(404);
      expect((await askOther('GET', '/flows?name=f')).body['flows']).toHaveLength(1);
      expect((await askOther('GET', '/flows?name=g')).body['flows']).toEqual([]);
    }
    const other = await ask('PUT', '/tasks/echo2', { body: task('echo3') });
    expect(other).toMatchObject({ status: 422, body: { path: 'name' } });
  });

  it('replaces the revision that is named, and no other', async () => {
    const { ask, client } = await openApi();
    const body = task('a');
    const first = await ask('PUT', '/tasks/a', { body });
    const rev = String(first.body['rev']);
    const again = await ask('PUT', '/tasks/a', { body });
    expect(again).toMatchObject({ status: 409, body: { error: 'definition_exists' } });
    expect(again.body['hint']).toContain('If-Match');
    const headers = { 'if-match': `"${rev}"` };
    const second = await ask('PUT', '/tasks/a', { body: { ...body, timeout: 5 }, headers });
    expect(second).toMatchObject({ status: 200, body: { created: false } });
    expect((await ask('PUT', '/tasks/a', { body, headers })).status).toBe(409);
    const inBody = { ...body, _rev: second.body['rev'], _id: 'task:DEFAULT:a', timeout: 7 };
    expect((await ask('PUT', '/tasks/task:DEFAULT:a', { body: inBody })).status).toBe(200);
    expect(await client.get('task:DEFAULT:a')).toMatchObject({ timeout: 7 });
    const { headers: got } = await ask('GET', '/tasks/a');
    expect(got.get('etag')).toMatch(/^"3-/);
    const odd = await ask('PUT', '/tasks/b', { body: task('b'), headers: { 'if-match': '9-x' } });
    expect(odd).toMatchObject({ status: 412, body: { error: 'definition_absent' } });
  });

  it('knows no revision that it is not of, and one that is whatever it is', async () => {
    const { ask } = await openApi();
    const put = (match?: string) =>
      ask('PUT', '/tasks/t', {
        body: task('t'),
        headers: match === undefined ? {} : { 'if-match': match },
      });
    expect(await put('*')).toMatchObject({ status: 412, body: { error: 'definition_absent' } });
    expect((await put()).status).toBe(201);
    const wrong = ['nonsense', '"1-x", "2-y"', `1-${'a'.repeat(32)}`];
    for (const match of wrong) {
      expect(await put(match)).toMatchObject({ status: 409, body: { error: 'document_conflict' } });
      const gone = await ask('DELETE', '/tasks/t', { headers: { 'if-match': match } });
      expect(gone.status).toBe(409);
    }
    expect((await put('*')).status).toBe(200);
    expect((await ask('DELETE', '/tasks/t', { headers: { 'if-match': '*' } })).status).toBe(204);
  });

  it('stores what deploy scripts send, whether there is one or not, with upsert=true', async () => {
    const { ask, client } = await openApi();
    const put = (timeout: number, headers: Readonly<Record<string, string>> = {}) =>
      ask('PUT', '/tasks/t?upsert=true', { body: task('t', { timeout }), headers });
    expect(await put(1)).toMatchObject({ status: 201, body: { created: true } });
    expect(await put(2)).toMatchObject({ status: 200, body: { created: false } });
    expect(await client.get('task:DEFAULT:t')).toMatchObject({ timeout: 2 });
    // Who names a revision means that one.
    expect((await put(3, { 'if-match': '"1-x"' })).status).toBe(409);
    expect(await client.get('task:DEFAULT:t')).toMatchObject({ timeout: 2 });
  });

  it('refuses what push refuses, with the path of every mistake', async () => {
    const { ask, put } = await openApi();
    await put({ ...task('loop-a', { error: 'loop-b' }), _id: 'la' });
    const cases: readonly (readonly [string, object, string, RegExp])[] = [
      ['/flows/f', { name: 'f', owner: 'x', tasks: [{ task: 7 }] }, 'tasks[0].task', /name/],
      ['/flows/f', { name: 'f', tasks: [] }, 'owner', /missing/],
      ['/flows/f', { ...flow('f', []), timeout: 'long' }, 'timeout', /milliseconds/],
      ['/flows/f', { ...flow('f', []), schema: { type: 'nix' } }, 'schema', /JSON Schema/],
      ['/flows/f', { ...flow('f', []), output: '1 +' }, 'output', /JSONata/],
      ['/flows/f', { ...flow('f', []), type: 'task' }, 'type', /must be ..flow/],
      ['/flows/f', { ...flow('f', []), _id: 'token:x' }, '_id', /token:/],
      ['/flows/f', { ...flow('f', []), _deleted: true }, '_deleted', /CouchDB's own/],
      ['/tasks/a', { name: 'a', params: { text: '{{' } }, 'params.text', /template/],
      ['/tasks/a', { name: 'a', timeout: -1 }, 'timeout', /milliseconds/],
      ['/tasks/loop-b', { name: 'loop-b', error: 'loop-a' }, 'error', /circle|itself/],
      ['/tasks/a', { name: 'a', params: { password: '[secret]' } }, 'params.password', /secret/],
    ];
    for (const [path, body, at, message] of cases) {
      const answer = await ask('PUT', path, { body });
      expect([body, answer.status]).toEqual([body, 422]);
      expect([body, answer.body['path']]).toEqual([body, at]);
      expect(JSON.stringify(answer.body['problems'])).toMatch(message);
    }
    expect((await ask('GET', '/flows')).body).toEqual({ flows: [] });
  });

  it('tells warnings and stores nevertheless, or only checks', async () => {
    const { ask } = await openApi();
    const body = { ...flow('f', ['nix']), tiemout: 5, params: { nix: { token: 'hunter2' } } };
    const checked = await ask<Warnings>('POST', '/flows/check', { body });
    const stored = await ask<Warnings>('PUT', '/flows/f', { body });
    for (const { body: told } of [checked, stored]) {
      const paths = told.warnings.map(({ path }) => path);
      expect(paths).toContain('tiemout');
      expect(paths).toContain('params.nix.token');
      expect(paths.some((path) => path.startsWith('tasks.sequence[0]'))).toBe(true);
      expect(JSON.stringify(told)).not.toContain('hunter2');
    }
    const bad = await ask('POST', '/flows/check', { body: { tasks: 1 } });
    expect(bad.body).toMatchObject({ ok: false, problems: [{}, {}, {}] });
  });

  it('keeps the secrets of what is edited as it was shown', async () => {
    const { ask, client } = await openApi();
    const params = { smtp: { auth: { user: 'u', pass: 'hunter2' } }, url: 'http://a:hunter2@h/' };
    await ask('PUT', '/tasks/mail', { body: task('mail', { params }) });
    const shown = await ask<{ rev: string; document: Record<string, unknown> }>(
      'GET',
      '/tasks/mail',
    );
    expect(shown.text).not.toContain('hunter2');
    const edited = { ...shown.body.document, timeout: 99 };
    const put = await ask('PUT', '/tasks/mail', { body: edited });
    expect(put.status).toBe(200);
    expect(await client.get('task:DEFAULT:mail')).toMatchObject({ params, timeout: 99 });
  });

  it('keeps attachments, and takes none', async () => {
    const { ask, client, put } = await openApi();
    const data = Buffer.from('old').toString('base64');
    const _attachments = { 'a.txt': { content_type: 'text/plain', data } };
    await put({ ...task('t'), _id: 'task:DEFAULT:t', _attachments });
    const { body } = await ask<{ document: Record<string, unknown> }>('GET', '/tasks/t');
    const other = { 'b.txt': { content_type: 'text/plain', data } };
    const edited = { ...body.document, timeout: 7, _attachments: other };
    expect((await ask('PUT', '/tasks/t', { body: edited })).status).toBe(200);
    const stored = await client.get('task:DEFAULT:t');
    expect(Object.keys(stored?.['_attachments'] as object)).toEqual(['a.txt']);
    expect(stored).toMatchObject({ timeout: 7 });
  });

  // Shows I-07, L-04.
  it('enables and disables flows', async () => {
    const { ask, client } = await openApi();
    await ask('PUT', '/flows/f', { body: flow('f', []) });
    const off = await ask('POST', '/flows/f/disable');
    expect(off.body).toEqual({ id: 'flow:DEFAULT:f', changed: true, enabled: false });
    expect(await client.get('flow:DEFAULT:f')).toMatchObject({ enabled: false });
    expect((await ask('POST', '/flows/f/disable')).body).toMatchObject({ changed: false });
    expect((await ask('POST', '/flows/f/enable')).body).toMatchObject({ enabled: true });
  });
});
