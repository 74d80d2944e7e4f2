import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi, type TestApi } from './server.js';

type Report = {
  readonly submitted: number;
  readonly existed: number;
  readonly refused: number;
  readonly results: readonly {
    readonly index: number;
    readonly status: number;
    readonly id?: string;
    readonly problem?: { readonly error: string; readonly path?: string };
  }[];
};
type Asked = {
  readonly applied: number;
  readonly stored: number;
  readonly refused: number;
  readonly more: boolean;
  readonly results: readonly { readonly id: string; readonly outcome: string }[];
};

async function ready(): Promise<TestApi> {
  const api = await openApi();
  await api.put(
    { ...task('echo'), _id: 't1' },
    { ...task('bad', { plugin: 'fail' }), _id: 't2' },
    { ...flow('greet', ['echo']), _id: 'f1' },
    { ...flow('break', ['bad']), _id: 'f2' },
  );
  return api;
}

const ndjson = { 'content-type': 'application/x-ndjson' };

describe('submitting many', () => {
  // Shows X-50.
  it('stores a thousand jobs of one request, and all of them run', async () => {
    const api = await ready();
    const jobs = Array.from({ length: 1_000 }, (_, i) => ({ _id: `n${i}`, flow: 'greet' }));
    const began = performance.now();
    const { status, body } = await api.ask<Report>('POST', '/jobs', { body: jobs });
    const ms = Math.round(performance.now() - began);
    expect(status).toBe(200);
    expect(body).toMatchObject({ submitted: 1_000, existed: 0, refused: 0 });
    expect(body.results.map(({ id }) => id)).toEqual(jobs.map(({ _id }) => _id));
    console.log(`1,000 jobs of one request: ${ms} ms`);
    const again = await api.ask<Report>('POST', '/jobs', { body: jobs });
    expect(again.body).toMatchObject({ submitted: 0, existed: 1_000 });
    await api.engine({ slots: 50 });
    await expect
      .poll(async () => (await api.client.count()).succeeded, { interval: 500 })
      .toBe(1_000);
  });

  it('tells of each document what became of it', async () => {
    const api = await ready();
    const lines = [
      { flow: 'greet' },
      { flow: 'greet', _rev: '1-x' },
      '',
      { _id: 'a', flow: 'greet' },
      { _id: 'a', flow: 'greet' },
      { _id: 'a', flow: 'break' },
      { _id: 't1', flow: 'greet' },
      [1],
    ];
    const raw = lines.map((line) => (line === '' ? '' : JSON.stringify(line))).join('\n');
    const { status, body } = await api.ask<Report>('POST', '/jobs', { raw, headers: ndjson });
    expect(status).toBe(200);
    expect(body).toMatchObject({ submitted: 2, existed: 1, refused: 4 });
    expect(body.results.map((one) => one.status)).toEqual([201, 422, 201, 200, 409, 409, 422]);
    expect(body.results.map(({ problem }) => problem?.error)).toEqual([
      undefined,
      'document_invalid',
      undefined,
      undefined,
      'id_taken',
      'id_taken',
      'document_invalid',
    ]);
    expect(body.results[1]?.problem?.path).toBe('_rev');
  });

  it('warns of keys that nothing reads, in each document', async () => {
    const api = await ready();
    const jobs = [
      { _id: 'a', flow: 'greet', priorty: 5 },
      { _id: 'b', flow: 'greet' },
      { _id: 'c', flow: 'greet', priorty: 5, _rev: '1-x' },
    ];
    const { body } = await api.ask<Report>('POST', '/jobs', { body: jobs });
    expect(body.results).toMatchObject([
      { status: 201, id: 'a', warnings: [{ path: 'priorty' }] },
      { status: 201, id: 'b' },
      { status: 422 },
    ]);
    expect(body.results.map((one) => 'warnings' in one)).toEqual([true, false, false]);
  });

  it('stores none when one is not valid and all or none are wanted', async () => {
    const api = await ready();
    const jobs = [{ flow: 'greet' }, { flow: 7 }, { flow: 'greet' }];
    const { status, body } = await api.ask<Report>('POST', '/jobs?atomic=true', { body: jobs });
    expect(status).toBe(422);
    expect(body).toMatchObject({ error: 'bulk_refused', results: [{ index: 1, status: 422 }] });
    expect((await api.ask('GET', '/jobs')).body).toEqual({ jobs: [] });
    const once = { flow: 'greet', unique: { key: '"k"' } };
    const again = [{ flow: 'greet' }, once, once];
    const taken = await api.ask<Report>('POST', '/jobs?atomic=true', { body: again });
    expect(taken).toMatchObject({ status: 422, body: { results: [{ index: 2, status: 409 }] } });
    expect((await api.ask('GET', '/jobs')).body).toEqual({ jobs: [] });
    const own = { ...once, _id: 'own' };
    for (const submitted of [1, 0]) {
      const { body: report } = await api.ask('POST', '/jobs?atomic=true', { body: [own] });
      expect(report).toMatchObject({ submitted, existed: 1 - submitted });
    }
    await api.store.remove('own', String((await api.store.get('own'))?._rev));
    const good = await api.ask<Report>('POST', '/jobs?atomic=true', { body: [{ flow: 'greet' }] });
    expect(good.body).toMatchObject({ submitted: 1 });
  });

  it('says which line is no JSON, and takes ten thousand documents at most', async () => {
    const api = await ready();
    const broken = await api.ask('POST', '/jobs', { raw: '{"flow":"a"}\n{', headers: ndjson });
    expect(broken).toMatchObject({ status: 400, body: { error: 'json_invalid' } });
    expect(broken.body['reason']).toContain('line 2');
    const raw = '{}\n'.repeat(10_001);
    const many = await api.ask('POST', '/jobs', { raw, headers: ndjson });
    expect(many).toMatchObject({ status: 413, body: { error: 'bulk_too_many' } });
    const none = await api.ask<Report>('POST', '/jobs', { body: [] });
    expect(none.body).toEqual({ submitted: 0, existed: 0, refused: 0, results: [] });
  });
});

describe('asking many', () => {
  it('retries what failed and cancels what has not ended, by filter, with a report', async () => {
    const api = await ready();
    const engine = await api.engine();
    const jobs = Array.from({ length: 12 }, (_, i) => ({
      _id: `b${i}`,
      flow: 'break',
      tags: [i < 4 ? 'first' : 'later'],
    }));
    await api.ask('POST', '/jobs', { body: jobs });
    await api.ask('POST', '/jobs', { body: { _id: 'done', flow: 'greet' } });
    for (const { _id } of [...jobs, { _id: 'done' }]) await api.ended(_id);
    const filter = { tag: 'first' };
    const retried = await api.ask<Asked>('POST', '/jobs/retry', {
      body: { filter, reason: 'again', by: 'ada', wait: '20s' },
    });
    expect(retried.body).toMatchObject({ applied: 4, stored: 0, refused: 0, more: false });
    expect(retried.body.results.map(({ id }) => id).sort()).toEqual(['b0', 'b1', 'b2', 'b3']);
    for (const id of ['b0', 'b3']) {
      await api.until(id, ({ run, state }) => run === 2 && state === '$$complete');
    }
    expect(await api.client.get('b0')).toMatchObject({
      requests: [{ action: 'retry', by: 'ada', reason: 'again' }],
    });
    const limited = await api.ask<Asked>('POST', '/jobs/retry', { body: { limit: 5 } });
    expect(limited.body).toMatchObject({ stored: 5, more: true });
    await engine.stop();

    await api.ask('POST', '/jobs', {
      body: ['c1', 'c2', 'c3'].map((_id) => ({ _id, flow: 'greet' })),
    });
    const byId = await api.ask<Asked>('POST', '/jobs/cancel', {
      body: { ids: ['c1', 'c1', 'done', 'nix'] },
    });
    expect(byId.body.results.map(({ id, outcome }) => `${id} ${outcome}`).sort()).toEqual([
      'c1 stored',
      'done refused',
    ]);
    const open = await api.ask<Asked>('POST', '/jobs/cancel', {
      body: { filter: { flow: 'greet' } },
    });
    expect(open.body.results.map(({ id }) => id).sort()).toEqual(['c1', 'c2', 'c3']);
    await api.engine();
    for (const id of ['c1', 'c2', 'c3']) {
      expect(await api.ended(id)).toMatchObject({ state: '$$cancelled' });
    }
  });

  it('refuses filters that mean nothing', async () => {
    const api = await ready();
    for (const body of [
      { filter: { status: 'odd' } },
      { filter: { flaw: 'x' } },
      { limit: 0 },
      { limit: 1_001 },
      { ids: 'a' },
      { wait: 'long' },
      [],
    ]) {
      const answer = await api.ask('POST', '/jobs/cancel', { body });
      expect([body, answer.status]).toEqual([body, 400]);
    }
  });
});
