import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { problem } from '../../src/errors.js';
import { describeApi } from '../../src/http/reference/document.js';
import type { OpenApi } from '../../src/http/reference/openapi.js';
import { fullPath, type Route } from '../../src/http/route.js';
import { routes } from '../../src/http/routes.js';
import type { LinkPlace } from '../../src/model/answer-link.js';
import { openAnswerLinks } from '../../src/secrets/answer-links.js';
import { flow, task } from '../cli/terminal.js';
import { openStream } from './events.js';
import { makeUser, openApi, type Asking, type TestApi } from './server.js';
import { vaultOf } from '../support/vault.js';
import { openWorkspace } from '../support/workspace.js';
import { createKeyring } from '../../src/secrets/keyring.js';
import { openVault } from '../../src/sensitive/vault.js';

/** Every status that the reference names is provoked, on every route that names it. */

const reference: OpenApi = describeApi(routes, '0.0.0');
const provoked = new Map<string, Set<number>>();

function note(route: Route, status: number): void {
  const statuses = provoked.get(route.id) ?? new Set();
  provoked.set(route.id, statuses.add(status));
}

function routeOf(id: string): Route {
  const found = routes.find((route) => route.id === id);
  if (found === undefined) throw new Error(`There is no route ${id}.`);
  return found;
}

const open = { type: 'hook', name: 'open', flow: 'greet', check: 'none' };
const hourly = { type: 'schedule', name: 'hourly', flow: 'greet', every: 'PT1H' };

/** A request that a route accepts. */
const bodies: Readonly<Record<string, unknown>> = {
  submitJobs: { flow: 'greet' },
  checkJob: { flow: 'greet' },
  putTask: task('echo'),
  checkTask: task('echo'),
  putFlow: flow('greet', ['echo']),
  checkFlow: flow('greet', ['echo']),
  putSchedule: hourly,
  checkSchedule: hourly,
  backfillSchedule: { from: 1, until: 2 },
  putHook: open,
  checkHook: open,
  putNotifyList: { notify: [{ task: 'echo' }] },
  checkNotifyList: { notify: [{ task: 'echo' }] },
  testNotify: {},
  deliverToHook: { n: 1 },
  signalJob: { name: 'go' },
  answerForm: { data: {} },
  skipJob: { step: 'echo' },
  notesJob: { text: 'Seen.' },
  infoJob: { message: 'Half.' },
  announceEvent: { event: 'payment' },
  putSensitive: { subject: 'maria', values: { iban: 'DE02120300000000202051' } },
  referSensitive: { subject: 'maria' },
  readSensitive: { subject: 'maria', names: ['iban'] },
  purgeSensitive: { subject: 'maria' },
  signIn: { name: 'ada', password: 'wrong' },
  createToken: { name: 'x', roles: ['tws-viewer'] },
  retryJobs: {},
  useFlowVersion: { version: '1' },
  migrateJobs: {},
  checkMigrations: {},
  cancelJobs: {},
  ojsEnqueue: { type: 'echo', args: [] },
  ojsEnqueueMany: { jobs: [{ type: 'echo', args: [] }] },
  ojsFetch: { queues: ['default'] },
  ojsAck: { job_id: 'nix' },
  ojsNack: { job_id: 'nix', error: { message: 'No.' } },
  ojsHeartbeat: { worker_id: 'w1', active_jobs: ['nix'] },
  ojsMakeWorkflow: { type: 'chain', steps: [{ type: 'echo', args: [] }] },
  ojsMakeCron: { name: 'c', cron: '@daily', type: 'echo', args: [] },
};

/** A job with a step that asks a person, or has asked. */
function asking(_id: string, state = '$$waiting') {
  const step = { index: 0, path: '0', name: 'ask', task: 'wait', attempt: 1, run: 1 };
  const ended = state === '$$waiting' ? {} : { end: 2, exit: 0, result: {} };
  const form = { assignee: ['ann'], ...(state === '$$waiting' ? {} : { answered: { at: 2 } }) };
  const tasks = { structure: 'sequence', sequence: [{ task: 'wait', wait: { form: {} } }] };
  return {
    ...{ _id, type: 'job', flow: 'q', owner: 'DEFAULT', state: 'wait-0', start: 1, run: 1 },
    ...{ tasks, flow_definition: { type: 'flow', name: 'q', owner: 'DEFAULT', timeout: 0 } },
    ...{ definitions: {}, params: {} },
    steps: [
      { ...step, phase: 'main', state, accepted: 1, start: 1, signal: 'ask', form, ...ended },
    ],
  };
}

function pathFor(route: Route, id = 'some'): string {
  return fullPath(route)
    .replace('{id}', encodeURIComponent(id))
    .replace('{step}', 'echo')
    .replace('{version}', '1')
    .replace('{token}', 'some')
    .replace('{owner}', 'acme')
    .replace('{name}', 'default');
}

function askingFor(route: Route): Asking {
  const { method, body, id } = route;
  if (method === 'GET' || body === undefined) return {};
  return { body: bodies[id] ?? {} };
}

/** Streams never end by themselves: their status is all there is to wait for. */
async function statusOf(
  api: TestApi,
  route: Route,
  { path = pathFor(route), ...asking }: Asking & { readonly path?: string } = {},
): Promise<number> {
  const given = { ...askingFor(route), ...asking };
  if (route.id === 'followChanges') {
    const stream = await openStream(`${api.url}${path}`, {
      ...(given.token === undefined ? {} : { authorization: `Bearer ${given.token}` }),
      ...given.headers,
    });
    stream.close();
    note(route, stream.status);
    return stream.status;
  }
  const { status } = await api.ask(route.method, path, given);
  note(route, status);
  return status;
}

/** Headers of a new user with these roles. */
async function sessionOf(api: TestApi, ...roles: readonly string[]) {
  const answer = await api.ask('POST', '/session', { body: await makeUser(...roles) });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { cookie, 'x-tws-request': '1' };
}

/** Whoever may call all routes of a kind: somebody on this machine, or a user with the role. */
async function callersOf(
  api: TestApi,
): Promise<(route: Route) => Readonly<Record<string, string>>> {
  const session = await sessionOf(api, 'tws-sensitive');
  return ({ access }) => (access === 'sensitive' ? session : {});
}

const guarded = routes.filter(({ access }) => access !== 'open');
const writing = routes.filter(({ method }) => method !== 'GET');
const withBody = routes.filter(({ body }) => body !== undefined);
const parameterised = routes.filter(
  ({ query, params, body }) =>
    (query !== undefined || params !== undefined) && body?.isRaw !== true,
);

describe('any route', () => {
  it('answers 401 without sign-in, and with a token that is none', async () => {
    const api = await openApi({ settings: { sign_in: 'always' } });
    for (const route of guarded) {
      expect([route.id, await statusOf(api, route)]).toEqual([route.id, 401]);
      expect([route.id, await statusOf(api, route, { token: 'nonsense' })]).toEqual([
        route.id,
        401,
      ]);
    }
  });

  it('answers 403 to a role that does not suffice, and to pages of another origin', async () => {
    const api = await openApi({ settings: { sign_in: 'always' } });
    const below = {
      viewer: await api.tokenOf(),
      operator: await api.tokenOf('tws-viewer'),
      admin: await api.tokenOf('tws-operator'),
      sensitive: await api.tokenOf('tws-admin'),
    };
    for (const route of routes) {
      if (route.access === 'open' || route.access === 'none') continue;
      const token = below[route.access];
      expect([route.id, await statusOf(api, route, { token })]).toEqual([route.id, 403]);
    }
    const headers = { origin: 'https://evil.example' };
    const token = await api.tokenOf('tws-admin');
    for (const route of writing) {
      expect([route.id, await statusOf(api, route, { token, headers })]).toEqual([route.id, 403]);
    }
  });

  it('answers 429 to whoever asks too often', async () => {
    const api = await openApi({ settings: { rate: { per_second: 0.001, burst: 1 } } });
    await api.ask('GET', '/session');
    for (const route of guarded) {
      expect([route.id, await statusOf(api, route)]).toEqual([route.id, 429]);
    }
    const { headers } = await api.ask('GET', '/jobs');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const signIn = routeOf('signIn');
    for (let tries = 0; tries < 10; tries += 1) await statusOf(api, signIn);
    expect(await statusOf(api, signIn)).toBe(429);
    const deliver = routeOf('deliverToHook');
    const refused = Array.from({ length: 60 }, () => statusOf(api, deliver));
    expect(await Promise.all(refused)).toContain(404);
    expect(await statusOf(api, deliver)).toBe(429);
  });

  it('answers 413 to a body that is too large, 415 to other media types, 400 to what is no JSON', async () => {
    const api = await openApi({ settings: { body_limit: 500 } });
    const callerOf = await callersOf(api);
    for (const route of withBody) {
      const caller = callerOf(route);
      const raw = JSON.stringify({ text: 'x'.repeat(1_000) });
      const large = await statusOf(api, route, { raw, headers: caller });
      expect([route.id, large]).toEqual([route.id, 413]);
      // It reads any text that its sender has signed.
      if (route.body?.isRaw === true) continue;
      const headers = { ...caller, 'content-type': 'text/plain' };
      const strange = route.facade === 'ojs' ? 400 : 415;
      expect([route.id, await statusOf(api, route, { raw: '{}', headers })]).toEqual([
        route.id,
        strange,
      ]);
      const broken = await statusOf(api, route, { raw: '{', headers: caller });
      expect([route.id, broken]).toEqual([route.id, 400]);
    }
  });

  it('answers 400 to parameters that mean nothing', async () => {
    const api = await openApi();
    const callerOf = await callersOf(api);
    for (const route of parameterised) {
      const path = `${pathFor(route)}?nonsense=1`;
      const status = await statusOf(api, route, { path, headers: callerOf(route) });
      expect([route.id, status]).toEqual([route.id, 400]);
    }
  });

  it('of the façade answers 422 to another version of the specification', async () => {
    const api = await openApi();
    const headers = { 'ojs-version': '2.0' };
    for (const route of guarded.filter(({ facade }) => facade === 'ojs')) {
      expect([route.id, await statusOf(api, route, { headers })]).toEqual([route.id, 422]);
    }
  });

  it('answers 503 while the database is away, and never says where it is', async () => {
    const { client } = await openApi();
    const away = async (): Promise<never> => {
      throw (await import('../../src/errors.js')).problem('couch_unreachable', {
        url: 'http://secret.internal:5984',
        cause: 'connection refused',
      });
    };
    const broken = Object.fromEntries(Object.keys(client).map((name) => [name, away]));
    const api = await openApi({
      settings: { sign_in: 'always' },
      client: broken as unknown as typeof client,
    });
    for (const route of guarded) {
      const path = pathFor(route);
      const { status, text } = await api.ask(route.method, path, {
        ...askingFor(route),
        token: 'tws_000000000000_0000000000000000000000000000000000000000000',
      });
      note(route, status);
      expect([route.id, status]).toEqual([route.id, 503]);
      expect(text).not.toContain('secret.internal');
    }
    expect(await statusOf(api, routeOf('signIn'))).toBe(503);
    expect(api.lines.some(({ message }) => message.includes('secret.internal'))).toBe(true);
  });
});

/** A job that failed, as replication would bring it. */
const ended = {
  type: 'job',
  flow: 'gone',
  state: '$$complete',
  exit: 3,
  end: 1_700_000_000_000,
  failure: { name: 'FlowMissing', message: 'There is no such flow.' },
};

describe('each route', () => {
  const plugins = {
    'hold.mjs': `export default ({ signal }) => new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
    });`,
  };
  let api: TestApi;
  const go = (id: string, path: string, asking: Asking = {}): Promise<number> =>
    statusOf(api, routeOf(id), { path: `/_tws${path}`, ...asking });

  // Shows L-05.
  it('answers as the reference says', async () => {
    api = await openApi({ files: plugins });
    expect(await go('putTask', '/tasks/echo', { headers: { 'if-match': '*' } })).toBe(412);
    expect(await go('putTask', '/tasks/echo')).toBe(201);
    const { body: stored } = await api.ask('GET', '/tasks/echo');
    const match = { 'if-match': `"${String(stored['rev'])}"` };
    expect(await go('putTask', '/tasks/echo', { headers: match })).toBe(200);
    expect(await go('putTask', '/tasks/echo', { headers: match })).toBe(409);
    expect(await go('putTask', '/tasks/echo', { body: { name: 7 } })).toBe(422);
    const hold = task('hold', { plugin: 'hold', timeout: 0 });
    await api.ask('PUT', '/tasks/hold', { body: hold });
    await api.ask('PUT', '/tasks/bad', { body: task('bad', { plugin: 'fail' }) });
    expect(await go('putFlow', '/flows/greet', { headers: { 'if-match': '*' } })).toBe(412);
    expect(await go('putFlow', '/flows/greet')).toBe(201);
    expect(await go('putFlow', '/flows/greet')).toBe(409);
    const flowNow = await api.ask('GET', '/flows/greet');
    const flowMatch = { 'if-match': String(flowNow.headers.get('etag')) };
    expect(await go('putFlow', '/flows/greet', { headers: flowMatch })).toBe(200);
    expect(await go('putFlow', '/flows/greet', { body: { tasks: 1 } })).toBe(422);
    await api.ask('PUT', '/flows/wait', { body: flow('wait', ['hold'], { timeout: 0 }) });
    await api.ask('PUT', '/flows/break', { body: flow('break', ['bad']) });
    expect(await go('checkTask', '/tasks/check')).toBe(200);
    expect(await go('checkTask', '/tasks/check', { raw: '[]' })).toBe(422);
    expect(await go('checkFlow', '/flows/check')).toBe(200);
    expect(await go('checkFlow', '/flows/check', { raw: '7' })).toBe(422);
    expect(await go('getTask', '/tasks/echo')).toBe(200);
    expect(await go('getTask', '/tasks/nix')).toBe(404);
    expect(await go('getFlow', '/flows/greet')).toBe(200);
    expect(await go('getFlow', '/flows/nix')).toBe(404);
    await api.put(
      { ...flow('twice', ['echo']), _id: 'one' },
      { ...flow('twice', ['echo']), _id: 'two' },
    );
    await api.put({ ...task('twice'), _id: 'three' }, { ...task('twice'), _id: 'four' });
    expect(await go('getFlow', '/flows/twice')).toBe(409);
    expect(await go('getTask', '/tasks/twice')).toBe(409);
    expect(await go('checkFlow', '/flows/check', { body: flow('twice', ['echo']) })).toBe(409);
    expect(await go('checkTask', '/tasks/check', { body: task('twice') })).toBe(409);
    expect(await go('enableFlow', '/flows/twice/enable')).toBe(409);
    expect(await go('disableFlow', '/flows/twice/disable')).toBe(409);
    for (const word of ['disable', 'enable']) {
      expect(await go(`${word}Flow`, `/flows/greet/${word}`)).toBe(200);
      expect(await go(`${word}Flow`, `/flows/nix/${word}`)).toBe(404);
    }
    expect(await go('listTasks', '/tasks')).toBe(200);
    expect(await go('listFlows', '/flows')).toBe(200);

    expect(await go('submitJobs', '/jobs', { body: { _id: 'a', flow: 'greet' } })).toBe(201);
    expect(await go('submitJobs', '/jobs', { body: { _id: 'a', flow: 'greet' } })).toBe(200);
    expect(await go('submitJobs', '/jobs', { body: { _id: 'a', flow: 'wait' } })).toBe(409);
    expect(await go('submitJobs', '/jobs', { body: { _rev: '1-x', flow: 'greet' } })).toBe(422);
    expect(await go('checkJob', '/jobs/check')).toBe(200);
    expect(await go('findJobs', '/jobs')).toBe(200);
    expect(await go('getJob', '/jobs/a')).toBe(200);
    expect(await go('getJob', '/jobs/nix')).toBe(404);
    const { headers } = await api.ask('GET', '/jobs/a');
    const known = { 'if-none-match': String(headers.get('etag')) };
    expect(await go('getJob', '/jobs/a', { headers: known })).toBe(304);
    expect(await go('getResult', '/jobs/nix/results/echo')).toBe(404);
    expect(await go('getResult', '/jobs/a/results/echo')).toBe(404);
    for (const [id, word] of [
      ['getHistory', 'history'],
      ['explainJob', 'explain'],
      ['getInfo', 'info'],
    ] as const) {
      expect(await go(id, `/jobs/a/${word}`)).toBe(200);
      expect(await go(id, `/jobs/nix/${word}`)).toBe(404);
    }
    // No engine runs yet: what is asked is stored.
    const words = ['cancel', 'pause', 'resume', 'skip', 'notes', 'info'];
    for (const word of words) {
      expect(await go(`${word}Job`, `/jobs/a/${word}?wait=0`)).toBe(202);
      expect(await go(`${word}Job`, `/jobs/nix/${word}`)).toBe(404);
    }
    expect(await go('retryJob', '/jobs/nix/retry')).toBe(404);
    const shown = { params: { t: { password: '[secret]' } } };
    expect(await go('retryJob', '/jobs/a/retry', { body: shown })).toBe(422);
    expect(await go('signalJob', '/jobs/a/signal')).toBe(202);
    expect(await go('signalJob', '/jobs/nix/signal')).toBe(404);
    const starting = { name: 'go', start: { flow: 'f' } };
    expect(await go('signalJob', '/jobs/started/signal', { body: starting })).toBe(202);
    expect(await go('signalJob', '/jobs/flow:a/signal', { body: starting })).toBe(422);
    await api.put(asking('form-a'), asking('form-b'), asking('form-c', '$$complete'));
    expect(await go('listInbox', '/inbox')).toBe(200);
    expect(await go('listForms', '/jobs/form-a/forms')).toBe(200);
    expect(await go('listForms', '/jobs/nix/forms')).toBe(404);
    const looking = await api.tokenOf('tws-viewer');
    const formA = '/jobs/form-a/answer?wait=0';
    expect(await go('answerForm', formA, { token: looking })).toBe(403);
    expect(await go('answerForm', formA, { body: { data: 7 } })).toBe(422);
    expect(await go('answerForm', formA)).toBe(202);
    expect(await go('answerForm', '/jobs/form-c/answer')).toBe(409);
    expect(await go('answerForm', '/jobs/nix/answer')).toBe(404);
    expect(await go('announceEvent', '/events')).toBe(201);
    expect(await go('announceEvent', '/events')).toBe(409);
    const again = await api.ask('POST', '/events', { body: { event: 'payment' } });
    expect(again.body).toMatchObject({ error: 'event_announced' });
    expect(await go('announceEvent', '/events', { body: { event: 'a::b' } })).toBe(400);
    for (const id of [
      'listEngines',
      'getStats',
      'getFailures',
      'ping',
      'getLive',
      'getReady',
      'getSession',
    ] as const) {
      expect([id, await statusOf(api, routeOf(id))]).toEqual([id, 200]);
    }
    for (const id of ['getOpenApi', 'getDocs', 'getDocsStyle', 'followChanges'] as const) {
      expect([id, await statusOf(api, routeOf(id))]).toEqual([id, 200]);
    }
    for (const word of ['disable', 'enable']) {
      expect(await go(`${word}Engine`, `/engines/*/${word}`)).toBe(200);
      expect(await go(`${word}Engine`, `/engines/engine:none/${word}`)).toBe(404);
    }
    expect(await go('listLimits', '/limits')).toBe(200);
    expect(await go('listGatherings', '/gatherings')).toBe(200);
    expect(await go('listQueues', '/queues')).toBe(200);
    for (const word of ['pause', 'resume']) {
      expect(await go(`${word}Queue`, `/queues/idle/${word}`)).toBe(200);
      const ojs = word === 'pause' ? 'ojsPauseQueue' : 'ojsResumeQueue';
      const at = { path: `/ojs/v1/queues/idle/${word}` };
      expect(await statusOf(api, routeOf(ojs), at)).toBe(200);
    }
    expect(await statusOf(api, routeOf('signOut'))).toBe(204);
    const made = await api.ask('POST', '/tokens', { body: bodies['createToken'] });
    expect(await go('createToken', '/tokens')).toBe(201);
    expect(await go('listTokens', '/tokens')).toBe(200);
    expect(await go('revokeToken', `/tokens/${String(made.body['id'])}`)).toBe(204);
    expect(await go('revokeToken', `/tokens/${String(made.body['id'])}`)).toBe(404);
    for (const [kind, word] of [
      ['tasks', 'removeTask'],
      ['flows', 'removeFlow'],
    ] as const) {
      const body = kind === 'tasks' ? task('gone') : flow('gone', []);
      await api.ask('PUT', `/${kind}/gone`, { body });
      const old = { headers: { 'if-match': '"9-none"' } };
      expect(await go(word, `/${kind}/gone`, old)).toBe(409);
      expect(await go(word, `/${kind}/gone`)).toBe(204);
      expect(await go(word, `/${kind}/gone`)).toBe(404);
    }

    await api.engine({ drainMs: 100 });
    for (const id of ['b', 'c', 'd'])
      await api.ask('POST', '/jobs', { body: { _id: id, flow: 'wait' } });
    await api.ask('POST', '/jobs', { body: { _id: 'e', flow: 'break' } });
    await api.ended('e');
    await api.ask('POST', '/jobs', { body: { _id: 'f', flow: 'greet' } });
    await api.ended('f');
    expect(await go('getResult', '/jobs/f/results/echo')).toBe(200);
    await api.until('b', ({ state }) => state === 'hold-0');
    expect(await go('removeJob', '/jobs/b')).toBe(409);
    expect(await go('removeJob', '/jobs/f?children=true')).toBe(200);
    expect(await go('removeJob', '/jobs/f')).toBe(404);
    expect(await go('notesJob', '/jobs/b/notes')).toBe(200);
    expect(await go('infoJob', '/jobs/b/info')).toBe(200);
    expect(await go('pauseJob', '/jobs/b/pause')).toBe(200);
    expect(await go('resumeJob', '/jobs/b/resume')).toBe(200);
    expect(await go('retryJob', '/jobs/b/retry')).toBe(409);
    expect(await go('skipJob', '/jobs/b/skip', { body: { step: 'nix' } })).toBe(409);
    expect(await go('skipJob', '/jobs/b/skip', { body: { step: 'hold' } })).toBe(200);
    await api.until('c', ({ state }) => state === 'hold-0');
    expect(await go('cancelJob', '/jobs/c/cancel')).toBe(200);
    await api.ended('c');
    for (const word of ['cancel', 'pause', 'resume', 'signal']) {
      expect([word, await go(`${word}Job`, `/jobs/c/${word}`)]).toEqual([word, 409]);
    }
    const asks = { wait: { signal: 'go', answer: 'data', schema: { type: 'integer' } } };
    await api.ask('PUT', '/flows/ask', { body: flow('ask', [asks] as never, { timeout: 0 }) });
    await api.ask('POST', '/jobs', { body: { _id: 'g', flow: 'ask' } });
    const sent = (data: unknown): Asking => ({ body: { name: 'go', data } });
    expect(await go('signalJob', '/jobs/g/signal?wait=60s', sent('x'))).toBe(422);
    expect(await go('signalJob', '/jobs/g/signal?wait=60s', sent(7))).toBe(200);
    expect(await go('answerForm', '/jobs/form-b/answer?wait=60s')).toBe(200);
    expect(await go('retryJob', '/jobs/e/retry')).toBe(200);
    await api.until('e', ({ run, state }) => run === 2 && state === '$$complete');
    expect(await go('retryJob', '/jobs/e/retry?wait=0')).toBe(202);
    expect(await go('retryJobs', '/jobs/retry')).toBe(200);
    expect(await go('cancelJobs', '/jobs/cancel', { body: { wait: '5s' } })).toBe(200);
  });

  // Shows X-28.
  it('of versions of flows answers as the reference says', async () => {
    api = await openApi();
    const doc = (version: string, more: object = {}) => ({
      ...{ ...flow('order', ['echo', { wait: { signal: 'go' } }] as never), timeout: 0 },
      ...{ _id: `order-${version}`, version, ...more },
    });
    await api.put(
      { ...task('echo'), _id: 't' },
      { ...task('other', { plugin: 'echo' }), _id: 'o' },
    );
    await api.put(doc('1', { current: true }), doc('2', { timeout: 9e6 }));
    await api.put(doc('3', { tasks: ['other'] }));
    await api.put({ ...flow('once', ['echo']), _id: 'once' });
    await api.put(...['x', 'y'].map((_id) => ({ ...flow('twins', ['echo']), _id, version: '1' })), {
      ...flow('twins', ['echo']),
      _id: 'z',
      version: '2',
    });
    const each = async (id: string, path: string) => [
      await go(id, `/flows/order${path}`),
      await go(id, `/flows/nix${path}`),
    ];
    expect(await each('listFlowVersions', '/versions')).toEqual([200, 404]);
    expect(await each('getFlowVersion', '/versions/2')).toEqual([200, 404]);
    expect(await each('compareFlowVersions', '/diff?to=2')).toEqual([200, 404]);
    expect(await each('rollbackFlow', '/rollback')).toEqual([409, 404]);
    expect(await each('useFlowVersion', '/use')).toEqual([200, 404]);
    expect(await go('getFlowVersion', '/flows/order/versions/7')).toBe(404);
    expect(await go('listFlowVersions', '/flows/twins/versions')).toBe(200);
    expect(await go('getFlowVersion', '/flows/twins/versions/1')).toBe(409);
    expect(await go('compareFlowVersions', '/flows/twins/diff?to=2')).toBe(409);
    expect(await go('useFlowVersion', '/flows/twins/use')).toBe(409);
    const compared = await api.ask('GET', '/flows/order/diff?to=2');
    expect(compared.body).toEqual({
      ...{ from: 'order-1', to: 'order-2' },
      differences: [{ path: 'timeout', from: 0, to: 9e6 }],
    });
    const used = { version: '2', by: 'ann' };
    expect((await api.ask('POST', '/flows/order/use', { body: used })).body).toEqual({
      ...{ id: 'order-2', version: '2', before: 'order-1', changed: true },
    });
    const { body: listed } = await api.ask('GET', '/flows/order/versions');
    expect(listed['versions']).toMatchObject([
      { id: 'order-1', current: false },
      { id: 'order-2', current: true, by: 'ann', jobs: 0 },
      { id: 'order-3', current: false },
    ]);
    const { body: bare } = await api.ask('GET', '/flows/order/versions?jobs=false');
    expect(JSON.stringify(bare)).not.toContain('"jobs"');
    expect(await go('rollbackFlow', '/flows/order/rollback')).toBe(200);

    await api.put(
      { _id: 'j', type: 'job', flow: 'order' },
      { _id: 'l', type: 'job', flow: 'order' },
    );
    const to = (version: string) => ({ body: { to: version } });
    expect(await go('migrateJob', '/jobs/nix/migrate')).toBe(404);
    expect(await go('migrateJob', '/jobs/j/migrate?wait=0', to('1'))).toBe(202);
    const engine = await api.engine();
    const isWaiting = ({ steps = [] }: Readonly<Record<string, unknown>>): boolean =>
      (steps as readonly unknown[]).length === 2;
    await Promise.all(['j', 'l'].map((id) => api.until(id, isWaiting)));
    const check = async (version: string) => {
      const path = '/jobs/migrate/check';
      const given = { body: { ids: ['j', 'l'], to: version } };
      expect(await go('checkMigrations', path, given)).toBe(200);
      return (await api.ask('POST', path, given)).body;
    };
    expect(await check('1')).toMatchObject({ moves: 0, there: 2, stays: 0, more: false });
    expect(await check('3')).toMatchObject({
      ...{ moves: 0, there: 0, stays: 2 },
      jobs: [
        {
          id: 'j',
          can: 'stays',
          because: expect.stringContaining('step 0 (echo) is done') as string,
        },
        {},
      ],
    });
    expect(await go('migrateJob', '/jobs/j/migrate', to('2'))).toBe(200);
    const again = await api.ask('POST', '/jobs/j/migrate', to('2'));
    expect([again.status, again.body]).toMatchObject([200, { outcome: 'there' }]);
    expect(await go('migrateJob', '/jobs/j/migrate', to('3'))).toBe(409);
    expect(await check('2')).toMatchObject({ moves: 1, there: 1, jobs: [{}, { can: 'moves' }] });
    const many = { body: { filter: { flow: 'order' }, to: '2', wait: '20s' } };
    expect(await go('migrateJobs', '/jobs/migrate', { body: { to: '3' } })).toBe(200);
    const { body: moved } = await api.ask('POST', '/jobs/migrate', many);
    expect(moved).toMatchObject({ applied: 1, there: 1, stored: 0, refused: 0, more: false });
    const { body: refused } = await api.ask('POST', '/jobs/migrate', to('3'));
    expect(refused).toMatchObject({
      refused: 2,
      results: [{ problem: { error: 'job_stays' } }, {}],
    });
    await engine.stop();
  });

  it('of archives answers as the reference says', async () => {
    const retain = { succeeded: { count: 0 }, archive: { folder: 'archive' } } as const;
    const ids = ['listArchived', 'getArchived', 'restoreArchived'] as const;
    const paths = ['/archive', '/archive/a', '/archive/a/restore'] as const;
    const all = async () => Promise.all(ids.map((id, i) => go(id, String(paths[i]))));
    api = await openApi();
    expect(await all()).toEqual([404, 404, 404]);
    api = await openApi({ retain });
    const job = { _id: 'a', type: 'job', flow: 'f', owner: 'DEFAULT', steps: [] };
    await api.put({ ...job, ...{ state: '$$complete', exit: 0, start: 1, end: 2 } });
    await api.client.retain({ usual: retain, root: api.folder });
    expect(await go('getRetention', '/retention')).toBe(200);
    expect(await all()).toEqual([200, 200, 200]);
    await api.store.remove('a', String((await api.store.get('a'))?._rev));
    await api.put({ ...job, exec_after: 9e12 });
    expect(await go('restoreArchived', '/archive/a/restore')).toBe(409);
    await writeFile(join(api.folder, 'file'), '');
    await api.put({
      ...{ _id: 'f', type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['t'] },
      retain: { archive: { folder: 'file' } },
    });
    expect(await all()).toEqual([502, 502, 502]);
  });

  it('of hooks answers as the reference says', async () => {
    api = await openApi({
      files: {
        'echo.mjs': 'export default () => ({});',
        'fail.mjs': "export default () => { throw new Error('no'); };",
      },
      openHook: async (doc) => {
        if (doc._id === 'locked') throw problem('crypto_key_missing', {});
        return [doc._id === 'empty' ? '' : 's'];
      },
    });
    const path = '/hooks/open';
    expect(await go('putHook', path, { headers: { 'if-match': '*' } })).toBe(412);
    expect(await go('putHook', path)).toBe(201);
    expect(await go('putHook', path)).toBe(409);
    expect(await go('putHook', path, { headers: { 'if-match': '*' } })).toBe(200);
    expect(await go('putHook', path, { body: { ...open, check: 'any' } })).toBe(422);
    expect(await go('checkHook', '/hooks/check')).toBe(200);
    expect(await go('checkHook', '/hooks/check', { raw: '[]' })).toBe(422);
    expect(await go('listHooks', '/hooks')).toBe(200);
    const token = { check: { token: { header: 't', secret: 's' } } };
    await api.put(
      { ...open, _id: 'one', name: 'twice' },
      { ...open, _id: 'two', name: 'twice' },
      { ...open, _id: 'small', name: 'small', max_bytes: 2 },
      { ...open, _id: 'named', name: 'named', dedupe: 'x-id' },
      { ...open, _id: 'unfit', name: 'unfit', params: '1' },
      { ...open, _id: 'waits', name: 'waits', flow: 'break', respond: 'result' },
      { ...open, _id: 'only', name: 'only', flow: 'only' },
      { ...open, ...token, _id: 'token', name: 'token' },
      { ...open, ...token, _id: 'locked', name: 'locked' },
      { ...open, ...token, _id: 'empty', name: 'empty' },
      { ...flow('greet', ['echo']), _id: 'f1' },
      { ...flow('break', ['bad']), _id: 'f2' },
      { ...flow('only', ['echo']), _id: 'f3', unique: { key: '1', on_conflict: 'reject' } },
      { ...task('echo'), _id: 't1' },
      { ...task('bad', { plugin: 'fail' }), _id: 't2' },
    );
    const twice = { body: { ...open, name: 'twice' } };
    expect(await go('checkHook', '/hooks/check', twice)).toBe(409);
    for (const [name, status] of [
      ...[['open', 200] as const, ['twice', 409] as const, ['nix', 404] as const],
    ]) {
      expect([name, await go('getHook', `/hooks/${name}`)]).toEqual([name, status]);
    }
    for (const [name, status, asking = {}] of [
      ...[['nix', 404] as const, ['twice', 404] as const, ['token', 401] as const],
      ...[['small', 413] as const, ['unfit', 422] as const, ['locked', 503] as const],
      ...[['named', 400] as const, ['only', 202] as const, ['only', 409] as const],
      ['open', 415, { headers: { 'content-encoding': 'gzip' } }] as const,
      ['open', 202] as const,
      ['token', 202, { headers: { t: 's' } }] as const,
      ['empty', 503, { headers: { t: '' } }] as const,
    ] as readonly (readonly [string, number, Asking?])[]) {
      const got = await go('deliverToHook', `/hooks/${name}`, asking);
      expect([name, got]).toEqual([name, status]);
    }
    const same = { headers: { 'x-id': '1' } };
    expect(await go('deliverToHook', '/hooks/named', same)).toBe(202);
    expect(await go('deliverToHook', '/hooks/named', same)).toBe(200);
    await api.engine();
    expect(await go('deliverToHook', '/hooks/waits')).toBe(500);
    const old = { headers: { 'if-match': '"9-none"' } };
    expect(await go('removeHook', path, old)).toBe(409);
    expect(await go('removeHook', path)).toBe(204);
    expect(await go('removeHook', path)).toBe(404);
    expect(await go('removeHook', '/hooks/twice')).toBe(409);
  });

  it('of sensitive values answers as the reference says', async () => {
    const workspace = await openWorkspace();
    const { connection } = workspace.store;
    const beside = openVault(connection, createKeyring('key'));
    onTestFinished(beside.close);
    api = await openApi({ workspace, sensitive: beside });
    const headers = await sessionOf(api, 'tws-sensitive');
    const calls = [
      ['putSensitive', '/sensitive'],
      ['referSensitive', '/sensitive/reference'],
      ['readSensitive', '/sensitive/read'],
      ['purgeSensitive', '/sensitive/purge'],
      ['listSensitive', '/sensitive'],
      ['listSensitiveAccesses', '/sensitive/accesses'],
    ] as const;
    const all = async () => {
      const found: [string, number][] = [];
      for (const [id, path] of calls) found.push([id, await go(id, path, { headers })]);
      return found;
    };
    const each = (status: number) => calls.map(([id]) => [id, status]);
    expect(await all()).toEqual(each(404));
    await vaultOf(workspace);
    expect(await all()).toEqual(each(200));
    expect(await go('readSensitive', '/sensitive/read', { headers })).toBe(404);
    const short = { subject: 'maria', values: { iban: 'x' } };
    expect(await go('putSensitive', '/sensitive', { headers, body: short })).toBe(422);
    const unknown = { ...short, subject: `s-${'A'.repeat(43)}`, values: { iban: 'long enough' } };
    expect(await go('putSensitive', '/sensitive', { headers, body: unknown })).toBe(422);
    const old = { older_than: 'P90D' };
    expect(await go('purgeSensitive', '/sensitive/purge', { headers, body: old })).toBe(200);
    // Somebody whom CouchDB lets into the database of the project only.
    const nobody = await makeUser('tws-viewer');
    const shut = openVault(
      { ...connection, user: nobody.name, password: nobody.password },
      createKeyring('key'),
    );
    onTestFinished(shut.close);
    api = await openApi({ workspace, sensitive: shut });
    expect(await all()).toEqual(each(502));
    for (const key of ['another key']) {
      const other = openVault(connection, createKeyring(key));
      onTestFinished(other.close);
      api = await openApi({ workspace, sensitive: other });
      for (const [id, path] of calls.slice(0, 4)) {
        expect([id, await go(id, path, { headers })]).toEqual([id, 422]);
      }
    }
  });

  // Shows X-13.
  it('of links answers as the reference says, and to none that does not work differently', async () => {
    const links = await openAnswerLinks('key');
    if (links === undefined) throw new Error('There is no key.');
    api = await openApi({ answerLinks: links });
    const until = Date.now() + 3_600_000;
    /** Stores a job whose form has a link, and returns its token. */
    const linked = async (job: string, more: Partial<LinkPlace> = {}, state?: string) => {
      const place = { job, path: '0', attempt: 1, since: 1, for: 'ann', until, ...more };
      const hash = links.hashOf(place);
      const doc = asking(job, state);
      const [step] = doc.steps;
      const form = { ...step?.form, links: [{ for: 'ann', hash, until: place.until }] };
      await api.put({ ...doc, steps: [{ ...step, form }] });
      return links.tokenOf(place, hash) ?? '';
    };
    const form = async (token: string, text = '', more: Asking = {}) =>
      go('answerLinkedForm', `/answer/${token}?wait=${more.signal ? '60s' : '0'}`, {
        raw: text,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...more.headers },
      });
    const good = await linked('link-1');
    const show = (token: string) => go('showLinkedForm', `/answer/${token}`);
    expect(await show(good)).toBe(200);
    expect(await form(good, 'answer=7')).toBe(422);
    expect(await form(good, '', { headers: { 'content-encoding': 'gzip' } })).toBe(415);
    expect(await form(good, Array.from({ length: 1_001 }, (_, i) => `a${i}=1`).join('&'))).toBe(
      400,
    );
    expect(await form(good, '', { headers: { origin: 'null' } })).toBe(202);

    // A link that was used, is over, was not made here, or belongs to another job or user.
    const ended = await linked('link-2', {}, '$$complete');
    const over = await linked('link-3', { until: 2 });
    const other = await openAnswerLinks('another key');
    const place = { job: 'link-4', path: '0', attempt: 1, since: 1, for: 'ann', until };
    const stranger = other?.tokenOf(place, other.hashOf(place)) ?? '';
    await linked('link-4');
    const forged = good.replace(/^[^.]+/, Buffer.from('link-4').toString('base64url'));
    const gone = [
      good,
      ended,
      over,
      stranger,
      forged,
      'some',
      `${Buffer.from('nix').toString('base64url')}.${'a'.repeat(43)}`,
    ];
    const told = await Promise.all(
      gone.map(async (token) => {
        const post = { method: 'POST', body: new URLSearchParams({}) };
        const answered = await fetch(`${api.url}/_tws/answer/${token}`, post);
        return [answered.status, await answered.text()].join(' ');
      }),
    );
    expect(new Set(told).size).toBe(1);
    expect(told[0]).toMatch(/^404 [^]*It was used already, has expired, or is not complete\./);
    expect([await show(good), await form(good), await show('some')]).toEqual([404, 404, 404]);
    expect([await show(good), await form(good)]).toEqual([429, 429]);

    api = await openApi({ answerLinks: links });
    const unproven = await linked('link-5');
    await api.engine();
    const wait = { signal: new AbortController().signal };
    expect(await form(unproven, '', wait)).toBe(409);
    const maker = { links, addressOf: (token: string) => token };
    api = await openApi({ answerLinks: links });
    const proven = await linked('link-6');
    await api.engine({ answerLinks: maker });
    expect(await form(proven, '', wait)).toBe(200);
    expect(await show(proven)).toBe(404);
  });

  it('of notify lists answers as the reference says', async () => {
    api = await openApi();
    const path = '/notify/acme';
    const any = { headers: { 'if-match': '*' } };
    expect(await go('getNotifyList', path)).toBe(404);
    expect(await go('removeNotifyList', path)).toBe(404);
    expect(await go('putNotifyList', path, any)).toBe(412);
    expect(await go('putNotifyList', path)).toBe(201);
    expect(await go('putNotifyList', path)).toBe(409);
    expect(await go('putNotifyList', path, any)).toBe(200);
    const wrong = { body: { notify: [{ on: ['failed'], url: 7 }] } };
    expect(await go('putNotifyList', path, wrong)).toBe(422);
    expect(await go('putNotifyList', path, { body: { owner: 'me', notify: [] } })).toBe(422);
    expect(await go('checkNotifyList', '/notify/check', wrong)).toBe(200);
    expect(await go('checkNotifyList', '/notify/check', { raw: '[]' })).toBe(422);
    expect(await go('listNotifyLists', '/notify')).toBe(200);
    expect(await go('getNotifyList', path)).toBe(200);
    await api.put(
      { ...task('echo'), _id: 't1' },
      { ...flow('broken', ['echo']), _id: 'f1', expected: 'soon' },
    );
    expect(await go('testNotify', `${path}/test`)).toBe(202);
    expect(await go('testNotify', `${path}/test`, { body: { event: 'some' } })).toBe(400);
    expect(await go('testNotify', `${path}/test`, { body: { flow: 'nix' } })).toBe(404);
    expect(await go('testNotify', `${path}/test`, { body: { flow: 'broken' } })).toBe(422);
    await api.put(
      ...['f2', 'f3'].map((_id) => ({ ...flow('twice', ['echo']), _id, owner: 'acme' })),
    );
    expect(await go('testNotify', `${path}/test`, { body: { flow: 'twice' } })).toBe(409);
    const old = { headers: { 'if-match': '"9-none"' } };
    expect(await go('removeNotifyList', path, old)).toBe(409);
    expect(await go('removeNotifyList', path)).toBe(204);
  });

  it('of schedules answers as the reference says', async () => {
    api = await openApi();
    const path = '/schedules/hourly';
    expect(await go('putSchedule', path, { headers: { 'if-match': '*' } })).toBe(412);
    expect(await go('putSchedule', path)).toBe(201);
    expect(await go('putSchedule', path)).toBe(409);
    expect(await go('putSchedule', path, { headers: { 'if-match': '*' } })).toBe(200);
    expect(await go('putSchedule', path, { body: { name: 7 } })).toBe(422);
    expect(await go('checkSchedule', '/schedules/check')).toBe(200);
    expect(await go('checkSchedule', '/schedules/check', { raw: '[]' })).toBe(422);
    expect(await go('listSchedules', '/schedules')).toBe(200);
    await api.put(
      { ...hourly, _id: 'one', name: 'twice' },
      { ...hourly, _id: 'two', name: 'twice' },
      { ...hourly, _id: 'bad', name: 'bad', cron: '@daily', backfill: { from: 1, until: 2 } },
      { ...hourly, _id: 'off', name: 'off', cron: '@daily', paused: true },
    );
    const twice = { body: { ...hourly, name: 'twice' } };
    expect(await go('checkSchedule', '/schedules/check', twice)).toBe(409);
    const routesOfOne: readonly (readonly [id: string, below: string, ok: number])[] = [
      ['getSchedule', '', 200],
      ['pauseSchedule', '/pause', 200],
      ['resumeSchedule', '/resume', 200],
      ['backfillSchedule', '/backfill', 202],
      ['endBackfill', '/backfill', 200],
      ['runSchedule', '/run', 201],
    ];
    for (const [id, below, ok] of routesOfOne) {
      expect([id, await go(id, `${path}${below}`)]).toEqual([id, ok]);
      expect([id, await go(id, `/schedules/twice${below}`)]).toEqual([id, 409]);
      expect([id, await go(id, `/schedules/nix${below}`)]).toEqual([id, 404]);
      if (id === 'getSchedule') continue;
      const wrong = id === 'resumeSchedule' ? 'off' : 'bad';
      expect([id, await go(id, `/schedules/${wrong}${below}`)]).toEqual([id, 422]);
    }
    const old = { headers: { 'if-match': '"9-none"' } };
    expect(await go('removeSchedule', path, old)).toBe(409);
    expect(await go('removeSchedule', path)).toBe(204);
    expect(await go('removeSchedule', path)).toBe(404);
  });

  type AskOjs = (id: string, path: string, asking?: Asking) => Promise<number>;

  async function ofWorkflows(ask: AskOjs): Promise<void> {
    const step = { type: 'work', args: [], options: { queue: 'flow' } };
    const chain = { body: { type: 'chain', steps: [step] } };
    expect(await ask('ojsMakeWorkflow', '/v1/workflows', chain)).toBe(201);
    const { body } = await api.ask<{ id: string }>('POST', '/ojs/v1/workflows', chain);
    expect(await ask('ojsGetWorkflow', `/v1/workflows/${body.id}`)).toBe(200);
    expect(await ask('ojsGetWorkflow', '/v1/workflows/nix')).toBe(404);
    expect(await ask('ojsCancelWorkflow', `/v1/workflows/${body.id}`)).toBe(200);
    expect(await ask('ojsCancelWorkflow', `/v1/workflows/${body.id}`)).toBe(409);
    expect(await ask('ojsCancelWorkflow', '/v1/workflows/nix')).toBe(404);
    expect(await ask('ojsEvents', '/v1/events')).toBe(200);
    expect(await ask('ojsMakeCron', '/v1/cron')).toBe(201);
    expect(await ask('ojsMakeCron', '/v1/cron')).toBe(409);
    expect(await ask('ojsCrons', '/v1/cron')).toBe(200);
    expect(await ask('ojsCron', '/v1/cron/c')).toBe(200);
    expect(await ask('ojsRemoveCron', '/v1/cron/c')).toBe(200);
    expect(await ask('ojsCron', '/v1/cron/c')).toBe(404);
    expect(await ask('ojsRemoveCron', '/v1/cron/c')).toBe(404);
  }

  it('of the façade answers as the reference says', async () => {
    api = await openApi({ files: plugins });
    const ask = (id: string, path: string, asking: Asking = {}): Promise<number> =>
      statusOf(api, routeOf(id), { path: `/ojs${path}`, ...asking });
    await api.put({ ...task('echo') }, { ...task('work', { plugin: 'worker' }) });
    expect(await ask('ojsManifest', '/manifest')).toBe(200);
    expect(await ask('ojsHealth', '/v1/health')).toBe(200);
    const id = (n: number): string => `019414d4-8b2e-7c3a-b5d1-00000000000${n}`;
    const order = (n: number, more: object = {}) => ({
      id: id(n),
      type: 'work',
      args: [],
      ...more,
    });
    expect(await ask('ojsEnqueue', '/v1/jobs', { body: order(1) })).toBe(201);
    expect(await ask('ojsEnqueue', '/v1/jobs', { body: order(1) })).toBe(409);
    const options = { queue: 'once', unique: { keys: ['type', 'queue'], on_conflict: 'ignore' } };
    expect(await ask('ojsEnqueue', '/v1/jobs', { body: order(7, { options }) })).toBe(201);
    expect(await ask('ojsEnqueue', '/v1/jobs', { body: order(8, { options }) })).toBe(200);
    const batch = { jobs: [order(2), order(3), order(4)] };
    expect(await ask('ojsEnqueueMany', '/v1/jobs/batch', { body: batch })).toBe(201);
    expect(await ask('ojsEnqueueMany', '/v1/jobs/batch', { body: batch })).toBe(409);
    await api.ask('POST', '/ojs/v1/jobs', { body: order(5, { options: { pending: true } }) });
    await api.ask('POST', '/ojs/v1/jobs', { body: order(6, { options: { pending: true } }) });
    for (const [route, path] of [
      ['ojsGetJob', '/v1/jobs/'],
      ['ojsDeadLetter', '/v1/dead-letter/'],
      ['ojsRetryDeadLetter', '/v1/dead-letter/'],
      ['ojsRemoveDeadLetter', '/v1/dead-letter/'],
      ['ojsCancel', '/v1/jobs/'],
      ['ojsActivate', '/v1/jobs/'],
    ] as const) {
      const end = { ojsRetryDeadLetter: '/retry', ojsActivate: '/activate' }[route as string] ?? '';
      expect([route, await ask(route, `${path}nix${end}`)]).toEqual([route, 404]);
    }
    expect(await ask('ojsGetJob', `/v1/jobs/${id(1)}`)).toBe(200);
    for (const [route, path] of [
      ['ojsQueues', '/v1/queues'],
      ['ojsQueueStats', '/v1/queues/default/stats'],
      ['ojsDeadLetters', '/v1/dead-letter'],
      ['ojsHeartbeat', '/v1/workers/heartbeat'],
    ] as const) {
      expect([route, await ask(route, path)]).toEqual([route, 200]);
    }
    expect(await ask('ojsAck', '/v1/workers/ack')).toBe(404);
    expect(await ask('ojsNack', '/v1/workers/nack')).toBe(404);
    expect(await ask('ojsAck', '/v1/workers/ack', { body: { job_id: id(1) } })).toBe(409);
    const failed = (n: number, more: object = {}) => ({
      body: { job_id: id(n), error: { message: 'No.', retryable: false, ...more } },
    });
    expect(await ask('ojsNack', '/v1/workers/nack', failed(1))).toBe(409);
    // No engine runs yet: what takes one is stored.
    const stored = [
      ask('ojsActivate', `/v1/jobs/${id(5)}/activate`),
      ask('ojsCancel', `/v1/jobs/${id(7)}`),
    ];
    expect(await Promise.all(stored)).toEqual([202, 202]);
    expect(await ask('ojsCancel', `/v1/jobs/${id(2)}`)).toBe(200);
    await ofWorkflows(ask);

    const engine = await api.engine();
    await api.ended(id(2));
    expect(await ask('ojsActivate', `/v1/jobs/${id(6)}/activate`)).toBe(200);
    const isOffered = (doc: object) => JSON.stringify(doc).includes('"signal":"work/');
    for (const n of [1, 3, 4, 5, 6]) await api.until(id(n), isOffered);
    expect(await ask('ojsActivate', `/v1/jobs/${id(6)}/activate`)).toBe(409);
    const all = { body: { queues: ['default'], count: 10 } };
    expect(await ask('ojsFetch', '/v1/workers/fetch', all)).toBe(200);
    expect(await ask('ojsAck', '/v1/workers/ack', { body: { job_id: id(1) } })).toBe(200);
    expect(await ask('ojsNack', '/v1/workers/nack', failed(3))).toBe(200);
    await api.ended(id(3));
    expect(await ask('ojsDeadLetter', `/v1/dead-letter/${id(3)}`)).toBe(200);
    expect(await ask('ojsCancel', `/v1/jobs/${id(6)}`)).toBe(200);
    expect(await ask('ojsCancel', `/v1/jobs/${id(6)}`)).toBe(409);
    expect(await ask('ojsRetryDeadLetter', `/v1/dead-letter/${id(3)}/retry`)).toBe(200);
    await api.until(id(3), ({ run }) => run === 2);
    await engine.stop();
    await api.put({ ...ended, _id: 'dead' });
    const left = [
      // Long answers are taken by engines.
      ask('ojsAck', '/v1/workers/ack', { body: { job_id: id(4), result: 'x'.repeat(20_000) } }),
      ask('ojsNack', '/v1/workers/nack', failed(5, { details: { x: 'x'.repeat(16_300) } })),
      ask('ojsRetryDeadLetter', '/v1/dead-letter/dead/retry'),
    ];
    expect(await Promise.all(left)).toEqual([202, 202, 202]);
    expect(await ask('ojsRemoveDeadLetter', '/v1/dead-letter/dead')).toBe(200);
  });

  it('of the façade answers what only a race, or another set-up provokes', async () => {
    const { problem } = await import('../../src/errors.js');
    const first = await openApi();
    const { client, put } = first;
    await put({ ...ended, _id: 'raced' });
    const raced = await openApi({
      workspace: first,
      client: {
        ...client,
        remove: () => Promise.reject(problem('document_conflict', { id: 'raced' })),
        setEnabled: () => Promise.reject(problem('document_conflict', { id: 'raced' })),
        switchQueue: () => Promise.reject(problem('document_conflict', { id: 'raced' })),
        request: (job, action) =>
          Promise.reject(
            problem('request_refused', { action, job, reason: 'it goes on already.' }),
          ),
      },
      inspect: () => Promise.resolve({ url: '', reachable: true, design: 'missing' }),
    });
    const cron = { name: 'raced', cron: '@daily', type: 'work', args: [] };
    const chain = { body: { type: 'chain', steps: [{ type: 'work', args: [] }] } };
    await put({ ...task('work', { plugin: 'worker' }) });
    await first.ask('POST', '/ojs/v1/cron', { body: cron });
    const { body: made } = await first.ask<{ id: string }>('POST', '/ojs/v1/workflows', chain);
    const flowPath = { path: `/ojs/v1/workflows/${made.id}` };
    const slow = await openApi({
      workspace: first,
      client: {
        ...client,
        cancelWork: () => Promise.resolve(undefined),
        request: () => Promise.resolve({ kind: 'stored', request: 'r' }),
      },
    });
    expect(await statusOf(slow, routeOf('ojsCancelWorkflow'), flowPath)).toBe(202);
    const cronPath = { path: '/ojs/v1/cron/raced' };
    expect(await statusOf(raced, routeOf('ojsRemoveCron'), cronPath)).toBe(409);
    const path = '/ojs/v1/dead-letter/raced';
    const retry = { path: `${path}/retry` };
    for (const word of ['enable', 'disable']) {
      const at = { path: `/_tws/engines/*/${word}` };
      expect(await statusOf(raced, routeOf(`${word}Engine`), at)).toBe(409);
    }
    for (const [route, path] of [
      ['pauseQueue', '/_tws/queues/idle/pause'],
      ['ojsPauseQueue', '/ojs/v1/queues/idle/pause'],
      ['resumeQueue', '/_tws/queues/held/resume'],
      ['ojsResumeQueue', '/ojs/v1/queues/held/resume'],
    ] as const) {
      expect([route, await statusOf(raced, routeOf(route), { path })]).toEqual([route, 409]);
    }
    expect(await statusOf(raced, routeOf('ojsRetryDeadLetter'), retry)).toBe(409);
    expect(await statusOf(raced, routeOf('ojsRemoveDeadLetter'), { path })).toBe(409);
    expect(await statusOf(raced, routeOf('ojsHealth'))).toBe(503);
  });

  it('answers what only another set-up provokes', async () => {
    const { createPrometheus } = await import('../../src/metrics/prometheus.js');
    const withFigures = await openApi({ metrics: createPrometheus() });
    for (const id of ['getMetrics', 'getTwsMetrics']) {
      expect(await statusOf(withFigures, routeOf(id))).toBe(200);
    }
    const none = await openApi({
      inspect: () => Promise.resolve({ url: '', reachable: true, design: 'missing' }),
    });
    expect(await statusOf(none, routeOf('getReady'))).toBe(503);
    const { makeUser } = await import('./server.js');
    const user = await makeUser('tws-viewer');
    expect(await statusOf(none, routeOf('signIn'), { body: user })).toBe(200);
    // Not the name that was tried too often before: a CouchDB keeps it locked for minutes.
    const wrong = { name: 'grace', password: 'wrong' };
    expect(await statusOf(none, routeOf('signIn'), { body: wrong })).toBe(401);
  });
});

describe('the reference', () => {
  let documented: readonly (readonly [string, readonly number[]])[] = [];
  beforeAll(() => {
    documented = Object.values(reference.paths).flatMap((methods) =>
      Object.values(methods).map(
        ({ operationId, responses }) =>
          [
            operationId,
            Object.keys(responses)
              .filter((key) => key !== 'default')
              .map(Number),
          ] as const,
      ),
    );
  });

  it('names every status that was answered, and no other', () => {
    expect(documented).toHaveLength(routes.length);
    const seen = documented.map(
      ([id]) => [id, [...(provoked.get(id) ?? [])].sort((a, b) => a - b)] as const,
    );
    expect(seen).toEqual(documented.map(([id, all]) => [id, [...all].sort((a, b) => a - b)]));
  });
});
