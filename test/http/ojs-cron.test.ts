import { expect, it } from 'vitest';
import { problem } from '../../src/errors.js';
import { documentsOfCron } from '../../src/http/ojs/cron/documents.js';
import { cronSchema } from '../../src/http/ojs/cron/schemas.js';
import { openWorkspace } from '../support/workspace.js';
import { openOjs, work } from './ojs-api.js';

const order = { expression: '@daily', job_template: { type: 'email.send', args: [1] } };
const tenant = (owner: string) => ({ headers: { 'x-ojs-tenant-id': owner } });

it('a cron job takes over the flow that was left behind when one half of it was stored', async () => {
  const api = await openOjs();
  const name = 'ojs-cron:a';
  const left = { _id: `flow:DEFAULT:${name}`, type: 'flow', name, owner: 'DEFAULT', timeout: 0 };
  const now = Date.now();
  await api.put(work, { ...left, tasks: ['email.send'], ojs: { created_at: now } });
  const body = { name: 'a', ...order };
  // It may be about to get its schedule.
  expect((await api.ojs('POST', '/v1/cron', { body })).status).toBe(409);
  const young = await api.store.get(left._id);
  await api.store.write({ ...young, _id: left._id, ojs: { created_at: now - 61_000 } });
  expect((await api.ojs('POST', '/v1/cron', { body })).status).toBe(201);
  expect(await api.store.get(left._id)).toMatchObject({ ojs: { args: [1] } });
  // A schedule that is refused leaves no flow behind.
  await api.put({ _id: 'schedule:DEFAULT:b', type: 'note' });
  const taken = await api.ojs('POST', '/v1/cron', { body: { ...body, name: 'b' } });
  expect(taken.status).toBe(409);
  expect(await api.store.get('flow:DEFAULT:ojs-cron:b')).toBeUndefined();
  // A removal that was interrupted leaves a flow that nothing runs, which goes when it is asked for again.
  const half = { ...left, _id: 'flow:DEFAULT:ojs-cron:c', name: 'ojs-cron:c' };
  await api.put({ ...half, tasks: ['email.send'], ojs: { created_at: now - 61_000 } });
  expect((await api.ojs('DELETE', '/v1/cron/c')).status).toBe(404);
  expect(await api.store.get(half._id)).toBeUndefined();
});

it('of cron jobs of one name that of the usual owner is meant, or it has to be said', async () => {
  const api = await openOjs();
  await api.put(work);
  for (const owner of ['x', 'y']) {
    const body = { name: 'a', ...order };
    expect((await api.ojs('POST', '/v1/cron', { body, ...tenant(owner) })).status).toBe(201);
  }
  expect(await api.ojs('DELETE', '/v1/cron/a')).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('(x, y)') as string } },
  });
  expect((await api.ojs('POST', '/v1/cron', { body: { name: 'a', ...order } })).status).toBe(201);
  expect((await api.ojs('DELETE', '/v1/cron/a')).status).toBe(200);
  expect((await api.ojs('DELETE', '/v1/cron/a', tenant('y'))).status).toBe(200);
  expect((await api.ojs('GET', '/v1/cron/a', tenant('x'))).status).toBe(200);
});

it('what a template says of its jobs counts in "options" and beside the type', () => {
  const said = { priority: 10, tags: ['night'], queue: 'q', retry: { max_attempts: 2 } };
  const documents = (more: object) =>
    documentsOfCron(
      cronSchema.parse({
        name: 'a',
        cron: '@daily',
        job_template: { type: 'f', args: [], ...more },
      }),
      { owner: 'o', target: { kind: 'task', name: 'f', ...task }, now: 0 },
    );
  const task = { isWork: true, hasRetry: false, hasLease: false, byType: false };
  const [flow, schedule] = documents(said);
  expect([flow, schedule]).toEqual(documents({ options: said }));
  expect(schedule).toMatchObject({ priority: 490, tags: ['night'], ojs: { queue: 'q' } });
  expect(flow).toMatchObject({
    tasks: [{ retry: { limit: 1 }, params: { worker: { queue: 'q' } } }],
  });
});

it('a cron job is removed although an engine writes at the same time what it started', async () => {
  const workspace = await openWorkspace({});
  const { store } = workspace;
  let writes = 3;
  let isInterrupted = false;
  const away = problem('couch_unreachable', { url: 'http://db', cause: 'gone' });
  const remove: typeof store.remove = async (id, rev) => {
    if (isInterrupted && id.startsWith('flow:')) throw away;
    const doc = await store.get(id);
    if (doc?.['type'] === 'schedule' && (writes -= 1) >= 0) await store.write(doc);
    return store.remove(id, rev);
  };
  const api = await openOjs({ workspace: { ...workspace, store: { ...store, remove } } });
  await api.put(work);
  expect((await api.ojs('POST', '/v1/cron', { body: { name: 'a', ...order } })).status).toBe(201);
  expect((await api.ojs('DELETE', '/v1/cron/a')).status).toBe(200);
  expect(writes).toBeLessThan(0);
  expect((await api.ojs('GET', '/v1/cron/a')).status).toBe(404);
  // A young one, too, leaves nothing behind when its removal is interrupted and asked for again.
  expect((await api.ojs('POST', '/v1/cron', { body: { name: 'b', ...order } })).status).toBe(201);
  isInterrupted = true;
  expect((await api.ojs('DELETE', '/v1/cron/b')).status).toBe(503);
  isInterrupted = false;
  expect(await store.get('flow:DEFAULT:ojs-cron:b')).toBeDefined();
  expect((await api.ojs('DELETE', '/v1/cron/b')).status).toBe(404);
  expect(await store.get('flow:DEFAULT:ojs-cron:b')).toBeUndefined();
});
