import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi, type Reply, type TestApi } from './server.js';

/** Two owners who must learn nothing of each other. */
async function neighbours() {
  const api = await openApi({ settings: { sign_in: 'always' } });
  await api.put(
    { ...flow('twice', []), owner: 'zeta', _id: 'z1' },
    { ...flow('twice', []), owner: 'zeta', _id: 'z2' },
    { ...flow('once', []), owner: 'zeta', _id: 'z-flow' },
    { _id: 'z-job', type: 'job', flow: 'once', owner: 'zeta' },
    { _id: 'a-job', type: 'job', flow: 'own', owner: 'acme' },
  );
  return {
    ...api,
    viewer: await api.tokenOf('tws-viewer', 'tws-owner:acme'),
    operator: await api.tokenOf('tws-operator', 'tws-owner:acme'),
    boss: await api.tokenOf('tws-admin', 'tws-owner:acme'),
    zeta: await api.tokenOf('tws-operator', 'tws-owner:zeta'),
  };
}

const withoutNames = ({ status, text }: Reply) => [
  status,
  text.replaceAll(/twice|once|never|z-flow|z-none/g, 'X'),
];

describe('a lock of the whole database', () => {
  const scope = 'database';
  it.each([
    ['a target', { target: { name: 'x', scope } }],
    ['locks', { locks: { pattern: '.*', scope } }],
  ])('as %s is only for admins of all owners', async (_title, more) => {
    const { ask, tokenOf, operator, boss } = await neighbours();
    const all = await tokenOf('tws-operator', 'tws-owner:*');
    const admin = await tokenOf('tws-admin');
    const body = { flow: 'own', owner: 'acme', ...more };
    const answers = [];
    for (const token of [operator, all, boss, admin]) {
      const one = await ask('POST', '/jobs', { token, body });
      const many = await ask('POST', '/jobs', { token, body: [body] });
      answers.push([one.status, one.body['error'], many.body['submitted']]);
    }
    expect(answers).toEqual([
      [403, 'role_missing', 0],
      [403, 'role_missing', 0],
      [403, 'owners_needed', 0],
      [201, undefined, 1],
    ]);
  });

  it('cannot be taken over by saying that a job continues another one', async () => {
    const { ask, operator } = await neighbours();
    const body = { flow: 'own', owner: 'acme', continued_from: 'z-job' };
    const { status, text } = await ask('POST', '/jobs', { token: operator, body });
    expect([status, text]).toEqual([422, expect.stringContaining('continued_from')]);
  });
});

describe('what belongs to another owner', () => {
  it('is as absent by its name as what is not there, also where there are several', async () => {
    const { ask, operator, boss, viewer } = await neighbours();
    const own = { owner: 'acme', tasks: [] };
    const attempts = (name: string): readonly Parameters<TestApi['ask']>[] => [
      ['GET', `/flows/${name}::zeta`, { token: operator }],
      ['POST', `/flows/${name}::zeta/disable`, { token: operator }],
      ['DELETE', `/flows/${name}::zeta`, { token: boss }],
      ['PUT', `/flows/${name}::zeta`, { token: boss, body: { name, ...own } }],
      ['POST', '/flows/check', { token: viewer, body: { name: `${name}::zeta`, ...own } }],
      [
        'POST',
        '/flows/check',
        { token: viewer, body: { _id: `${name}::zeta`, name: 'x', ...own } },
      ],
    ];
    const missing = attempts('never');
    for (const [i, asking] of [...attempts('twice'), ...attempts('once')].entries()) {
      const none = missing[i % missing.length] as Parameters<TestApi['ask']>;
      const answer = await ask(...asking);
      expect(withoutNames(answer)).toEqual(withoutNames(await ask(...none)));
      expect(answer.text).not.toMatch(/z1|z2|z-flow/);
    }
    const byId = ['z-flow', 'z-none'].map(async (id) => {
      const body = { _id: id, name: 'n', ...own };
      return withoutNames(await ask('POST', '/flows/check', { token: viewer, body }));
    });
    const [taken, free] = await Promise.all(byId);
    expect(taken).toEqual(free);
  });

  it('is not hidden behind a document of somebody else whose id is its name', async () => {
    const { ask, boss, put } = await neighbours();
    await put({ ...flow('mine', []), owner: 'acme', _id: 'a-flow' });
    await put({ ...flow('other', []), owner: 'zeta', _id: 'mine' });
    expect((await ask('GET', '/flows/mine', { token: boss })).body).toMatchObject({ id: 'a-flow' });
  });

  it('is not named where it holds up somebody else', async () => {
    const { ask, operator, zeta, put, engine, until } = await neighbours();
    const target = { name: 'disk-1', scope: 'database' };
    const held = { type: 'job', flow: 'full', target, exec_after: Date.now() + 60_000 };
    const wait = [{ wait: { signal: 'go', timeout: 0 } }];
    await put({ ...flow('full', []), owner: 'DEFAULT', tasks: wait, max_running: 1, _id: 'full' });
    const running = await engine({ drainMs: 100 });
    await put({ ...held, _id: 'z-holder', owner: 'zeta', exec_after: 0 });
    await until('z-holder', ({ locked }) => locked !== undefined);
    await running.stop();
    await put({ ...held, _id: 'a-held', owner: 'acme' });
    const answer = await ask('GET', '/jobs/a-held/explain', { token: operator });
    expect(answer.text).toMatch(/held by a job of another owner|jobs of other owners/);
    expect(answer.text).not.toContain('z-holder');
    await put({ ...held, _id: 'z-held', owner: 'zeta' });
    const own = await ask('GET', '/jobs/z-held/explain', { token: zeta });
    expect(own.text).toContain('z-holder');
  });

  it('cannot be made the root of a job, and has no id of another owner in its tree', async () => {
    const { ask, operator } = await neighbours();
    const submit = (more: object) =>
      ask('POST', '/jobs', { token: operator, body: { flow: 'f', owner: 'acme', ...more } });
    for (const root of ['z-job', 'nix']) {
      const parent = { job: 'a-job', step: '0', root };
      expect(await submit({ parent })).toMatchObject({
        status: 422,
        body: { path: 'parent.root' },
      });
    }
    for (const _id of ['z-job:x', 'z-job:x:y', 'z-job:notify:1:x']) {
      expect(await submit({ _id })).toMatchObject({
        status: 409,
        body: { error: 'document_conflict' },
      });
    }
    const parent = { job: 'a-job', step: '0', root: 'a-job' };
    expect((await submit({ parent, _id: 'a-job:x' })).status).toBe(201);
  });

  it('cannot be made the parent of a job', async () => {
    const { ask, operator } = await neighbours();
    const jobOf = (parent: string) => ({
      flow: 'f',
      owner: 'acme',
      parent: { job: parent, step: '0' },
    });
    const submit = (body: unknown) => ask('POST', '/jobs', { token: operator, body });
    for (const parent of ['z-job', 'nix', 'z-flow']) {
      expect(await submit(jobOf(parent))).toMatchObject({
        status: 422,
        body: { path: 'parent.job' },
      });
      expect((await submit([jobOf(parent)])).body).toMatchObject({ refused: 1, submitted: 0 });
    }
    expect((await submit(jobOf('a-job'))).status).toBe(201);
  });

  it('gets its signals, whatever somebody else calls his', async () => {
    const { ask, operator, zeta, put } = await neighbours();
    await put(
      { _id: 'j', type: 'job', flow: 'f', owner: 'acme' },
      { _id: 'j:x', type: 'job', flow: 'f', owner: 'zeta' },
    );
    const body = { name: 'go', id: 'x:1' };
    expect((await ask('POST', '/jobs/j/signal', { token: operator, body })).status).toBe(400);
    const own = await ask('POST', '/jobs/j:x/signal', { token: zeta, body: { ...body, id: '1' } });
    expect(own.status).toBe(202);
  });

  it('keeps its secrets from whoever has a document checked', async () => {
    const { ask, viewer, put } = await neighbours();
    const secret = `hun{{ter2`;
    await put({
      ...task('sec', { owner: 'acme', params: { password: secret, url: `https://u:${secret}@h` } }),
      _id: 'task:acme:sec',
    });
    const body = {
      name: 'sec',
      owner: 'acme',
      params: { password: '[secret]', url: 'https://[secret]@h' },
    };
    const { text, status } = await ask('POST', '/tasks/check', { token: viewer, body });
    expect(status).toBe(200);
    // Not even whether the secret is a good template is told.
    expect(text).not.toMatch(/ter2|template/);
  });
});

describe('a new job', () => {
  it('takes no id of other documents, and none that no path can hold', async () => {
    const { ask } = await openApi();
    const long = 'i'.repeat(1_001);
    for (const [body, path] of [
      [{ _id: 'engine-control:x', flow: 'f' }, '_id'],
      [{ _id: long, flow: 'f' }, '_id'],
      [{ _id: '\u20ac'.repeat(667), flow: 'f' }, '_id'],
      [{ flow: long }, 'flow'],
      [{ flow: 'f', owner: long }, 'owner'],
    ] as const) {
      expect(await ask('POST', '/jobs', { body })).toMatchObject({ status: 422, body: { path } });
    }
    const name = 'x'.repeat(1_000_000);
    const put = await ask('POST', '/flows/check', { body: { name, owner: 'a', tasks: [] } });
    expect(put).toMatchObject({ status: 422, body: { path: 'name' } });
    for (const _id of ['i'.repeat(1_000), '\u{1f600}'.repeat(500), '\u20ac'.repeat(666)]) {
      const { headers } = await ask('POST', '/jobs', { body: { _id, flow: 'f' } });
      const found = await ask('GET', headers.get('location') ?? '');
      expect(found).toMatchObject({ status: 200, body: { id: _id } });
    }
  });

  it('has one key or is one of many', async () => {
    const { ask } = await openApi();
    const headers = { 'idempotency-key': 'order 7' };
    const answer = await ask('POST', '/jobs', { headers, body: [{ flow: 'f' }] });
    expect(answer).toMatchObject({ status: 400, body: { error: 'request_invalid' } });
  });

  it('is made once by fifty equal requests at the same time, while an engine takes it', async () => {
    const api = await openApi();
    await api.put({ ...flow('once', []), _id: 'f' });
    await api.engine({ drainMs: 100 });
    const submit = (key: string, _id?: string) =>
      api.ask('POST', '/jobs', {
        headers: _id === undefined ? { 'idempotency-key': key } : {},
        body: { ...(_id === undefined ? {} : { _id }), flow: 'once', params: { n: 1 } },
      });
    for (const id of [undefined, 'mine']) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => submit('k', id)));
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([...Array.from({ length: 49 }, () => 200), 201]);
      expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
    }
    const { body } = await api.ask('GET', '/jobs');
    expect(body['jobs']).toHaveLength(2);
  });
});

describe('a retry', () => {
  it('does not take what stands for a secret for the secret', async () => {
    const { ask, put } = await openApi();
    await put({ _id: 'j', type: 'job', flow: 'f' });
    const body = { params: { t: { password: '[secret]' } } };
    const answer = await ask('POST', '/jobs/j/retry?wait=0', { body });
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'document_invalid', path: 'params.t.password' },
    });
  });
});
