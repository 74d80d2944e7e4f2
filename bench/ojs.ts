import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { executable } from '../src/package.js';
import type { Connection } from '../src/store/connection.js';
import type { Bench } from './bench.js';
import { variablesOf } from './checkout.js';
import { percentile } from './figure.js';
import { cpuMsOf } from './processes.js';
import { storeAll } from './project.js';

const workers = 10;
const producers = 10;
const warmUp = 1_000;
const task = { _id: 'task:ojs', type: 'task', name: 'ojs', plugin: 'worker' };
/**
 * Jobs of one enqueue, and those that a worker does at a time: one after the other; ten, as the official
 * JavaScript SDK does unless it is told otherwise; and ten, enqueued in batches.
 */
const shapes = [
  { enqueued: 1, slots: 1 },
  { enqueued: 1, slots: 10 },
  { enqueued: 100, slots: 10 },
];

/**
 * Jobs of the Open Job Spec from enqueue to ack, by requests to an API server that is a process of its own:
 * ten producers and ten workers at the same time, with an engine in that process and without.
 */
export async function ojs({ server, options, say }: Bench): Promise<void> {
  for (const engines of [0, 1]) {
    const connection = await server.database('project');
    await storeAll(connection, [task]);
    const api = await startApi(connection, engines === 0 ? 'serve' : 'start', options.profile);
    try {
      for (const shape of shapes) {
        await run(api.pool, warmUp, shape);
        const before = { api: api.cpuMs(), server: server.cpuMs() };
        const jobs = options.backlog;
        const { ms, asked } = await run(api.pool, jobs, shape);
        const conditions = { jobs, workers, engines, ...shape };
        const tell = (figure: string, value: number, unit: string): void =>
          say({ figure, value, unit, ...conditions });
        tell('jobs from enqueue to ack', (1000 * jobs) / ms, '1/s');
        for (const [what, took] of Object.entries(asked))
          for (const share of [0.5, 0.99])
            tell(`${what} p${share * 100}`, percentile(took, share), 'ms');
        tell('cpu of the API per job', (api.cpuMs() - before.api) / jobs, 'ms');
        tell('cpu of the server per job', (server.cpuMs() - before.server) / jobs, 'ms');
      }
    } finally {
      await api.close();
      await server.remove(connection);
    }
  }
}

type Api = {
  readonly pool: Pool;
  readonly cpuMs: () => number;
  readonly close: () => Promise<void>;
};

/** A project whose API is served by `tws serve` or `tws start`. */
async function startApi(
  connection: Connection,
  command: 'serve' | 'start',
  profile: string | undefined,
): Promise<Api> {
  const cwd = await mkdtemp(join(tmpdir(), 'tws-bench-ojs-'));
  await writeFile(join(cwd, 'tws.json'), '{}\n');
  const probe = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`];
  const args = [...probe, executable(), command, '--http', '127.0.0.1:0'];
  const env = { ...process.env, ...variablesOf(connection), TWS_LOG_LEVEL: 'warn' };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const end = async (): Promise<void> => {
    // One that could not start has ended by itself.
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    await rm(cwd, { recursive: true, force: true });
  };
  try {
    const pool = new Pool(await addressOf(child), { connections: producers + workers * mostSlots });
    const close = () => pool.close().then(end);
    return { pool, cpuMs: () => cpuMsOf(child.pid ?? 0), close };
  } catch (error) {
    await end();
    throw error;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The API server has no output.');
  for await (const line of createInterface(child.stdout)) {
    const [, url] = /^HTTP API:\s+(\S+)\/_tws$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('The API server did not start.');
}

type Shape = (typeof shapes)[number];
const mostSlots = 10;
type Asked = Readonly<Record<'enqueue' | 'fetch' | 'ack', readonly number[]>>;
type Ran = { readonly ms: number; readonly asked: Asked };

/** From before the first enqueue to the last ack. */
async function run(pool: Pool, jobs: number, { enqueued, slots }: Shape): Promise<Ran> {
  const asked = { enqueue: [] as number[], fetch: [] as number[], ack: [] as number[] };
  /** When a job could be had: when its enqueue was answered. */
  const there = new Map<string, number>();
  const done = new Set<string>();
  let made = 0;
  let lastAck = 0;
  const produce = async (): Promise<void> => {
    for (;;) {
      const count = Math.min(enqueued, jobs - made);
      if (count <= 0) return;
      made += count;
      const orders = Array.from({ length: count }, () => ({ type: 'bench.noop', args: ['ada'] }));
      const sent = performance.now();
      const answer =
        enqueued === 1
          ? [((await ask(pool, '/v1/jobs', orders[0])) as Enqueued).job]
          : ((await ask(pool, '/v1/jobs/batch', { jobs: orders })) as Fetched).jobs;
      const now = performance.now();
      asked.enqueue.push(now - sent);
      for (const { id } of answer) there.set(id, now);
    }
  };
  /** A wait for work that is not there yet is no part of the time of a fetch. */
  const fetch = async (name: string, count: number): Promise<readonly Job[]> => {
    const sent = performance.now();
    const wanted = { queues: ['default'], worker_id: name, count };
    const { jobs: got } = (await ask(pool, '/v1/workers/fetch', wanted)) as Fetched;
    const now = performance.now();
    const first = Math.min(...got.map(({ id }) => there.get(id) ?? now));
    if (got.length > 0) asked.fetch.push(now - Math.max(sent, first));
    return got;
  };
  const ack = async (name: string, id: string): Promise<void> => {
    const sent = performance.now();
    await ask(pool, '/v1/workers/ack', { job_id: id, worker_id: name, result: {} });
    lastAck = performance.now();
    asked.ack.push(lastAck - sent);
    if (done.has(id)) throw new Error(`The job ${id} was given out twice.`);
    done.add(id);
  };
  const work = async (name: string): Promise<void> => {
    const busy = new Set<Promise<void>>();
    while (done.size + busy.size < jobs) {
      for (const { id } of await fetch(name, slots - busy.size)) {
        const one = ack(name, id).finally(() => busy.delete(one));
        busy.add(one);
      }
      if (busy.size >= slots) await Promise.race(busy);
    }
    await Promise.all(busy);
  };
  const began = performance.now();
  const names = Array.from({ length: workers }, (_, i) => `worker-${i}`);
  await Promise.all([...Array.from({ length: producers }, produce), ...names.map(work)]);
  // Workers that find nothing wait for a while: that is no part of it.
  return { ms: lastAck - began, asked };
}

type Job = { readonly id: string };
type Enqueued = { readonly job: Job };
type Fetched = { readonly jobs: readonly Job[] };

async function ask(pool: Pool, path: string, body: unknown): Promise<unknown> {
  const { statusCode, body: answer } = await pool.request({
    path: `/ojs${path}`,
    method: 'POST',
    headers: { 'content-type': 'application/openjobspec+json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode >= 300) throw new Error(`${path} answers ${statusCode}: ${text}`);
  return JSON.parse(text);
}
