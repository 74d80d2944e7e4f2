import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.js';
import { startHttp, type HttpServer } from '../../src/http/server.js';
import { openStore, type Store } from '../../src/store/store.js';
import { createDatabase } from '../../src/store/database.js';
import { installDesign } from '../../src/store/design.js';
import { admin, couchUrl, freshDatabase } from '../support/couch.js';
import { ask } from './server.js';
import { task } from '../cli/terminal.js';
import type { Envelope, Fetched } from './ojs-api.js';

/*
 * What the Open Job Spec asks for, without its suite. No engine runs: workers get, keep and answer their jobs
 * by three servers alone.
 */

/** So many jobs of a batch come in order; the gate takes fewer. */
const many = Number(process.env['TWS_OJS_MANY'] ?? 60);

let store: Store;
const stores: Store[] = [];
const servers: HttpServer[] = [];

beforeAll(async () => {
  const database = await freshDatabase();
  const connection = { url: couchUrl(), ...admin(), database, app: 'tws' };
  await createDatabase(connection);
  await installDesign(connection, { guard: false });
  store = openStore(connection);
  await store.write({ _id: 'task:ojs', ...task('ojs', { plugin: 'worker' }) });
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  for (let n = 0; n < 3; n += 1) {
    // Each knows of the others by the database alone.
    const own = openStore(connection);
    stores.push(own);
    const client = createClient({ store: own });
    const inspect = () => Promise.reject(new Error('not asked'));
    const options = { client, inspect, log, version: '0.0.0', root: '.' };
    servers.push(await startHttp({ ...options, settings: { port: 0 } }));
  }
});

afterAll(async () => {
  await Promise.all(servers.map(({ close }) => close()));
  await Promise.all([store, ...stores].map(({ close }) => close()));
});

async function ojs<T = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  server = 0,
) {
  const url = String(servers[server]?.url);
  return ask<T>(url, method, `/ojs/v1${path}`, body === undefined ? {} : { body });
}

async function enqueue(queue: string, more: object = {}): Promise<Envelope> {
  const body = { type: 'work.do', args: [], options: { queue, ...more } };
  const answer = await ojs<{ job: Envelope }>('POST', '/jobs', body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.job;
}

async function fetched(queue: string, more: object = {}, server = 0): Promise<readonly Envelope[]> {
  const body = { queues: [queue], worker_id: 'w1', wait_ms: 0, ...more };
  return (await ojs<Fetched>('POST', '/workers/fetch', body, server)).body.jobs;
}

const nack = (id: string, more: object = {}) =>
  ojs('POST', '/workers/nack', { job_id: id, error: { message: 'No.' }, ...more });

describe('without an engine', () => {
  it('a job is fetchable when it is answered, ends with its answer, and is cancelled at once', async () => {
    const { id, state } = await enqueue('alone');
    expect(state).toBe('available');
    expect(await fetched('alone')).toMatchObject([{ id, state: 'active', attempt: 1 }]);
    const ack = await ojs('POST', '/workers/ack', { job_id: id, result: { n: 1 } });
    expect(ack).toMatchObject({ status: 200, body: { state: 'completed' } });
    expect((await ojs('GET', `/jobs/${id}`)).body).toMatchObject({
      job: { state: 'completed', result: { n: 1 }, attempt: 1 },
    });
    const other = await enqueue('alone');
    expect(await ojs('DELETE', `/jobs/${other.id}`)).toMatchObject({
      status: 200,
      body: { job: { state: 'cancelled', previous_state: 'available' } },
    });
    expect(await fetched('alone')).toEqual([]);
  });

  it('jobs of a batch come in their order', async () => {
    const jobs = Array.from({ length: many }, (_, n) => ({
      ...{ type: 'work.do', args: [n], options: { queue: 'line' } },
    }));
    expect((await ojs('POST', '/jobs/batch', { jobs })).status).toBe(201);
    const got: unknown[] = [];
    while (got.length < many) {
      const some = await fetched('line', { count: 50 });
      if (some.length === 0) break;
      got.push(...some.map(({ args }) => args[0]));
    }
    expect(got).toEqual(Array.from({ length: many }, (_, n) => n));
  });

  it('twenty that fetch on three servers at once never get the same job', async () => {
    const jobs = Array.from({ length: 30 }, (_, n) => ({
      ...{ type: 'work.do', args: [n], options: { queue: 'crowd' } },
    }));
    await ojs('POST', '/jobs/batch', { jobs });
    const got: string[] = [];
    const worker = async (n: number): Promise<void> => {
      for (;;) {
        const some = await fetched('crowd', { worker_id: `w${n}`, count: 2 }, n % 3);
        if (some.length === 0) return;
        got.push(...some.map(({ id }) => id));
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => worker(n)));
    await worker(20);
    expect(got).toHaveLength(30);
    expect(new Set(got).size).toBe(30);
  });

  it('a job that fails says how long it is waited for, and when it is given up', async () => {
    const retry = { max_attempts: 2, initial_interval: 'PT10S', backoff_strategy: 'linear' };
    const { id } = await enqueue('fails', { retry: { ...retry, jitter: false } });
    await fetched('fails');
    expect((await nack(id)).body).toMatchObject({
      ...{ state: 'retryable', attempt: 1, max_attempts: 2, retry_delay_ms: 10_000 },
    });
    expect((await ojs('GET', `/jobs/${id}`)).body).toMatchObject({
      job: {
        state: 'retryable',
        errors: [{ attempt: 1, occurred_at: expect.any(String) as string }],
      },
    });
    const last = await enqueue('fails', { retry: { max_attempts: 1 } });
    await fetched('fails');
    expect((await nack(last.id)).body).toMatchObject({ state: 'discarded', attempt: 1 });
  });

  it('a job that is given back is had by the next one, and nothing is counted', async () => {
    const first = await enqueue('back');
    await enqueue('back');
    await fetched('back');
    expect((await nack(first.id, { requeue: true })).body).toMatchObject({ state: 'available' });
    expect((await ojs('GET', `/jobs/${first.id}`)).body).toMatchObject({ job: { attempt: 0 } });
    expect(await fetched('back')).toMatchObject([{ id: first.id, attempt: 1 }]);
  });

  it('a limit of the queue counts on all servers, and nobody waits for it', async () => {
    const limit = { rate_limit: { max_per_second: 1 } };
    await Promise.all([1, 2, 3].map(() => enqueue('limited', limit)));
    expect(await fetched('limited')).toHaveLength(1);
    expect(await fetched('limited', { wait_ms: 60_000 }, 1)).toEqual([]);
  });
});

describe('a heartbeat', () => {
  const facts = { hostname: 'box', pid: 7, queues: ['beats'], concurrency: 10, labels: [] };
  it.each<[string, (id: string) => object]>([
    [
      'of JavaScript and Go',
      (id) => ({ state: 'running', active_jobs: 1, active_job_ids: [id], ...facts }),
    ],
    ['of Java and Rust', (id) => ({ active_jobs: [id] })],
    ['of Python', (id) => ({ active_jobs: [id], state: 'running', ...facts })],
    ['for one job', (id) => ({ job_id: id, visibility_timeout: 60 })],
  ])('in the shape %s keeps the job', async (_title, shape) => {
    const { id } = await enqueue('beats');
    await fetched('beats');
    const beat = await ojs('POST', '/workers/heartbeat', { worker_id: 'w1', ...shape(id) });
    expect(beat).toMatchObject({ status: 200, body: { state: 'running', jobs_extended: [id] } });
    await ojs('POST', '/workers/ack', { job_id: id, worker_id: 'w1' });
  });

  it('keeps what was fetched without a name, for the first one that says one', async () => {
    const { id } = await enqueue('ruby');
    const fetch = { queues: ['ruby'], batch_size: 5 };
    const { body } = await ojs<Fetched>('POST', '/workers/fetch', fetch);
    expect(body.jobs).toMatchObject([{ id }]);
    const beat = (worker: string) =>
      ojs('POST', '/workers/heartbeat', { worker_id: worker, active_jobs: [id] });
    expect((await beat('r1')).body).toMatchObject({ jobs_extended: [id] });
    expect((await beat('r2')).body).toMatchObject({ jobs_extended: [] });
  });

  it('hears what people want of the worker', async () => {
    const beat = () => ojs('POST', '/workers/heartbeat', { worker_id: 'told', ...facts });
    expect((await beat()).body).toMatchObject({ state: 'running' });
    const client = createClient({ store });
    expect(await client.workers(Date.now())).toContainEqual(
      expect.objectContaining({ _id: 'worker:told', alive: true, hostname: 'box', active: 0 }),
    );
    await client.setEnabled('worker:told', false, 'DEFAULT');
    expect((await beat()).body).toMatchObject({ state: 'quiet' });
    await client.tellWorker('worker:told', 'terminate');
    expect((await beat()).body).toMatchObject({ state: 'terminate' });
    await client.setEnabled('worker:told', true, 'DEFAULT');
    expect((await beat()).body).toMatchObject({ state: 'running' });
    await expect(client.tellWorker('worker:nobody', 'quiet')).rejects.toThrow('worker:nobody');
  });
});

describe('what was sent', () => {
  it.each<[string, object, number, object]>([
    [
      'with a policy that cannot be',
      { retry: { max_attempts: -1 } },
      422,
      { type: 'validation_error' },
    ],
    [
      'with a factor below one',
      { retry: { backoff_coefficient: 0.5 } },
      422,
      { type: 'validation_error' },
    ],
    ['with a priority out of range', { priority: 101 }, 400, { code: 'invalid_request' }],
  ])('%s is refused', async (_title, options, status, error) => {
    const body = { type: 'work.do', args: [], options };
    expect(await ojs('POST', '/jobs', body)).toMatchObject({ status, body: { error } });
  });

  it('without a body is no payload', async () => {
    expect(await ojs('POST', '/jobs')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_payload' } },
    });
  });

  it('comes back as it was given', async () => {
    const options = { queue: 'times', scheduled_at: '2099-12-31T23:59:59Z', expires_at: '+PT2H' };
    const { scheduled_at: at, expires_at: until } = await enqueue('times', options);
    expect(at).toBe('2099-12-31T23:59:59Z');
    expect(until).toMatch(/^\d{4}-.*Z$/);
  });
});

describe('workflows', () => {
  it('are made, followed step by step, and cancelled', async () => {
    const step = { type: 'work.do', args: [], options: { queue: 'chain' } };
    const made = await ojs<{ id: string; workflow: object }>('POST', '/workflows', {
      ...{ type: 'chain', name: 'report', steps: [step, step, step] },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { state: 'running', workflow: { name: 'report', steps_total: 3, steps_completed: 0 } },
    });
    const [first] = await fetched('chain');
    expect(first).toMatchObject({ workflow_id: made.body.id, parent_results: [] });
    await ojs('POST', '/workers/ack', { job_id: first?.id, result: { n: 1 } });
    const [second] = await fetched('chain');
    expect(second).toMatchObject({ parent_results: [{ n: 1 }], attempt: 1, max_attempts: 3 });
    expect((await ojs('GET', `/jobs/${second?.id}`)).body).toMatchObject({
      job: { state: 'active' },
    });
    expect((await ojs('DELETE', `/jobs/${second?.id}`)).status).toBe(422);
    const end = await ojs('DELETE', `/workflows/${made.body.id}`);
    expect(end).toMatchObject({ status: 200, body: { workflow: { state: 'cancelled' } } });
    expect((await ojs('DELETE', `/workflows/${made.body.id}`)).status).toBe(409);
    expect((await ojs('POST', '/workers/ack', { job_id: second?.id })).status).toBe(409);
    expect(await fetched('chain')).toEqual([]);
    expect((await ojs('GET', '/workflows/nix')).status).toBe(404);
  });

  it('of a batch call back beside each other', async () => {
    const job = (queue: string) => ({
      ...{ type: 'work.do', args: [], options: { queue, retry: { max_attempts: 1 } } },
    });
    await ojs('POST', '/workflows', {
      ...{ type: 'batch', jobs: [job('batch')] },
      callbacks: { on_failure: job('failure'), on_complete: job('complete') },
    });
    const [one] = await fetched('batch');
    await nack(String(one?.id));
    expect(await fetched('complete')).toHaveLength(1);
    expect(await fetched('failure')).toHaveLength(1);
  });
});

describe('cron jobs', () => {
  it('are registered in either form, listed and removed', async () => {
    const template = { type: 'work.do', args: [1] };
    const bySpec = { name: 'a', expression: '*/5 * * * *', job_template: template };
    const byBinding = { name: 'b', cron: '@daily', timezone: 'Asia/Tokyo', ...template };
    expect(await ojs('POST', '/cron', bySpec)).toMatchObject({
      status: 201,
      body: {
        cron: {
          name: 'a',
          overlap_policy: 'skip',
          enabled: true,
          created_at: expect.any(String) as string,
        },
        cron_job: {
          cron: '*/5 * * * *',
          next_run_at: expect.any(String) as string,
          status: 'active',
        },
      },
    });
    expect((await ojs('POST', '/cron', byBinding)).body).toMatchObject({
      cron: { timezone: 'Asia/Tokyo', next_run_at: expect.stringContaining('T15:00:00') as string },
    });
    expect(await ojs('POST', '/cron', bySpec)).toMatchObject({
      status: 409,
      body: { error: { code: 'duplicate' } },
    });
    expect((await ojs('GET', '/cron')).body).toMatchObject({
      crons: [{ name: 'a' }, { name: 'b' }],
      pagination: { total: 2 },
    });
    expect((await ojs('GET', '/cron/b')).body).toMatchObject({ cron_job: { args: [1] } });
    expect((await ojs('DELETE', '/cron/a')).body).toMatchObject({
      deleted: true,
      cron: { name: 'a' },
    });
    expect((await ojs('GET', '/cron/a')).status).toBe(404);
    expect(await createClient({ store }).find('flow', 'ojs-cron:a', 'DEFAULT')).toEqual([]);
  });

  it.each([['not a valid cron'], ['0 0 0 0 0 0 0'], ['99 25 32 13 8'], ['@sometimes']])(
    'of "%s" are refused',
    async (expression) => {
      const template = { type: 'work.do', args: [] };
      const body = { name: 'wrong', expression, job_template: template };
      expect((await ojs('POST', '/cron', body)).status).toBe(400);
    },
  );
});

it('events are those of the jobs, oldest first, page by page', async () => {
  const { id } = await enqueue('told');
  await fetched('told');
  await ojs('POST', '/workers/ack', { job_id: id, worker_id: 'w1', result: 2 });
  type Events = { events: readonly { id: string; type: string; data: object }[]; cursor: string };
  const { body } = await ojs<Events>('GET', '/events?queues=told&limit=2');
  expect(body.events.map(({ type }) => type)).toEqual(['job.enqueued', 'job.started']);
  expect(body).toMatchObject({ has_more: true });
  const rest = await ojs<Events>('GET', `/events?queues=told&after=${body.cursor}`);
  expect(rest.body.events).toMatchObject([
    { type: 'job.completed', subject: id, data: { attempt: 1, result: 2, queue: 'told' } },
  ]);
  const none = await ojs('GET', '/events?queues=told&types=job.failed');
  expect(none.body).toMatchObject({ events: [], has_more: false });
});
