import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi, type TestApi } from './server.js';

type Body = {
  readonly error?: string;
  readonly reason?: string;
  readonly path?: string;
  readonly problems?: readonly { readonly path: string; readonly message: string }[];
};

const sealed = task('http', { params: { url: 'good', body: 'x' }, sealed: ['url'] });
const sentence = 'The parameter url of task "http" is sealed';

async function ready(): Promise<TestApi> {
  const api = await openApi();
  await api.put({ ...sealed, _id: 't1' }, { ...flow('call', ['http']), _id: 'f1' });
  return api;
}

describe('a job that sets a sealed parameter', () => {
  it.each<[string, object, string]>([
    ['of a task', { flow: 'call', params: { http: { url: 'evil' } } }, 'params.http'],
    ['of a step', { flow: 'call', params: { 'http-0': { url: 'evil' } } }, 'params.http-0'],
    ['in its own structure', { tasks: [{ task: 'http', params: { url: 'evil' } }] }, 'tasks'],
    [
      'for another owner than that of the task',
      { flow: 'call', owner: 'me', params: { http: { url: 'evil' } } },
      'params.http',
    ],
  ])('is refused when it is submitted: %s', async (_what, body, path) => {
    const api = await ready();
    const answer = await api.ask<Body>('POST', '/jobs', { body });
    expect(answer).toMatchObject({ status: 422, body: { error: 'document_invalid' } });
    expect(answer.body.problems).toHaveLength(1);
    expect(answer.body.reason).toContain(sentence);
    expect(answer.body.path).toContain(path.split('-')[0]);
    expect((await api.ask('GET', '/jobs')).body).toEqual({ jobs: [] });
    const checked = await api.ask<Body>('POST', '/jobs/check', { body });
    expect(checked.body).toMatchObject({ ok: false, problems: answer.body.problems });
  });

  it.each<[string, object]>([
    ['the same value', { flow: 'call', params: { http: { url: 'good' } } }],
    ['another parameter', { flow: 'call', params: { http: { body: 'y' } } }],
    ['an unknown flow', { flow: 'later', params: { http: { url: 'evil' } } }],
    ['an unknown task', { tasks: [{ task: 'later', params: { url: 'evil' } }] }],
  ])('is not meant by %s', async (_what, body) => {
    const api = await ready();
    expect((await api.ask('POST', '/jobs', { body })).status).toBe(201);
  });

  it('is refused among many, and with "atomic" none is stored', async () => {
    const api = await ready();
    const body = [{ flow: 'call' }, { flow: 'call', params: { http: { url: 'evil' } } }];
    const none = await api.ask<Body>('POST', '/jobs?atomic=true', { body });
    expect(none).toMatchObject({ status: 422, body: { error: 'bulk_refused' } });
    expect((await api.ask('GET', '/jobs')).body).toEqual({ jobs: [] });
    const { body: report } = await api.ask('POST', '/jobs', { body });
    expect(report).toMatchObject({
      submitted: 1,
      refused: 1,
      results: [{ status: 201 }, { status: 422, problem: { error: 'document_invalid' } }],
    });
  });

  it('is refused when a signal is to start it', async () => {
    const api = await ready();
    const body = { name: 'go', start: { flow: 'call', params: { http: { url: 'evil' } } } };
    const answer = await api.ask<Body>('POST', '/jobs/new/signal', { body });
    expect(answer).toMatchObject({ status: 422, body: { error: 'document_invalid' } });
    expect(answer.body.reason).toContain(sentence);
  });

  it('is found again when it was stored before the parameter was sealed', async () => {
    const api = await openApi();
    const before = task('http', { params: { url: 'good' } });
    await api.put({ ...before, _id: 't1' }, { ...flow('call', ['http']), _id: 'f1' });
    const body = { _id: 'a', flow: 'call', params: { http: { url: 'evil' } } };
    expect((await api.ask('POST', '/jobs', { body })).status).toBe(201);
    const stored = await api.store.get('t1');
    await api.put({ ...stored, _id: 't1', sealed: ['url'] });
    expect(await api.ask('POST', '/jobs', { body })).toMatchObject({
      status: 200,
      body: { existed: true },
    });
  });
});

describe('a job that its flow does not take', () => {
  // Shows.
  it.each<[string, object, string]>([
    ['deprecated', { flow: 'old' }, 'Flow "old" is deprecated and takes no new jobs: Use call.'],
    ['a search key that is not declared', { flow: 'keyed', keys: { zz: 1 } }, 'keys.zz is not'],
  ])('is refused when it is submitted: %s', async (_what, body, message) => {
    const api = await ready();
    await api.put({ ...flow('old', [], { deprecated: 'Use call.' }), _id: 'f2' });
    await api.put({ ...flow('keyed', [], { keys: ['order'] }), _id: 'f3' });
    const answer = await api.ask<Body>('POST', '/jobs', { body });
    expect(answer).toMatchObject({ status: 422, body: { error: 'document_invalid' } });
    expect(answer.body.reason).toContain(message);
    const checked = await api.ask<Body>('POST', '/jobs/check', { body });
    expect(checked.body).toMatchObject({ ok: false });
    const good = { flow: 'keyed', keys: { order: 1 } };
    expect((await api.ask('POST', '/jobs', { body: good })).status).toBe(201);
  });
});

describe('a flow that sets a sealed parameter', () => {
  it('is not stored', async () => {
    const api = await ready();
    const body = flow('bad', [{ task: 'http', params: { url: 'evil' } }]);
    const answer = await api.ask<Body>('PUT', '/flows/flow:me:bad', { body });
    expect(answer).toMatchObject({ status: 422, body: { error: 'document_invalid' } });
    expect(answer.body.reason).toContain(sentence);
  });
});

describe('an encrypted value in the "notify" of a job', () => {
  const url = 'https://hooks.example/x';
  const encrypted = 'tws:v2:AAAA';
  const reference = 'tws:secret:flow:DEFAULT:call:notify.0.secret';
  const advice = /put the entry into "notify" of the flow/;

  it.each<[string, object, string]>([
    ['a secret', { url, secret: encrypted }, 'notify[0].secret'],
    ['as an object', { url, secret: { $enc: 'x' } }, 'notify[0].secret'],
    ['a reference', { url, secret: reference }, 'notify[0].secret'],
    ['a header', { url, headers: { 'x-key': encrypted } }, 'notify[0].headers.x-key'],
    ['a parameter', { task: 'http', params: { a: [encrypted] } }, 'notify[0].params.a[0]'],
  ])('is refused when it is submitted, alone and among many: %s', async (_what, entry, path) => {
    const api = await ready();
    const body = { flow: 'call', notify: [entry] };
    const answer = await api.ask<Body>('POST', '/jobs', { body });
    expect(answer).toMatchObject({ status: 422, body: { error: 'document_invalid', path } });
    expect(answer.body.reason).toMatch(advice);
    expect(answer.text).not.toContain('AAAA');
    expect((await api.ask<Body>('POST', '/jobs/check', { body })).body).toMatchObject({
      ok: false,
    });
    const { body: report } = await api.ask('POST', '/jobs', { body: [{ flow: 'call' }, body] });
    expect(report).toMatchObject({ submitted: 1, refused: 1 });
  });

  it('is a text like any other in the flow, where it is decrypted', async () => {
    const api = await ready();
    await api.put({ ...flow('told', ['http']), _id: 'f2', notify: [{ url, secret: encrypted }] });
    const body = { flow: 'told', notify: [{ url, secret: 'plain' }] };
    expect((await api.ask('POST', '/jobs', { body })).status).toBe(201);
  });
});
