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
const producers = 2;
const warmUp = 300;
const task = { _id: 'task:ojs', type: 'task', name: 'ojs', plugin: 'worker' };
/** Jobs of one enqueue, and of one fetch: as plain clients ask, and as those with several slots. */
const shapes = [
  { enqueued: 1, fetched: 1 },
  { enqueued: 100, fetched: 10 },
];

/**
 * Jobs of the Open Job Spec from enqueue to ack, by requests to an API server that is a process of its own:
 * two producers and ten workers at the same time, with an engine in that process and without.
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
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
    await rm(cwd, { recursive: true, force: true });
  };
  try {
    const pool = new Pool(await addressOf(child), { connections: producers + workers });
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
type Asked = Readonly<Record<'enqueue' | 'fetch' | 'ack', readonly number[]>>;
type Ran = { readonly ms: number; readonly asked: Asked };

/** From before the first enqueue to the last ack. A fetch that found nothing is not counted. */
async function run(pool: Pool, jobs: number, { enqueued, fetched }: Shape): Promise<Ran> {
  const asked = { enqueue: [] as number[], fetch: [] as number[], ack: [] as number[] };
  const timed = async (what: keyof Asked, path: string, body: unknown): Promise<unknown> => {
    const began = performance.now();
    const answer = await ask(pool, path, body);
    const isEmpty = what === 'fetch' && (answer as Fetched).jobs.length === 0;
    if (!isEmpty) asked[what].push(performance.now() - began);
    return answer;
  };
  const done = new Set<string>();
  let made = 0;
  let lastAck = 0;
  const produce = async (): Promise<void> => {
    for (;;) {
      const count = Math.min(enqueued, jobs - made);
      if (count <= 0) return;
      made += count;
      const orders = Array.from({ length: count }, () => ({ type: 'bench.noop', args: ['ada'] }));
      if (enqueued === 1) await timed('enqueue', '/v1/jobs', orders[0]);
      else await timed('enqueue', '/v1/jobs/batch', { jobs: orders });
    }
  };
  const work = async (name: string): Promise<void> => {
    while (done.size < jobs) {
      const wanted = { queues: ['default'], worker_id: name, count: fetched };
      const { jobs: got } = (await timed('fetch', '/v1/workers/fetch', wanted)) as Fetched;
      for (const { id } of got) {
        await timed('ack', '/v1/workers/ack', { job_id: id, worker_id: name, result: {} });
        if (done.has(id)) throw new Error(`The job ${id} was given out twice.`);
        done.add(id);
        lastAck = performance.now();
      }
    }
  };
  const began = performance.now();
  const names = Array.from({ length: workers }, (_, i) => `worker-${i}`);
  await Promise.all([...Array.from({ length: producers }, produce), ...names.map(work)]);
  // Workers that find nothing wait for a while: that is no part of it.
  return { ms: lastAck - began, asked };
}

type Fetched = { readonly jobs: readonly { readonly id: string }[] };

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
