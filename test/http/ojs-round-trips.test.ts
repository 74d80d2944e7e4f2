import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/store.js';
import { startFaultyProxy } from '../support/faulty-proxy.js';
import { openWorkspace } from '../support/workspace.js';
import { openOjs, work, type Fetched } from './ojs-api.js';

const order = { type: 'email.send', args: [] };
const wish = { queues: ['default'], worker_id: 'w1' };

/** The façade above a proxy that tells what the database is asked. */
async function counted() {
  const workspace = await openWorkspace();
  const { connection } = workspace.store;
  const proxy = await startFaultyProxy(new URL(connection.url).origin);
  const store = openStore({ ...connection, url: proxy.url });
  const api = await openOjs({ workspace: { ...workspace, store } });
  await workspace.put({ ...work, _id: 'task:work' });
  const asked: string[] = [];
  proxy.begin({ kind: 'delay', ms: 0 }, ({ method, path }) => {
    const [, of] = /^\/[^/]+\/(.*)$/.exec(path.split('?')[0] ?? '') ?? [];
    // The state of the database is read every ten seconds, and the feed stays open.
    if (of !== undefined && of !== '_changes') asked.push(`${method} ${of}`);
    return false;
  });
  /** What is asked of the database meanwhile. */
  const during = async <T>(run: () => Promise<T>): Promise<readonly [T, readonly string[]]> => {
    asked.length = 0;
    const answer = await run();
    return [answer, [...asked]];
  };
  const fetchOne = (wait = 60_000) =>
    api.ojs<Fetched>('POST', '/v1/workers/fetch', { body: { ...wish, wait_ms: wait } });
  const ack = (id: string) => api.ojs('POST', '/v1/workers/ack', { body: { job_id: id } });
  const enqueue = () => api.enqueue(order);
  // From the first request on the feed is read.
  await expect.poll(async () => (await during(enqueue))[1]).toEqual(['POST _bulk_docs']);
  for (;;) {
    const { jobs } = (await fetchOne(0)).body;
    if (jobs.length === 0) break;
    await ack(String(jobs[0]?.id));
  }
  return { api, during, fetchOne, ack, enqueue, workspace };
}

describe('a server that serves workers asks the database', () => {
  it('once to enqueue a job, once to give it to a worker and once to store the result', async () => {
    const { during, fetchOne, ack, enqueue, workspace } = await counted();
    const once = ['POST _bulk_docs'];
    for (let n = 0; n < 3; n += 1) {
      const [{ id }, toEnqueue] = await during(enqueue);
      const [{ body }, toFetch] = await during(() => fetchOne());
      expect(body.jobs.map((one) => one.id)).toEqual([id]);
      const [{ status }, toAck] = await during(() => ack(id));
      expect({ status, toEnqueue, toFetch, toAck }).toEqual({
        ...{ status: 200, toEnqueue: once, toFetch: once, toAck: once },
      });
      expect(await workspace.store.get(id)).toMatchObject({ state: '$$complete', exit: 0 });
    }
  });

  it('again when somebody may have been faster, or nothing is known to be there', async () => {
    const { api, during, fetchOne, workspace } = await counted();
    // Another process offers one: whoever does not wait has the index looked at.
    const [begun] = await api.client.beginWork(
      [{ _id: 'other', type: 'job', owner: 'DEFAULT', tasks: ['email.send'] }],
      { now: Date.now() },
    );
    await workspace.put(begun ?? {});
    const [{ body }, toFetch] = await during(() => fetchOne(0));
    expect(body.jobs.map(({ id }) => id)).toEqual(['other']);
    expect(toFetch.at(-1)).toBe('POST _bulk_docs');
    // Another process ends it meanwhile.
    const held = await workspace.store.get('other');
    await workspace.store.write({ ...held, _id: 'other', state: '$$cancelled', exit: 130, end: 1 });
    expect((await api.ojs('POST', '/v1/workers/ack', { body: { job_id: 'other' } })).status).toBe(
      409,
    );
  });

  it('nothing of a queue that it paused, whose work nobody gets from then on', async () => {
    const { api, fetchOne, enqueue, workspace } = await counted();
    const { id } = await enqueue();
    expect((await api.ojs('POST', '/v1/queues/default/pause')).status).toBe(200);
    expect((await fetchOne(0)).body.jobs).toEqual([]);
    expect((await api.ojs('POST', '/v1/queues/default/resume')).status).toBe(200);
    expect((await fetchOne(0)).body.jobs.map((one) => one.id)).toEqual([id]);
    // Whoever waits meanwhile gets what is there when the queue goes on.
    const later = await enqueue();
    await api.ojs('POST', '/v1/queues/default/pause');
    const waiting = fetchOne();
    await fetchOne(0);
    await api.ojs('POST', '/v1/queues/default/resume');
    expect((await waiting).body.jobs.map((one) => one.id)).toEqual([later.id]);
    // What comes while it is paused is offered, too, and needs no engine when the queue goes on.
    await api.ojs('POST', '/v1/queues/default/pause');
    const held = await enqueue();
    expect((await fetchOne(0)).body.jobs).toEqual([]);
    await api.ojs('POST', '/v1/queues/default/resume');
    expect((await fetchOne(0)).body.jobs.map((one) => one.id)).toEqual([held.id]);
    // Jobs are taken, and nobody does what workers do not.
    const health = await api.ojs('GET', '/v1/health');
    expect([health.status, health.body]).toMatchObject([200, { status: 'degraded' }]);
    // Another process pauses it: that counts as soon as the feed has brought it.
    await workspace.put({
      _id: 'queue-control:x',
      type: 'queue-control',
      queue: 'default',
      paused: true,
    });
    await expect
      .poll(async () => {
        await enqueue();
        return (await fetchOne(0)).body.jobs.length;
      })
      .toBe(0);
  });

  it('nothing more to begin jobs of one kind alike, and as their task says now', async () => {
    const { api, enqueue, workspace } = await counted();
    const stored = async () => {
      const { id } = await enqueue();
      const { _rev, ...doc } = (await workspace.store.get(id)) ?? {};
      // Ids, times and places in line are each job's own.
      const own = [new RegExp(id, 'g'), /\b\d{13,16}\b/g, /\d{7}-[\da-f-]{36}/g];
      return own.reduce((text, one) => text.replaceAll(one, '*'), JSON.stringify(doc));
    };
    const jobs = [await stored(), await stored(), await stored()];
    expect(new Set(jobs).size).toBe(1);
    // What an order carries is looked at in each, and never taken for a template.
    const carry = async (args: unknown[]) =>
      (await api.ojs('POST', '/v1/jobs', { body: { ...order, args } })).status;
    expect(await carry([{ password: '[secret]' }])).toBe(400);
    expect(await carry([{ params: '{{name' }])).toBe(201);
    const task = await workspace.store.get('task:work');
    await workspace.put({ ...task, _id: 'task:work', params: { worker: { lease: 7_777 } } });
    await expect.poll(stored).toContain('"lease":7777');
  });

  it('for a definition that it does not know, which may be new', async () => {
    const { api, workspace } = await counted();
    const odd = { type: 'odd.job', args: [] };
    expect((await api.ojs('POST', '/v1/jobs', { body: odd })).status).toBe(400);
    await workspace.put({ ...work, _id: 'task:odd', name: 'odd.job' });
    expect((await api.ojs('POST', '/v1/jobs', { body: odd })).status).toBe(201);
  });

  it('no more often for many who wait, each of whom gets work as it is enqueued', async () => {
    const { api, fetchOne } = await counted();
    const waiting = Array.from({ length: 10 }, () => fetchOne());
    const jobs = Array.from({ length: 10 }, () => order);
    await api.ojs('POST', '/v1/jobs/batch', { body: { jobs } });
    const got = (await Promise.all(waiting)).flatMap(({ body }) => body.jobs.map(({ id }) => id));
    expect(new Set(got).size).toBe(10);
  });
});
