import { describe, expect, it } from 'vitest';
import { describeApi } from '../../src/http/reference/document.js';
import { fullPath, type Route } from '../../src/http/route.js';
import { routes } from '../../src/http/routes.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import { openStream } from './events.js';
import { openApi, type Asking, type TestApi } from './server.js';

/** Who may call a route: `O` allowed, `-` refused. */
const columns = ['nobody', 'no role', 'viewer', 'operator', 'admin'] as const;
type Column = (typeof columns)[number];

/** Written by hand and on purpose not derived from the routes: what is promised. */
const table: Readonly<Record<string, string>> = {
  ping: 'OOOOO',
  getLive: 'OOOOO',
  getReady: 'OOOOO',
  getOpenApi: 'OOOOO',
  getDocs: 'OOOOO',
  getDocsStyle: 'OOOOO',
  signIn: 'OOOOO',
  getSession: '-OOOO',
  signOut: '-OOOO',
  findJobs: '--OOO',
  checkJob: '--OOO',
  followChanges: '--OOO',
  getJob: '--OOO',
  getHistory: '--OOO',
  explainJob: '--OOO',
  getResult: '--OOO',
  getInfo: '--OOO',
  listTasks: '--OOO',
  getTask: '--OOO',
  checkTask: '--OOO',
  listFlows: '--OOO',
  getFlow: '--OOO',
  checkFlow: '--OOO',
  listSchedules: '--OOO',
  getSchedule: '--OOO',
  checkSchedule: '--OOO',
  listEngines: '--OOO',
  getStats: '--OOO',
  getFailures: '--OOO',
  getMetrics: '--OOO',
  getTwsMetrics: '--OOO',
  submitJobs: '---OO',
  cancelJob: '---OO',
  pauseJob: '---OO',
  resumeJob: '---OO',
  retryJob: '---OO',
  skipJob: '---OO',
  notesJob: '---OO',
  infoJob: '---OO',
  signalJob: '---OO',
  listInbox: '--OOO',
  listForms: '--OOO',
  // Of those who may look, whom the form asks.
  answerForm: '--OOO',
  showLinkedForm: 'OOOOO',
  answerLinkedForm: 'OOOOO',
  retryJobs: '---OO',
  cancelJobs: '---OO',
  announceEvent: '---OO',
  listHooks: '--OOO',
  getHook: '--OOO',
  checkHook: '--OOO',
  listNotifyLists: '--OOO',
  getNotifyList: '--OOO',
  checkNotifyList: '--OOO',
  putNotifyList: '----O',
  removeNotifyList: '----O',
  testNotify: '---OO',
  putHook: '----O',
  removeHook: '----O',
  deliverToHook: 'OOOOO',
  // Of users with the role tws-sensitive alone: test/http/sensitive.test.ts.
  putSensitive: '-----',
  listSensitive: '-----',
  referSensitive: '-----',
  readSensitive: '-----',
  purgeSensitive: '-----',
  listSensitiveAccesses: '-----',
  pauseSchedule: '---OO',
  resumeSchedule: '---OO',
  backfillSchedule: '---OO',
  endBackfill: '---OO',
  runSchedule: '---OO',
  listFlowVersions: '--OOO',
  getFlowVersion: '--OOO',
  compareFlowVersions: '--OOO',
  useFlowVersion: '---OO',
  rollbackFlow: '---OO',
  migrateJob: '---OO',
  migrateJobs: '---OO',
  checkMigrations: '--OOO',
  enableFlow: '---OO',
  disableFlow: '---OO',
  enableEngine: '---OO',
  disableEngine: '---OO',
  listGatherings: '--OOO',
  listLimits: '--OOO',
  listQueues: '--OOO',
  pauseQueue: '---OO',
  resumeQueue: '---OO',
  getRetention: '--OOO',
  listArchived: '--OOO',
  getArchived: '--OOO',
  restoreArchived: '---OO',
  removeJob: '----O',
  putTask: '----O',
  removeTask: '----O',
  putFlow: '----O',
  putSchedule: '----O',
  removeSchedule: '----O',
  removeFlow: '----O',
  createToken: '----O',
  listTokens: '----O',
  revokeToken: '----O',
  ojsManifest: 'OOOOO',
  ojsHealth: 'OOOOO',
  ojsGetJob: '--OOO',
  ojsQueues: '--OOO',
  ojsEvents: '--OOO',
  ojsMakeWorkflow: '---OO',
  ojsGetWorkflow: '--OOO',
  ojsCancelWorkflow: '---OO',
  ojsMakeCron: '----O',
  ojsCrons: '--OOO',
  ojsCron: '--OOO',
  ojsRemoveCron: '----O',
  ojsPauseQueue: '---OO',
  ojsResumeQueue: '---OO',
  ojsQueueStats: '--OOO',
  ojsDeadLetters: '--OOO',
  ojsDeadLetter: '--OOO',
  ojsEnqueue: '---OO',
  ojsEnqueueMany: '---OO',
  ojsCancel: '---OO',
  ojsActivate: '---OO',
  ojsFetch: '---OO',
  ojsAck: '---OO',
  ojsNack: '---OO',
  ojsHeartbeat: '---OO',
  ojsRetryDeadLetter: '---OO',
  ojsRemoveDeadLetter: '----O',
};

/** These concern all owners: a role for some of them is not enough, whatever else somebody may do. */
const ofAllOwners: Readonly<Record<string, unknown>> = {
  announceEvent: { event: 'e' },
  enableEngine: undefined,
  disableEngine: undefined,
  pauseQueue: undefined,
  getRetention: undefined,
  resumeQueue: undefined,
  ojsPauseQueue: undefined,
  ojsResumeQueue: undefined,
  getMetrics: undefined,
  getTwsMetrics: undefined,
  createToken: { name: 'x', roles: ['tws-admin'] },
  listTokens: undefined,
  revokeToken: undefined,
};

async function statusOf(api: TestApi, route: Route, asking: Asking): Promise<number> {
  const path = fullPath(route).replaceAll(/\{(?:id|step|name)\}/g, 'nix');
  if (route.id !== 'followChanges') return (await api.ask(route.method, path, asking)).status;
  const authorization =
    asking.token === undefined ? {} : { authorization: `Bearer ${asking.token}` };
  const stream = await openStream(`${api.url}${path}`, authorization);
  stream.close();
  return stream.status;
}

/** All owners' but for the level: what the owners of somebody limit is another table. */
async function visitors(api: TestApi): Promise<ReadonlyMap<Column, string | undefined>> {
  const all = 'tws-owner:*';
  return new Map([
    ['nobody', undefined],
    ['no role', await api.tokenOf(all)],
    ['viewer', await api.tokenOf('tws-viewer', all)],
    ['operator', await api.tokenOf('tws-operator', all)],
    ['admin', await api.tokenOf('tws-admin', all)],
  ]);
}

describe('every route', () => {
  // Shows M-06.
  it('lets in who may, refuses all others with 401 or 403, and changes nothing then', async () => {
    expect(Object.keys(table).toSorted()).toEqual(routes.map(({ id }) => id).toSorted());
    const api = await openApi({ settings: { sign_in: 'always' }, metrics: createPrometheus() });
    const tokens = await visitors(api);
    const updateSeq = async () => (await api.store.info()).updateSeq;
    let before = await updateSeq();
    for (const route of routes) {
      // What is no JSON is looked at only after it was decided who may send it.
      const broken = route.body === undefined ? {} : { raw: '{' };
      const seen: string[] = [];
      for (const [i, column] of columns.entries()) {
        const status = await statusOf(api, route, { token: tokens.get(column), ...broken });
        const isRefused = status === (column === 'nobody' ? 401 : 403);
        seen.push(isRefused ? '-' : 'O');
        if (!isRefused) expect([route.id, i, status < 500]).toEqual([route.id, i, true]);
        // A queue is there as soon as somebody names it, so whoever may does pause it.
        const mayChange = !isRefused && /^ojs\w+Queue$/.test(route.id);
        if (mayChange) before = await updateSeq();
        else expect([route.id, column, await updateSeq()]).toEqual([route.id, column, before]);
      }
      expect([route.id, seen.join('')]).toEqual([route.id, table[route.id]]);
    }
  });

  it('that concerns all owners refuses whoever has only some', async () => {
    const api = await openApi({ settings: { sign_in: 'always' }, metrics: createPrometheus() });
    const token = await api.tokenOf('tws-admin', 'tws-owner:acme');
    const before = (await api.store.info()).updateSeq;
    for (const route of routes.filter(({ id }) => id in ofAllOwners)) {
      const body = ofAllOwners[route.id];
      const asking = { token, ...(body === undefined ? {} : { body }) };
      expect([route.id, await statusOf(api, route, asking)]).toEqual([route.id, 403]);
    }
    expect((await api.store.info()).updateSeq).toBe(before);
  });

  it('says in the reference whom it lets in', () => {
    const { paths } = describeApi(routes, '0');
    for (const route of routes) {
      const operation = paths[fullPath(route)]?.[route.method.toLowerCase()];
      const least = columns[table[route.id]?.indexOf('O') ?? 0] ?? 'sensitive';
      const words = { nobody: 'open', 'no role': 'none' } as Readonly<Record<string, string>>;
      const says = words[least ?? ''] ?? least;
      expect([route.id, operation?.['x-access']]).toEqual([route.id, says]);
    }
  });
});

describe('tokens', () => {
  it('are told once, count until they are revoked, and can do no more than they were made for', async () => {
    const api = await openApi({ keepMs: 10 });
    const body = { name: 'nightly', roles: ['tws-operator', 'tws-owner:acme'] };
    const made = await api.ask('POST', '/tokens', { body });
    expect(made.status).toBe(201);
    const { id, token } = made.body as { id: string; token: string };
    expect(made.headers.get('location')).toBe(`/_tws/tokens/${id}`);
    expect((await api.ask('GET', '/session', { token })).body).toMatchObject({
      kind: 'token',
      name: 'nightly',
      level: 'operator',
      owners: ['acme'],
    });
    const list = await api.ask('GET', '/tokens');
    expect(list.body).toMatchObject({ tokens: [{ id, ...body }] });
    const secret = token.slice(-43);
    expect(list.text).not.toContain(secret);
    expect(JSON.stringify(await api.client.get(`token:${id}`))).not.toContain(secret);
    expect(JSON.stringify(api.lines)).not.toContain(secret);
    expect((await api.ask('DELETE', `/tokens/${id}`)).status).toBe(204);
    await expect.poll(async () => (await api.ask('GET', '/jobs', { token })).status).toBe(401);
  });

  it('end at their time, and take no roles that mean nothing here', async () => {
    const api = await openApi({ keepMs: 10 });
    const body = { name: 'x', roles: ['tws-viewer'], expires: Date.now() - 1 };
    const { body: made } = await api.ask('POST', '/tokens', { body });
    expect((await api.ask('GET', '/jobs', { token: String(made['token']) })).status).toBe(401);
    for (const roles of [[], ['_admin'], ['admin'], 'tws-admin']) {
      const answer = await api.ask('POST', '/tokens', { body: { name: 'x', roles } });
      expect(answer).toMatchObject({ status: 400, body: { error: 'request_invalid' } });
    }
  });
});
