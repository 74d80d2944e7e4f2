import type { Level } from '../../src/http/access/principal.js';

/**
 * What a route is about. `document`: one of an owner, as absent to others as what is not there; `owner`:
 * the request names an owner; `own`: whatever belongs to those who ask; `all`: all owners together.
 */
export type About = 'document' | 'owner' | 'own' | 'all';

/** What a cell asks, for a document of `owner` that exists under `id`. */
export type CellRequest = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
};

/** One row of the matrix: who is promised access to a route, and how it is asked. */
export type Row = {
  /** The least level; `open`: nobody needs to sign in. */
  readonly access: 'open' | 'sensitive' | Level;
  readonly about: About;
  readonly ask?: (owner: string, id: string) => CellRequest;
  /** Statuses of whoever has access. */
  readonly ok: readonly number[];
  /** The status for a document of others, where it is not 404. */
  readonly foreign?: number;
  /** Which document there has to be; it carries the mark of its owner. */
  readonly seed?: 'job' | 'failed' | 'flow' | 'task' | 'schedule' | 'hook';
};

/** What documents of an owner say, and answers to others must not. */
export const markOf = (owner: string): string => `mark-of-${owner.toLowerCase()}`;

const byId = (_owner: string, id: string): CellRequest => ({ path: { id } });
const open = { access: 'open', about: 'own', ok: [200] } as const;
const read = { access: 'viewer', about: 'document', seed: 'job', ask: byId, ok: [200] } as const;
const list = { access: 'viewer', about: 'owner', ok: [200] } as const;
const inOwner = (owner: string): CellRequest => ({ query: `?owner=${owner}` });
const asked = (body: object = {}): Row => ({
  ...{ access: 'operator', about: 'document', seed: 'job' },
  ...{ ask: (_owner, id) => ({ path: { id }, query: '?wait=0', body }), ok: [200, 202, 409] },
});
const flowOf = (owner: string, name: string) => ({ name, owner, tasks: ['noop'] });
const taskOf = (owner: string, name: string) => ({ name, owner, plugin: 'noop' });
const scheduleOf = (owner: string, name: string) => ({
  ...{ name, owner, flow: 'f', at: ['2099-01-01T00:00:00Z'] },
});
const hookOf = (owner: string, name: string) => ({ name, owner, flow: 'f', check: 'none' });
const definition = { access: 'viewer', about: 'document', ask: byId, ok: [200] } as const;
const put = { access: 'admin', about: 'owner', ok: [201] } as const;
const remove = { access: 'admin', about: 'document', ask: byId, ok: [204] } as const;
const work = (more: object = {}): Row => ({
  ...{ access: 'operator', about: 'document', seed: 'job', ok: [409] },
  ask: (_owner, id) => ({ body: { job_id: id, worker_id: 'w', ...more } }),
});

const sensitive = (ask: Row['ask'], ok = [200]): Row => ({
  ...{ access: 'sensitive', about: 'owner', ok },
  ...(ask === undefined ? {} : { ask }),
});

/** Every route by its `operationId`. Written by hand: what is promised, not what is built. */
export const rows: Readonly<Record<string, Row>> = {
  submitJobs: {
    ...{ access: 'operator', about: 'owner', ok: [201] },
    ask: (owner) => ({ body: { flow: 'f', owner } }),
  },
  findJobs: { ...list, ask: inOwner },
  checkJob: { ...list, ask: (owner) => ({ body: { flow: 'f', owner } }), ok: [200, 422] },
  followChanges: { access: 'viewer', about: 'own', ok: [200] },
  getJob: read,
  getHistory: read,
  explainJob: read,
  getResult: { ...read, ask: (_owner, id) => ({ path: { id, step: 'noop' } }), ok: [404] },
  getInfo: read,
  infoJob: asked({ message: 'm' }),
  cancelJob: asked(),
  pauseJob: asked(),
  resumeJob: asked(),
  retryJob: asked(),
  migrateJob: asked(),
  migrateJobs: { access: 'operator', about: 'own', ask: () => ({ body: { ids: [] } }), ok: [200] },
  // A job of others is left out, as one that is not there.
  checkMigrations: {
    ...{ access: 'viewer', about: 'document', seed: 'job', ok: [200], foreign: 200 },
    ask: (_owner, id) => ({ body: { ids: [id] } }),
  },
  skipJob: asked({ step: 'noop' }),
  notesJob: asked({ text: 't' }),
  signalJob: { ...asked(), ask: (_owner, id) => ({ path: { id }, body: { name: 's' } }) },
  listInbox: { ...list, ask: inOwner },
  listForms: read,
  answerForm: {
    ...{ ...read, ok: [404] },
    ask: (_owner, id) => ({ path: { id }, query: '?wait=0', body: { data: {} } }),
  },
  // All cells ask from one address, and after too many links that do not work it has to wait.
  showLinkedForm: { ...open, ok: [404, 429], ask: () => ({ path: { token: 'some' } }) },
  answerLinkedForm: { ...open, ok: [404, 429], ask: () => ({ path: { token: 'some' } }) },
  retryJobs: { access: 'operator', about: 'own', ask: () => ({ body: { ids: [] } }), ok: [200] },
  cancelJobs: { access: 'operator', about: 'own', ask: () => ({ body: { ids: [] } }), ok: [200] },
  announceEvent: {
    ...{ access: 'operator', about: 'all', ok: [201, 409] },
    ask: () => ({ body: { event: 'e' } }),
  },
  listTasks: { ...list, ask: inOwner },
  getTask: { ...definition, seed: 'task' },
  putTask: {
    ...put,
    ask: (owner, id) => ({ path: { id: `${id}-new` }, body: taskOf(owner, `${id}-new`) }),
  },
  removeTask: { ...remove, seed: 'task' },
  checkTask: { ...list, ask: (owner, id) => ({ body: taskOf(owner, `${id}-new`) }) },
  listFlows: { ...list, ask: inOwner },
  getFlow: { ...definition, seed: 'flow' },
  putFlow: {
    ...put,
    ask: (owner, id) => ({ path: { id: `${id}-new` }, body: flowOf(owner, `${id}-new`) }),
  },
  removeFlow: { ...remove, seed: 'flow' },
  checkFlow: { ...list, ask: (owner, id) => ({ body: flowOf(owner, `${id}-new`) }) },
  listFlowVersions: { ...definition, seed: 'flow' },
  getFlowVersion: {
    ...{ ...definition, seed: 'flow' },
    ask: (_owner, id) => ({ path: { id, version: id } }),
  },
  compareFlowVersions: { ...definition, seed: 'flow' },
  useFlowVersion: {
    ...{ ...definition, access: 'operator', seed: 'flow' },
    ask: (_owner, id) => ({ path: { id }, body: { version: id } }),
  },
  // There is no other version.
  rollbackFlow: { ...definition, access: 'operator', seed: 'flow', ok: [409] },
  enableFlow: { ...definition, access: 'operator', seed: 'flow' },
  disableFlow: { ...definition, access: 'operator', seed: 'flow' },
  putSensitive: sensitive((owner) => ({
    body: { owner, subject: `${owner} ann`, values: { phone: markOf(owner) } },
  })),
  listSensitive: sensitive(inOwner),
  referSensitive: sensitive((owner) => ({ body: { owner, subject: 'ann' } })),
  readSensitive: sensitive(
    (owner) => ({ body: { owner, subject: `${owner} ann`, names: ['phone'] } }),
    [200, 404],
  ),
  purgeSensitive: sensitive((owner) => ({ body: { owner, subject: 'nobody' } })),
  listSensitiveAccesses: sensitive(inOwner),
  listSchedules: { ...list, ask: inOwner },
  getSchedule: { ...definition, seed: 'schedule' },
  putSchedule: {
    ...put,
    ask: (owner, id) => ({ path: { id: `${id}-new` }, body: scheduleOf(owner, `${id}-new`) }),
  },
  removeSchedule: { ...remove, seed: 'schedule' },
  checkSchedule: { ...list, ask: (owner, id) => ({ body: scheduleOf(owner, `${id}-new`) }) },
  pauseSchedule: { ...definition, access: 'operator', seed: 'schedule' },
  resumeSchedule: { ...definition, access: 'operator', seed: 'schedule' },
  backfillSchedule: {
    ...{ ...definition, access: 'operator', seed: 'schedule', ok: [202] },
    ask: (_owner, id) => ({ path: { id }, body: { from: 1, until: 2 } }),
  },
  endBackfill: { ...definition, access: 'operator', seed: 'schedule' },
  runSchedule: { ...definition, access: 'operator', seed: 'schedule', ok: [201] },
  listHooks: { ...list, ask: inOwner },
  getHook: { ...definition, seed: 'hook' },
  putHook: {
    ...put,
    ask: (owner, id) => ({ path: { id: `${id}-new` }, body: hookOf(owner, `${id}-new`) }),
  },
  removeHook: { ...remove, seed: 'hook' },
  checkHook: { ...list, ask: (owner, id) => ({ body: hookOf(owner, `${id}-new`) }) },
  // The hook says who may deliver; this one says: everybody.
  deliverToHook: { access: 'open', about: 'own', seed: 'hook', ask: byId, ok: [202] },
  listNotifyLists: { ...list, ask: inOwner },
  // One for each owner: cells of the same owner meet.
  getNotifyList: {
    ...{ access: 'viewer', about: 'document', ok: [200, 404] },
    ask: (owner) => ({ path: { owner } }),
  },
  putNotifyList: {
    ...{ ...put, ok: [200, 201, 409] },
    ask: (owner) => ({ path: { owner }, body: { notify: [] } }),
  },
  removeNotifyList: {
    ...{ access: 'admin', about: 'document', ok: [204, 404, 409] },
    ask: (owner) => ({ path: { owner } }),
  },
  checkNotifyList: { ...list, ask: (owner) => ({ body: { owner, notify: [] } }) },
  testNotify: {
    ...{ access: 'operator', about: 'owner', ok: [202] },
    ask: (owner) => ({ path: { owner } }),
  },
  listEngines: { access: 'viewer', about: 'own', ok: [200] },
  getStats: { ...list, ask: inOwner },
  getFailures: { ...list, ask: inOwner },
  enableEngine: {
    ...{ access: 'operator', about: 'all', ok: [200] },
    ask: () => ({ path: { id: '*' } }),
  },
  disableEngine: {
    ...{ access: 'operator', about: 'all', ok: [200, 404, 409] },
    ask: () => ({ path: { id: 'engine:none' } }),
  },
  listGatherings: { ...list, ask: inOwner },
  listLimits: { ...list, ask: inOwner },
  listQueues: { access: 'viewer', about: 'own', ok: [200] },
  pauseQueue: {
    ...{ access: 'operator', about: 'all', ok: [200, 409] },
    ask: () => ({ path: { name: 'unused' } }),
  },
  resumeQueue: {
    ...{ access: 'operator', about: 'all', ok: [200, 409] },
    ask: () => ({ path: { name: 'unused' } }),
  },
  // There is no archive here; archive.test.ts has one, with jobs of two owners.
  getRetention: { access: 'viewer', about: 'all', ok: [200] },
  listArchived: { ...list, ask: inOwner, ok: [404] },
  getArchived: { access: 'viewer', about: 'own', ask: byId, ok: [404] },
  restoreArchived: { access: 'operator', about: 'own', ask: byId, ok: [404] },
  removeJob: { access: 'admin', about: 'document', seed: 'failed', ask: byId, ok: [200] },
  getTwsMetrics: { access: 'viewer', about: 'all', ok: [200] },
  getMetrics: { access: 'viewer', about: 'all', ok: [200] },
  ping: open,
  getLive: open,
  getReady: { ...open, ok: [200, 503] },
  // A name of its own for each cell: after too many wrong passwords an account is locked.
  signIn: {
    ...{ ...open, ok: [401, 429] },
    ask: (_owner, id) => ({ body: { name: id, password: 'p' } }),
  },
  getSession: { access: 'none', about: 'own', ok: [200] },
  signOut: { access: 'none', about: 'own', ok: [204] },
  createToken: {
    ...{ access: 'admin', about: 'all', ok: [201] },
    ask: () => ({ body: { name: 'x', roles: ['tws-viewer'] } }),
  },
  listTokens: { access: 'admin', about: 'all', ok: [200] },
  revokeToken: {
    ...{ access: 'admin', about: 'all', ok: [404] },
    ask: () => ({ path: { id: 'none' } }),
  },
  ojsManifest: open,
  ojsHealth: { ...open, ok: [200, 503] },
  ojsEnqueue: {
    ...{ access: 'operator', about: 'own', ok: [201] },
    ask: () => ({ body: { type: 'noop', args: [] } }),
  },
  ojsEnqueueMany: {
    ...{ access: 'operator', about: 'own', ok: [201] },
    ask: () => ({ body: { jobs: [{ type: 'noop', args: [] }] } }),
  },
  ojsGetJob: read,
  ojsCancel: { ...asked(), ask: byId },
  ojsActivate: { ...asked(), ask: byId },
  ojsFetch: {
    ...{ access: 'operator', about: 'own', ok: [200] },
    ask: () => ({ body: { queues: ['nobody'] } }),
  },
  ojsAck: work({ result: 1 }),
  ojsNack: work({ error: { code: 'c', message: 'm' } }),
  ojsHeartbeat: {
    ...{ access: 'operator', about: 'own', ok: [200] },
    ask: (_owner, id) => ({ body: { worker_id: 'w', active_jobs: [id] } }),
  },
  ojsQueues: { access: 'viewer', about: 'own', ok: [200] },
  ojsEvents: { access: 'viewer', about: 'own', ok: [200] },
  ojsMakeWorkflow: {
    ...{ access: 'operator', about: 'own', ok: [201, 400] },
    ask: () => ({ body: { type: 'chain', steps: [{ type: 'noop', args: [] }] } }),
  },
  ojsGetWorkflow: { ...read, ok: [404] },
  ojsCancelWorkflow: { ...asked(), ask: byId, ok: [404] },
  ojsCrons: { access: 'viewer', about: 'own', ok: [200] },
  ojsMakeCron: {
    ...{ access: 'admin', about: 'own', ok: [201, 400, 409] },
    ask: () => ({ body: { name: 'c', cron: '@daily', type: 'noop', args: [] } }),
  },
  ojsCron: { ...read, ask: (_owner, id) => ({ path: { name: id } }), ok: [404] },
  ojsRemoveCron: {
    ...{ access: 'admin', about: 'document', seed: 'job', ok: [404] },
    ask: (_owner, id) => ({ path: { name: id } }),
  },
  ojsPauseQueue: {
    ...{ access: 'operator', about: 'all', ok: [200, 409] },
    ask: () => ({ path: { name: 'unused' } }),
  },
  ojsResumeQueue: {
    ...{ access: 'operator', about: 'all', ok: [200, 409] },
    ask: () => ({ path: { name: 'unused' } }),
  },
  ojsQueueStats: {
    ...{ access: 'viewer', about: 'own', ok: [200] },
    ask: () => ({ path: { name: 'default' } }),
  },
  ojsDeadLetters: { access: 'viewer', about: 'own', ok: [200] },
  ojsDeadLetter: { ...read, seed: 'failed' },
  ojsRemoveDeadLetter: { ...remove, seed: 'failed', ok: [200] },
  ojsRetryDeadLetter: { ...asked(), ask: byId, seed: 'failed' },
  getOpenApi: open,
  getDocs: open,
  getDocsStyle: open,
};
