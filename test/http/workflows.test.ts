import type { StoredDocument } from '../../src/model/document.js';
import { describe, expect, it } from 'vitest';
import { noCode } from '../../src/plugin/code-policy.js';
import { join } from 'node:path';
import { packageRoot } from '../../src/package.js';
import { loadPlugins } from '../../src/plugin/loader.js';
import { openApi, type TestApi } from './server.js';

const body = (text: string): string => `function (job, cb) { ${text} }`;
const task = (name: string, text: string, more: object = {}) => ({
  name,
  body: body(text),
  ...more,
});

const workflow = {
  name: 'A workflow',
  chain: [
    task('A task', "job.asked = job.params.foo; return cb('wait');", { timeout: 30, retry: 3 }),
  ],
  timeout: 180,
  onerror: [task('Another task', 'job.sorry = true; return cb(null);')],
  bar: 'baz',
};
const longer = { ...workflow, chain: [...workflow.chain, task('One more', "cb(null, 'more');")] };
const bodiless = { ...workflow, name: 'Other', chain: [{ name: 'A task', timeout: 30 }] };
const order = { target: '/foo/bar', foo: 'bar', chicken: 'arise!' };

type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & Record<string, unknown>[];
};

/** Asks a route at the root. */
async function ask(
  url: string,
  method: string,
  path: string,
  given?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const reply = await fetch(`${url}${path}`, {
    method,
    headers: { ...(given === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(given === undefined ? {} : { body: JSON.stringify(given) }),
  });
  const text = await reply.text();
  const parsed = (text === '' ? undefined : JSON.parse(text)) as Answer['body'];
  return { status: reply.status, headers: reply.headers, body: parsed };
}

const open = (more: object = {}): Promise<TestApi> =>
  openApi({ settings: { node_workflow: true }, scriptOwners: ['*'], ...more });

/** An engine that runs code: the plugin runs in a thread, which takes the built one. */
async function startEngine(api: TestApi): Promise<void> {
  const folders = [join(packageRoot(), 'dist', 'plugins')];
  const plugins = await loadPlugins({ folders, log: () => undefined });
  await api.engine({ plugins, code: { ...noCode, script: ['*'] } });
}

/** What is known of the things that were made before. */
type Made = { wf: string; job: string; other: string };
type Case = readonly [
  name: string,
  method: string,
  path: string | ((made: Made) => string),
  given: unknown,
  status: number,
  expected?: unknown,
  after?: (answer: Answer, made: Made) => void,
];

const missing = 'no-such-id';
const gone = { code: 'ResourceNotFound' };

/** While no engine runs. */
const stored: readonly Case[] = [
  ['no workflows are an empty list', 'GET', '/workflows', undefined, 200, []],
  [
    'a workflow is made',
    ...(['POST', '/workflows', workflow, 201] as const),
    { name: 'A workflow', chain: [{ name: 'A task' }], onerror: [{}], bar: 'baz', timeout: 180 },
    ({ body: made, headers }, ids) => {
      ids.wf = String(made['uuid']);
      expect(made).toMatchObject({
        chain_md5: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
        onerror_md5: expect.any(String) as unknown,
      });
      expect(headers.get('location')).toBe(`/workflows/${ids.wf}`);
      expect(headers.get('request-id')).toBe(ids.wf);
    },
  ],
  [
    'a name that is taken is refused',
    ...(['POST', '/workflows', workflow, 409] as const),
    { code: 'InvalidArgument' },
    ({ headers }: Answer) => expect(headers.get('request-id')).toBe('asked-1'),
  ],
  [
    'a task without a body is refused',
    ...(['POST', '/workflows', bodiless, 409] as const),
    { code: 'ConflictError', message: expect.stringContaining('it has no body.') as unknown },
  ],
  [
    'the workflows are listed',
    'GET',
    '/workflows',
    undefined,
    200,
    [{ chain: [{}], onerror: [{}] }],
  ],
  ['a workflow is found by its name', 'GET', '/workflows?name=A%20workflow', undefined, 200, [{}]],
  ['no workflow has another name', 'GET', '/workflows?name=whatever', undefined, 200, []],
  ['a workflow is read', 'GET', ({ wf }) => `/workflows/${wf}`, undefined, 200, { chain: [{}] }],
  ['an unknown workflow is missing', 'GET', `/workflows/${missing}`, undefined, 404, gone],
  [
    'a workflow is changed',
    ...(['PUT', ({ wf }: Made) => `/workflows/${wf}`, longer, 200] as const),
    { chain: [{}, {}], onerror: [{}] },
  ],
  ['an unknown workflow is not changed', 'PUT', `/workflows/${missing}`, longer, 404, gone],
  [
    'a change to a task without a body is refused',
    ...(['PUT', ({ wf }: Made) => `/workflows/${wf}`, bodiless, 409] as const),
    { code: 'ConflictError', message: expect.stringContaining('it has no body.') as unknown },
  ],
  ['no jobs are an empty list', 'GET', '/jobs', undefined, 200, []],
  [
    'no jobs of an execution are an empty list',
    'GET',
    '/jobs?execution=queued',
    undefined,
    200,
    [],
  ],
  [
    'an execution that does not exist is refused',
    ...(['GET', '/jobs?execution=sleepy', undefined, 409] as const),
    { code: 'ConflictError', message: expect.stringContaining('execution') as unknown },
  ],
  [
    'a job without a workflow is refused',
    ...(['POST', '/jobs', order, 409] as const),
    { message: expect.stringContaining('workflow') as unknown },
  ],
  ['a job of an unknown workflow is', 'POST', '/jobs', { ...order, workflow: missing }, 404, gone],
  [
    'a job is made',
    ...(['POST', '/jobs', { ...order, workflow: 'WF' }, 201] as const),
    {
      ...{ execution: 'queued', chain: [{}, {}], chain_results: [], onerror: [{}] },
      ...{ params: { foo: 'bar', chicken: 'arise!' }, target: '/foo/bar', num_attempts: 0 },
    },
    ({ body: made, headers }, ids) => {
      ids.job = String(made['uuid']);
      expect(made['workflow_uuid']).toBe(ids.wf);
      expect(headers.get('location')).toBe(`/jobs/${ids.job}`);
      expect(headers.get('request-id')).toBe(ids.job);
    },
  ],
  [
    'the same target and parameters are refused',
    ...(['POST', '/jobs', { ...order, workflow: 'WF' }, 409] as const),
    { code: 'InvalidArgument' },
  ],
  [
    'the same target with other parameters is taken',
    ...(['POST', '/jobs', { ...order, chicken: 'egg', workflow: 'WF' }, 201] as const),
    { params: { foo: 'bar', chicken: 'egg' } },
    ({ body: made }, ids) => void (ids.other = String(made['uuid'])),
  ],
  ['the jobs are listed', 'GET', '/jobs', undefined, 200, [{}, {}]],
  ['the queued jobs are listed', 'GET', '/jobs?execution=queued', undefined, 200, [{}, {}]],
  ['and by a parameter', 'GET', '/jobs?execution=queued&foo=bar', undefined, 200, [{}, {}]],
  ['jobs are found by a parameter', 'GET', '/jobs?chicken=egg', undefined, 200, [{}]],
  ['jobs are read in parts', 'GET', '/jobs?offset=1&limit=5', undefined, 200, [{}]],
  ['a limit that is no number is refused', 'GET', '/jobs?limit=all', undefined, 409, {}],
  [
    'the figures are told',
    ...(['GET', '/stats', undefined, 200] as const),
    { current: { queued: 2 }, all_time: { queued: 0 }, past_24h: {}, past_hour: { failed: 0 } },
  ],
  ['a job is read', 'GET', ({ job }) => `/jobs/${job}`, undefined, 200, { execution: 'queued' }],
  ['an unknown job is missing', 'GET', `/jobs/${missing}`, undefined, 404, gone],
  ['a job cannot be put', 'PUT', ({ job }) => `/jobs/${job}`, {}, 405],
  ['the server answers a ping', 'GET', '/ping', undefined, 200, { backend: 'up' }],
];

/** While an engine runs, and both jobs wait. */
const running: readonly Case[] = [
  [
    'information of an unknown job is refused',
    'POST',
    `/jobs/${missing}/info`,
    { a: 1 },
    404,
    gone,
  ],
  ['information is taken', 'POST', ({ job }) => `/jobs/${job}/info`, { '10%': 'first step' }, 200],
  [
    'information of an unknown job is missing',
    'GET',
    `/jobs/${missing}/info`,
    undefined,
    404,
    gone,
  ],
  [
    'information is told',
    ...(['GET', ({ job }: Made) => `/jobs/${job}/info`, undefined, 200] as const),
    [{ '10%': 'first step' }],
  ],
  ['the waiting jobs are listed', 'GET', '/jobs?execution=waiting', undefined, 200, [{}, {}]],
  ['an unknown job is not cancelled', 'POST', `/jobs/${missing}/cancel`, {}, 404, gone],
  [
    'a job is cancelled',
    ...(['POST', ({ job }: Made) => `/jobs/${job}/cancel`, {}, 200] as const),
    { execution: 'canceled' },
  ],
  ['an unknown job is not resumed', 'POST', `/jobs/${missing}/resume`, {}, 404, gone],
  [
    'a job that does not wait is not resumed',
    ...(['POST', ({ job }: Made) => `/jobs/${job}/resume`, {}, 409] as const),
    { code: 'ConflictError' },
  ],
  [
    'a waiting job is resumed with a result',
    ...(['POST', ({ other }: Made) => `/jobs/${other}/resume`, { result: 'well' }, 200] as const),
    { execution: 'queued', chain_results: [{ name: 'A task', result: 'well', error: '' }] },
  ],
];

const ends: readonly Case[] = [
  [
    'a job has the results of its tasks',
    ...(['GET', ({ other }: Made) => `/jobs/${other}`, undefined, 200] as const),
    {
      execution: 'succeeded',
      asked: 'bar',
      chain_results: [{ result: 'well' }, { result: 'more' }],
    },
  ],
  [
    'a job that has ended is not cancelled',
    ...(['POST', ({ other }: Made) => `/jobs/${other}/cancel`, {}, 409] as const),
    { code: 'ConflictError' },
  ],
  [
    'a target is free when its job has ended',
    ...(['POST', '/jobs', { ...order, workflow: 'WF' }, 201] as const),
    {},
    ({ body: made }, ids) => void (ids.job = String(made['uuid'])),
  ],
];

const last: readonly Case[] = [
  [
    'a waiting job is resumed with an error',
    ...(['POST', ({ job }: Made) => `/jobs/${job}/resume`, { error: 'it failed' }, 200] as const),
    { execution: 'failed', chain_results: [{ error: 'it failed' }] },
  ],
  ['a workflow is removed', 'DELETE', ({ wf }) => `/workflows/${wf}`, undefined, 204],
  ['an unknown workflow is not removed', 'DELETE', `/workflows/${missing}`, undefined, 404, gone],
];

describe('the routes of node-workflow', () => {
  // Shows X-58.
  it('answer each case as its clients know it', async () => {
    const api = await open();
    const made: Made = { wf: '', job: '', other: '' };
    const all = async (cases: readonly Case[]): Promise<void> => {
      for (const [name, method, path, given, status, expected, after] of cases) {
        const sent = JSON.stringify(given)?.replace('"WF"', JSON.stringify(made.wf));
        const where = typeof path === 'string' ? path : path(made);
        const headers = name.includes('taken is') ? { 'request-id': 'asked-1' } : {};
        const body: unknown = sent === undefined ? undefined : JSON.parse(sent);
        const answer = await ask(api.url, method, where, body, headers);
        expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).toBe(status);
        if (Array.isArray(expected)) expect(answer.body, name).toHaveLength(expected.length);
        if (expected !== undefined) expect(answer.body, name).toMatchObject(expected as object);
        after?.(answer, made);
      }
    };
    const until = async (id: string, execution: string): Promise<void> => {
      const read = async () => (await ask(api.url, 'GET', `/jobs/${id}`)).body['execution'];
      await expect.poll(read, { message: id }).toBe(execution);
    };
    await all(stored);
    await startEngine(api);
    await until(made.job, 'waiting');
    await until(made.other, 'waiting');
    await all(running);
    await until(made.other, 'succeeded');
    await all(ends);
    await until(made.job, 'waiting');
    await all(last);
    await until(made.job, 'failed');
    const failed = await ask(api.url, 'GET', `/jobs/${made.job}`);
    expect(failed.body).toMatchObject({ sorry: true, onerror_results: [{ name: 'Another task' }] });
    expect(await api.client.definitions('task')).toEqual([]);
    const { body: figures } = await ask(api.url, 'GET', '/stats');
    expect(figures).toMatchObject({ current: { succeeded: 1, failed: 1, canceled: 1, queued: 0 } });
    expect([...stored, ...running, ...ends, ...last].length).toBeGreaterThan(36);
  });

  it('run functions with retries, fallbacks and all that a task may do', async () => {
    const api = await open();
    await startEngine(api);
    const chain = [
      task('Twice', "job.n = (job.n || 0) + 1; info({ n: job.n }); cb(job.n < 2 ? 'no' : null);", {
        retry: 2,
      }),
      task('Falls', "cb(new Error('down'));", {
        fallback: "function (err, job, cb) { job.why = err; job.params.late = 1; cb(null, 'up'); }",
      }),
      task('Again', "job.log.info({ a: 1 }, 'so'); cb(job.num_attempts < 1 ? 'retry' : 'queue');"),
      task('Ends', 'delete job.why; job.saw = job.chain_results.length; cb();'),
    ];
    const given = { name: 'All', uuid: 'wf-1', chain, initial_delay: 1 };
    expect((await ask(api.url, 'POST', '/workflows', given)).status).toBe(201);
    const locking = { workflow: 'wf-1', uuid: 'job-1', target: '/a', locks: '^/b' };
    await ask(api.url, 'POST', '/jobs', { ...locking, size: 3 });
    const ended = await api.ended('job-1');
    expect(ended['failure']).toBeUndefined();
    expect(ended).toMatchObject({ exit: 0, restarts: 1 });
    const { body: seen } = await ask(api.url, 'GET', '/jobs/job-1');
    expect(seen).toMatchObject({
      ...{ execution: 'succeeded', num_attempts: 1, n: 2, saw: 3, params: { size: 3, late: 1 } },
      chain_results: [{ result: 'OK' }, { name: 'Falls', result: 'up' }, {}, { name: 'Ends' }],
    });
    expect(seen).not.toHaveProperty('why');
    const { body: infos } = await ask(api.url, 'GET', '/jobs/job-1/info');
    expect(infos.map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }, { n: 2 }]);
  });

  it('are there only where the settings say so, run code only where they allow it, and know owners', async () => {
    const closed = await openApi();
    expect((await ask(closed.url, 'GET', '/workflows')).status).toBe(404);
    const api = await open({
      scriptOwners: ['a'],
      settings: { node_workflow: true, sign_in: 'always' },
    });
    expect((await ask(api.url, 'GET', '/jobs')).status).toBe(401);
    expect((await ask(api.url, 'GET', '/ping')).status).toBe(200);
    const token = async (...roles: readonly string[]) => ({
      authorization: `Bearer ${await api.tokenOf(...roles)}`,
    });
    const [a, b] = [
      await token('tws-admin', 'tws-owner:a'),
      await token('tws-admin', 'tws-owner:b'),
    ];
    const viewer = await token('tws-viewer', 'tws-owner:a');
    const refused = await ask(api.url, 'POST', '/workflows', workflow, b);
    expect([refused.status, refused.body['code']]).toEqual([403, 'NotAuthorized']);
    const strange = { ...workflow, chain: [task('Odd', 'return')], timeout: 'soon' };
    const invalid = await ask(api.url, 'POST', '/workflows', strange, a);
    expect([invalid.status, invalid.body['code']]).toEqual([409, 'ConflictError']);
    const made = await ask(api.url, 'POST', '/workflows', workflow, a);
    expect(made.status).toBe(201);
    const path = `/workflows/${String(made.body['uuid'])}`;
    expect((await ask(api.url, 'GET', path, undefined, b)).status).toBe(404);
    expect((await ask(api.url, 'GET', path, undefined, viewer)).status).toBe(200);
    expect((await ask(api.url, 'DELETE', path, undefined, viewer)).status).toBe(403);
    const foreign = { ...b, 'x-tws-owner': 'a' };
    expect((await ask(api.url, 'GET', '/jobs', undefined, foreign)).status).toBe(403);
    const job = { workflow: made.body['uuid'], uuid: 'j1' };
    expect((await ask(api.url, 'POST', '/jobs', job, viewer)).status).toBe(403);
    expect((await ask(api.url, 'POST', '/jobs', job, a)).status).toBe(201);
    expect((await ask(api.url, 'GET', '/jobs/j1', undefined, b)).status).toBe(404);
  });

  it('are in the reference of a server that has them', async () => {
    const pathsOf = async ({ url }: TestApi) => {
      const { body } = await ask(url, 'GET', '/_tws/openapi.json');
      return Object.keys((body as { paths?: object }).paths ?? {});
    };
    const own = ['/workflows', '/workflows/{uuid}', '/jobs', '/jobs/{uuid}'];
    expect(await pathsOf(await open())).toEqual(expect.arrayContaining(own));
    expect(await pathsOf(await openApi())).not.toEqual(expect.arrayContaining(['/workflows']));
  });

  it('refuse a job whose target another one has locked', async () => {
    const api = await open();
    await startEngine(api);
    await ask(api.url, 'POST', '/workflows', { ...workflow, uuid: 'wf-1' });
    const lock = { workflow: 'wf-1', uuid: 'job-1', target: '/a', locks: '(modify|destroy)$' };
    expect((await ask(api.url, 'POST', '/jobs', lock)).status).toBe(201);
    await api.until('job-1', ({ steps }) => Array.isArray(steps) && steps.length > 0);
    const other = { workflow: 'wf-1', target: '/a/modify' };
    const refused = await ask(api.url, 'POST', '/jobs', other);
    expect([refused.status, refused.body['code']]).toEqual([409, 'InvalidArgument']);
    expect(refused.body['message']).toBe('The target "/a/modify" is locked by job job-1.');
  });

  it('take no uuid twice, and go without what only has a name like theirs', async () => {
    const api = await open();
    const tasks = () => api.client.definitions('task');
    expect((await ask(api.url, 'POST', '/workflows', { ...workflow, uuid: 'backup' })).status).toBe(
      201,
    );
    const own = {
      type: 'task',
      name: 'backup.daily',
      owner: 'DEFAULT',
      plugin: 'noop',
      params: {},
    };
    await api.client.write({ ...own, _id: 'own' });
    const before = await tasks();
    const twin = await ask(api.url, 'POST', '/workflows', { ...longer, name: 'X', uuid: 'backup' });
    expect([twin.status, twin.body['code']]).toEqual([409, 'ConflictError']);
    expect(twin.body['message']).toContain('workflow "A workflow" has its "uuid"');
    expect(await tasks()).toEqual(before);
    expect((await ask(api.url, 'DELETE', '/workflows/backup')).status).toBe(204);
    expect(await tasks()).toMatchObject([{ _id: 'own' }]);
  });

  it('keep what a flow says beside its workflow', async () => {
    const api = await open();
    expect((await ask(api.url, 'POST', '/workflows', { ...workflow, uuid: 'w' })).status).toBe(201);
    const [flow] = await api.client.definitions('flow');
    await api.client.write({ ...(flow as StoredDocument), enabled: false, version: '7' });
    expect((await ask(api.url, 'PUT', '/workflows/w', { chain: longer.chain })).status).toBe(200);
    const [after] = await api.client.definitions('flow');
    expect(after).toMatchObject({ enabled: false, version: '7', tasks: [{}, {}] });
    expect(after).not.toHaveProperty('error');
  });

  it('of several versions are the current one by their name, and each by its uuid', async () => {
    const api = await open();
    const flow = { type: 'flow', name: 'order', owner: 'DEFAULT', tasks: ['a'], node_workflow: {} };
    const task = { type: 'task', name: 'a', owner: 'DEFAULT', plugin: 'noop' };
    await api.client.write({ ...task, _id: 'task-a' });
    await api.client.write({ ...flow, _id: 'order-1', version: '1' });
    await api.client.write({ ...flow, _id: 'order-2', version: '2', current: true });
    expect((await ask(api.url, 'GET', '/workflows/order')).body).toMatchObject({ uuid: 'order-2' });
    const submit = async (wanted: string, uuid: string) => {
      const { status } = await ask(api.url, 'POST', '/jobs', { workflow: wanted, uuid });
      return [status, (await api.client.get(uuid))?.['flow_version']];
    };
    expect(await submit('order', 'by-name')).toEqual([201, undefined]);
    expect(await submit('order-1', 'by-uuid')).toEqual([201, '1']);
  });
});
