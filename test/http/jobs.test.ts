import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi, type TestApi } from './server.js';

const plugins = {
  'told.mjs': `export default async ({ log, progress, params }) => {
    log('first line', { n: 1 });
    progress(0.5);
    log('second line');
    return { said: params.word };
  };`,
  'hold.mjs': `export default ({ signal, progress }) => new Promise((resolve, reject) => {
    progress('40 percent');
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });`,
};

async function ready(): Promise<TestApi> {
  const api = await openApi({ files: plugins });
  await api.put(
    { ...task('told'), plugin: 'told', _id: 't1' },
    { ...task('hold', { plugin: 'hold', timeout: 0 }), _id: 't2' },
    { ...task('bad', { plugin: 'fail' }), _id: 't3' },
    { ...flow('greet', ['told']), _id: 'f1' },
    { ...flow('wait', ['hold'], { timeout: 0 }), _id: 'f2' },
    { ...flow('break', ['bad']), _id: 'f3' },
    { ...flow('signalled', [{ wait: { signal: 'go', timeout: 0 } }], { timeout: 0 }), _id: 'f4' },
  );
  return api;
}

describe('submitting', () => {
  it('answers 201 with id, revision and place; the job runs', async () => {
    const api = await ready();
    await api.engine({ drainMs: 100 });
    const body = {
      flow: 'greet',
      params: { told: { word: 'hi' } },
      tags: ['a'],
      mine: { kept: 1 },
    };
    const answer = await api.ask('POST', '/jobs', { body });
    expect(answer.status).toBe(201);
    const { id, rev, existed } = answer.body;
    expect(rev).toMatch(/^1-/);
    expect(existed).toBe(false);
    expect(answer.headers.get('location')).toBe(`/_tws/jobs/${String(id)}`);
    const job = await api.ask('GET', `/jobs/${String(id)}?wait=20s`);
    expect(job.body).toMatchObject({
      id,
      status: 'succeeded',
      exit: 0,
      flow: 'greet',
      owner: 'DEFAULT',
      tags: ['a'],
      attempts: 1,
      document: { mine: { kept: 1 }, steps: [{ result: { said: 'hi' } }] },
    });
  });

  // Shows B-15, X-17.
  it('stores a job once for each _id and each idempotency key', async () => {
    const api = await ready();
    const submit = async (body: object, key?: string) => {
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
      return api.ask('POST', '/jobs', { body, headers });
    };
    expect(await submit({ _id: 'a', flow: 'greet' })).toMatchObject({ status: 201 });
    expect(await submit({ _id: 'a', flow: 'greet' })).toMatchObject({
      status: 200,
      body: { id: 'a', existed: true },
    });
    expect(await submit({ _id: 'a', flow: 'break' })).toMatchObject({
      status: 409,
      body: { error: 'id_taken' },
    });
    expect(await submit({ _id: 't1', flow: 'greet' })).toMatchObject({ status: 409 });
    const first = await submit({ flow: 'greet' }, 'order 7');
    const again = await submit({ flow: 'greet' }, 'order 7');
    expect(first.status).toBe(201);
    expect(again).toMatchObject({ status: 200, body: { id: first.body['id'], existed: true } });
    expect((await submit({ flow: 'break' }, 'order 7')).status).toBe(409);
    expect((await submit({ flow: 'greet', owner: 'acme' }, 'order 7')).status).toBe(201);
    expect((await submit({ flow: 'greet' }, 'x'.repeat(256))).status).toBe(400);
    const odd = 'ö/ß #?&% :';
    const { headers } = await submit({ _id: odd, flow: 'greet' });
    const path = headers.get('location') ?? '';
    expect((await api.ask('GET', path)).body).toMatchObject({ id: odd });
  });

  it('makes jobs and nothing else, and says where what is wrong', async () => {
    const api = await ready();
    const cases: readonly (readonly [object | string, string, RegExp])[] = [
      [{ _rev: '1-x', flow: 'greet' }, '_rev', /must be left out/],
      [{ _deleted: true, flow: 'greet' }, '_deleted', /must be left out/],
      [{ _attachments: {}, flow: 'greet' }, '_attachments', /must be left out/],
      [{ state: '$$complete', flow: 'greet' }, 'state', /the engine sets it/],
      [{ steps: [], flow: 'greet' }, 'steps', /the engine writes it/],
      [{ result: 1, flow: 'greet' }, 'result', /the engine writes it/],
      [{ exit: 0, flow: 'greet' }, 'exit', /the engine writes it/],
      [{ signals: [], flow: 'greet' }, 'signals', /the engine writes it/],
      [{ type: 'flow', flow: 'greet' }, 'type', /must be ..job/],
      [
        { flow: 'greet', sensitive: { subject: 'maria', values: { iban: 'DE02' } } },
        'sensitive',
        /kept apart from jobs/,
      ],
      [{ _id: '_design/x', flow: 'greet' }, '_id', /must not begin with \\"_/],
      [{ _id: 'engine:1', flow: 'greet' }, '_id', /must not begin with \\"engine:/],
      [{ _id: 'token:1', flow: 'greet' }, '_id', /must not begin with \\"token:/],
      [{ _id: 'queue-control:x', flow: 'greet' }, '_id', /begin with \\"queue-control:/],
      [{ _id: 'retention', flow: 'greet' }, '_id', /must not be \\"retention\\"/],
      [{ _id: '', flow: 'greet' }, '_id', /not empty/],
      [{ _id: 7, flow: 'greet' }, '_id', /must be a text/],
      [{}, 'flow', /must name a flow/],
      [{ flow: 'greet', priority: 'high' }, 'priority', /whole number/],
      [{ flow: 'greet', exec_after: 'soon' }, 'exec_after', /must be a time/],
      [{ flow: 'greet', params: { told: { word: '{{#if' } } }, 'params.told.word', /template/],
      [{ tasks: [{ task: 'told', when: '1 +' }] }, 'tasks[0].when', /JSONata/],
      [{ tasks: [{ tusk: 'told' }] }, 'tasks[0]', /must be/],
      [
        { flow: 'greet', params: { told: { password: '[secret]' } } },
        'params.told.password',
        /in place/,
      ],
      ['"text"', '', /JSON object/],
      ['7', '', /JSON object/],
      ['null', '', /JSON object/],
    ];
    for (const [body, path, message] of cases) {
      const given = typeof body === 'string' ? { raw: body } : { body };
      const answer = await api.ask('POST', '/jobs', given);
      expect([body, answer.status]).toEqual([body, 422]);
      expect(answer.body).toMatchObject({
        error: 'document_invalid',
        hint: expect.any(String) as string,
      });
      expect([body, answer.body['path'] ?? '']).toEqual([body, path]);
      expect(JSON.stringify(answer.body['problems'])).toMatch(message);
      const checked = await api.ask('POST', '/jobs/check', given);
      expect(checked.body).toMatchObject({ ok: false });
    }
    expect((await api.ask('GET', '/jobs')).body).toEqual({ jobs: [] });
    const empty = await api.ask('POST', '/jobs', { raw: ' ' });
    expect(empty.status).toBe(422);
  });

  it('warns of what is hardly meant, and stores it', async () => {
    const api = await ready();
    const body = { flow: 'gret', priorty: 3, params: { told: { password: 'hunter2' } } };
    const answer = await api.ask<{ warnings: readonly { path: string; message: string }[] }>(
      'POST',
      '/jobs',
      { body },
    );
    expect(answer.status).toBe(201);
    const told = answer.body.warnings.map(({ path, message }) => `${path}: ${message}`).join('\n');
    expect(told).toContain('Did you mean "greet"?');
    expect(told).toContain('priorty');
    expect(told).toContain('params.told.password');
    expect(told).not.toContain('hunter2');
  });

  it('checks parameters against the schema of the flow and the steps in it, and stores nothing', async () => {
    const api = await ready();
    const schema = { type: 'object', properties: { count: { type: 'integer' } } };
    const other = { ...flow('counted', ['told'], { schema }), owner: 'somebody' };
    await api.put(
      { ...flow('counted', ['told'], { schema }), _id: 'c' },
      { ...other, _id: 'd', tasks: [], schema: { required: ['hidden'] } },
    );
    const check = (params: object) =>
      api.ask<{ ok: boolean; warnings: readonly { path: string; message: string }[] }>(
        'POST',
        '/jobs/check',
        { body: { flow: 'counted', params } },
      );
    expect((await check({ count: 1, told: {} })).body).toMatchObject({ ok: true, warnings: [] });
    const { warnings } = (await check({ count: 'many', tolb: {} })).body;
    expect(warnings.map(({ path }) => path)).toEqual(['params.count', 'params.tolb']);
    expect(warnings[0]?.message).toContain('"schema" of flow "counted"');
    expect((await api.ask('GET', '/jobs')).body).toEqual({ jobs: [] });
  });
});

describe('looking at a job', () => {
  it('shows no secret, neither in clear nor encrypted', async () => {
    const api = await ready();
    const enc = 'tws:v1:aaaaaaaaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbb:cccccccccccccccccccccc:dddd';
    const auth = { user: 'ada', pass: 'hunter2', token: enc };
    const params = { told: { auth, url: 'https://ada:hunter2@example.com/x' } };
    await api.ask('POST', '/jobs', {
      body: { _id: 'a', flow: 'greet', params, keys: { secret: 'hunter2' } },
    });
    await api.engine({ drainMs: 100 });
    await api.ended('a');
    const { client_secret: _none, ...paths } = {
      client_secret: '',
      job: '/jobs/a',
      list: '/jobs',
      history: '/jobs/a/history',
    };
    for (const path of Object.values(paths)) {
      const { text, status } = await api.ask('GET', path);
      expect(status).toBe(200);
      expect(text).not.toContain('hunter2');
    }
    const { body } = await api.ask('GET', '/jobs/a');
    expect(JSON.stringify(body)).not.toContain(enc);
    expect(JSON.stringify(body)).toContain('https://[secret]@example.com/x');
    expect(JSON.stringify(body)).toContain('"user":"ada"');
  });

  it('waits for its end, or for its next revision, and not longer than asked', async () => {
    const api = await ready();
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'wait' } });
    const began = performance.now();
    const { body: before } = await api.ask('GET', '/jobs/a?wait=300ms');
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
    expect(before).toMatchObject({ status: 'queued' });
    const changed = api.ask('GET', `/jobs/a?wait=20s&rev=${String(before['rev'])}`);
    const ended = api.ask('GET', '/jobs/a?wait=20s');
    await api.engine({ drainMs: 100 });
    const { body: next } = await changed;
    expect(next['rev']).not.toBe(before['rev']);
    expect(next).toMatchObject({ status: 'running', current: ['hold'] });
    await api.ask('POST', '/jobs/a/cancel', { body: { by: 'ada', reason: 'enough' } });
    expect((await ended).body).toMatchObject({ status: 'cancelled', exit: 130 });
    for (const wait of ['1h', '-1', '121s', 'x', '3m']) {
      expect((await api.ask('GET', `/jobs/a?wait=${wait}`)).status).toBe(400);
    }
  });

  it('answers whoever waits when the job is removed, or the server ends', async () => {
    const api = await ready();
    const { body } = await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'wait' } });
    const waiting = api.ask('GET', '/jobs/a?wait=60s');
    await api.ask('GET', '/jobs/a?wait=100ms');
    await api.client.remove('a', String(body['rev']));
    expect((await waiting).status).toBe(404);
    await api.ask('POST', '/jobs', { body: { _id: 'b', flow: 'wait' } });
    const other = api.ask('GET', '/jobs/b?wait=60s').then(
      ({ status }) => status,
      () => 'closed',
    );
    await api.ask('GET', '/jobs/b?wait=100ms');
    await api.close();
    expect([200, 'closed']).toContain(await other);
  });

  // Shows L-06.
  it('tells its history, its lines and its progress', async () => {
    const api = await ready();
    await api.engine({ reportMs: 50, drainMs: 100 });
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'greet' } });
    await api.ended('a');
    await api.ask('POST', '/jobs/a/info', { body: { message: 'from outside', by: 'worker-3' } });
    const { body } = await api.ask('GET', '/jobs/a/info');
    expect(body).toMatchObject({
      lines: [
        { from: 'step', step: 'told', attempt: 1, message: 'first line', data: { n: 1 } },
        { from: 'step', message: 'second line' },
        { from: 'note', message: 'from outside', by: 'worker-3' },
      ],
      progress: [],
    });
    const { body: history } = await api.ask<{ events: readonly { kind: string }[] }>(
      'GET',
      '/jobs/a/history',
    );
    const kinds = history.events.map(({ kind }) => kind);
    expect(kinds[0]).toBe('JobStarted');
    expect(kinds).toContain('JobCompleted');
    expect(kinds).toContain('NoteAdded');
    await api.ask('POST', '/jobs', { body: { _id: 'b', flow: 'wait' } });
    await api.until('b', ({ steps }) => JSON.stringify(steps ?? []).includes('percent'));
    expect((await api.ask('GET', '/jobs/b/info')).body).toMatchObject({
      progress: [{ step: 'hold', attempt: 1, progress: '40 percent' }],
    });
  });

  // Shows L-06.
  it('gives the result of a step, also of one that is an attachment, without secrets', async () => {
    const source = `export default async () => ({ text: 'x'.repeat(100_000), password: 'hunter2' });`;
    const api = await openApi({ files: { 'big.mjs': source } });
    await api.put({ ...task('big', { plugin: 'big' }), _id: 'big' });
    await api.engine({ drainMs: 100 });
    const tasks = [{ task: 'big', name: 'a/b' }];
    await api.ask('POST', '/jobs', { body: { _id: 'a', tasks } });
    await api.ended('a');
    const whole = await api.ask('GET', '/jobs/a');
    expect(whole.text.length).toBeLessThan(20_000);
    for (const step of ['a%2Fb', 'big-0', '0']) {
      const { status, body } = await api.ask('GET', `/jobs/a/results/${step}`);
      const result = { text: 'x'.repeat(100_000), password: '[secret]' };
      expect([step, status, body]).toEqual([step, 200, { result }]);
    }
    const missing = await api.ask('GET', '/jobs/a/results/nix');
    expect(missing).toMatchObject({ status: 404, body: { error: 'result_missing' } });
  });

  it('explains why it does not move, with its children', async () => {
    const api = await ready();
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'greet' } });
    const { body } = await api.ask('GET', '/jobs/a/explain');
    expect(body).toMatchObject({ jobs: [{ id: 'a', reasons: [{ kind: 'no_engine' }] }] });
    await api.put({ ...flow('outer', [{ flow: 'wait' }], { timeout: 0 }), _id: 'f9' });
    await api.engine({ drainMs: 100 });
    await api.ask('POST', '/jobs', { body: { _id: 'p', flow: 'outer' } });
    await api.until('p', ({ steps }) => JSON.stringify(steps ?? []).includes('child'));
    await expect
      .poll(
        async () =>
          (await api.ask<{ jobs: readonly unknown[] }>('GET', '/jobs/p/explain')).body.jobs,
      )
      .toMatchObject([{ reasons: [{ kind: 'child' }] }, { reasons: [{ kind: 'running' }] }]);
    const found = await api.ask('GET', '/jobs?parent=p');
    expect(found.body).toMatchObject({ jobs: [{ parent: 'p' }] });
  });
});

describe('finding jobs', () => {
  it('takes every filter of the index, and pages', async () => {
    const api = await ready();
    await api.put(
      ...Array.from({ length: 7 }, (_, i) => ({
        _id: `j${i}`,
        type: 'job',
        flow: i % 2 === 0 ? 'greet' : 'break',
        state: '$$complete',
        exit: i % 2 === 0 ? 0 : 2,
        start: 1_000 + i,
        end: 2_000 + i,
        steps: [],
        tags: [`t${i % 3}`, 'all'],
        keys: { order: `A=${i}` },
        external_id: `x${i}`,
        ...(i < 5 ? {} : { flow_version: '2' }),
        ...(i % 2 === 0 ? {} : { failure: { name: 'Refused', message: 'No.' } }),
      })),
    );
    const ids = async (query: string): Promise<string> => {
      const { body, status } = await api.ask('GET', `/jobs?${query}`);
      expect([query, status]).toEqual([query, 200]);
      return (body['jobs'] as readonly { readonly id: string }[]).map(({ id }) => id).join(' ');
    };
    expect(await ids('')).toBe('j6 j5 j4 j3 j2 j1 j0');
    expect(await ids('flow=break')).toBe('j5 j3 j1');
    expect(await ids('status=failed,cancelled')).toBe('j5 j3 j1');
    expect(await ids('status=failed&status=succeeded&flow=greet')).toBe('j6 j4 j2 j0');
    expect(await ids('version=2')).toBe('j6 j5');
    expect(await ids('flow=greet&version=2')).toBe('j6');
    expect(await ids('tag=t0&tag=all')).toBe('j6 j3 j0');
    expect(await ids('key=order%3DA%3D3')).toBe('j3');
    expect(await ids('failure=Refused')).toBe('j5 j3 j1');
    expect(await ids('external_id=x2')).toBe('j2');
    expect(await ids('from=1002&to=1005')).toBe('j4 j3 j2');
    expect(await ids('from=1970-01-01T00:00:01.005Z')).toBe('j6 j5');
    expect(await ids('owner=acme')).toBe('');
    const pages: string[] = [];
    let cursor = '';
    do {
      const { body } = await api.ask(
        'GET',
        `/jobs?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      pages.push(
        (body['jobs'] as readonly { readonly id: string }[]).map(({ id }) => id).join(' '),
      );
      cursor = (body['cursor'] as string | undefined) ?? '';
    } while (cursor !== '');
    expect(pages).toEqual(['j6 j5 j4', 'j3 j2 j1', 'j0']);
    for (const query of [
      'limit=0',
      'limit=501',
      'limit=x',
      'status=odd',
      'key=order',
      'from=now',
      'cursor=x',
      'flow=a&flow=b',
    ]) {
      expect([query, (await api.ask('GET', `/jobs?${query}`)).status]).toEqual([query, 400]);
    }
  });
});

describe('asking something of a job', () => {
  it('says of a child that is retried that its parent has ended and stays as it is', async () => {
    const api = await ready();
    await api.put({ ...flow('outer', [{ flow: 'break' }]), _id: 'f9' });
    await api.engine({ drainMs: 100 });
    await api.ask('POST', '/jobs', { body: { _id: 'p', flow: 'outer' } });
    await api.until('p', ({ state }) => state === '$$complete');
    const child = await api.ask('POST', `/jobs/${encodeURIComponent('p:0:1')}/retry?wait=30s`);
    expect(child).toMatchObject({
      status: 200,
      body: { outcome: 'applied', notice: expect.stringContaining('`tws retry p`') as unknown },
    });
    const parent = await api.ask('POST', '/jobs/p/retry?wait=30s');
    expect(parent).toMatchObject({ status: 200, body: { outcome: 'applied' } });
    expect(parent.body).not.toHaveProperty('notice');
  });

  it('is applied by an engine, and says by whom', async () => {
    const api = await ready();
    await api.engine({ drainMs: 100 });
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'signalled' } });
    await api.until('a', ({ steps }) => JSON.stringify(steps ?? []).includes('$$waiting'));
    const token = await api.tokenOf('tws-operator');
    const paused = await api.ask('POST', '/jobs/a/pause', {
      token,
      body: { by: 'mallory', reason: 'tea' },
    });
    expect(paused.body).toMatchObject({ outcome: 'applied', job: { id: 'a' } });
    const { body: noted } = await api.ask('GET', '/jobs/a');
    expect(noted['document']).toMatchObject({
      paused: true,
      requests: [{ action: 'pause', by: 'tws-operator', reason: 'tea' }],
    });
    await api.ask('POST', '/jobs/a/resume', { token });
    const odd = await api.ask('POST', '/jobs/a/signal', { body: { name: 'gone' } });
    expect(odd).toMatchObject({ status: 202, body: { warnings: [{ path: 'signals' }] } });
    const sent = await api.ask('POST', '/jobs/a/signal', {
      body: { name: 'go', data: { n: 7 }, id: 's1' },
    });
    expect(sent).toMatchObject({ status: 202, body: { signal: 'signal:a:s1' } });
    expect(sent.body).not.toHaveProperty('warnings');
    const { body } = await api.ask('GET', '/jobs/a?wait=20s');
    expect(body).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(body['document'])).toContain('"n":7');
  });

  it('retries with other parameters, from a step', async () => {
    const api = await ready();
    await api.put({ ...task('pick', { plugin: 'fail', params: { message: 'no' } }), _id: 't9' });
    await api.put({ ...flow('two', ['told', 'pick']), _id: 'f9' });
    await api.engine({ drainMs: 100 });
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'two' } });
    expect((await api.ask('GET', '/jobs/a?wait=20s')).body).toMatchObject({ status: 'failed' });
    const again = await api.ask('POST', '/jobs/a/retry', {
      body: { from: 'told', params: { told: { word: 'again' } } },
    });
    expect(again.status).toBe(200);
    await api.until('a', ({ run, state }) => run === 2 && state === '$$complete');
    expect(JSON.stringify((await api.ask('GET', '/jobs/a')).body)).toContain('again');
    const skipped = await api.ask('POST', '/jobs/a/skip', { body: { step: 'pick' } });
    expect(skipped.status).toBe(200);
    expect((await api.ask('GET', '/jobs/a?wait=20s')).body).toMatchObject({ status: 'succeeded' });
  });
});
