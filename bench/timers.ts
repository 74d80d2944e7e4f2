import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEngine } from '../src/engine/engine.js';
import type { StoredDocument } from '../src/model/document.js';
import { isFinalState } from '../src/model/job.js';
import { loadPlugins } from '../src/plugin/loader.js';
import { openStore, type Store } from '../src/store/store.js';
import type { Bench } from './bench.js';
import { percentile, type Say } from './figure.js';
import { storeAll } from './project.js';

const waitMs = 400;
const rounds = 20;

/** The plugin of the step beside which the timers run: longer than any of them. */
const hold = `export default ({ signal }) => new Promise((resolve, reject) => {
  setTimeout(resolve, ${4 * waitMs});
  signal.addEventListener('abort', () => reject(signal.reason));
});`;
/** Says nothing until it is told to stop. */
const mute = `export default ({ signal }) => new Promise((_, reject) => {
  signal.addEventListener('abort', () => reject(signal.reason));
});`;
/** Has one timer run, and completes when it has fired. */
const decider = `export default ({ history }) => history.some(({ kind }) => kind === 'TimerFired')
  ? { complete: 'done' }
  : [{ start_timer: ${waitMs}, id: 'nap' }];`;
const boom = `export default () => { throw new Error('no'); };`;

type Step = { readonly path: string } & Readonly<Record<string, number>>;
type Kind = {
  readonly name: string;
  readonly tasks: unknown;
  readonly flow?: object;
  /** The path of the step that waits; default: the one beside the step that runs. */
  readonly step?: string;
  /** Keys of the job besides its flow. */
  readonly job?: () => object;
  /** The time at which it should have happened, and at which it did (epoch ms), of a final job. */
  readonly times: (job: StoredDocument, beside: readonly Step[]) => readonly [number, number];
};

const beside = (entry: unknown): unknown => [{ parallel: ['hold', entry] }];
/** From the moment that an attempt began to its end. */
const endOfAttempt: Kind['times'] = (_job, [step]) => [
  Number(step?.['start']) + waitMs,
  Number(step?.['end']),
];
const endOfWait: Kind['times'] = (_job, [step]) => [Number(step?.['until']), Number(step?.['end'])];

const kinds: readonly Kind[] = [
  { name: 'delay', tasks: beside({ delay: waitMs }), times: endOfWait },
  { name: 'wait', tasks: beside({ wait: { signal: 'x', timeout: waitMs } }), times: endOfWait },
  {
    name: 'accept',
    tasks: beside('nobody'),
    times: ({ start }, [step]) => [Number(start) + waitMs, Number(step?.['end'])],
  },
  {
    name: 'retry',
    tasks: beside({ task: 'boom', retry: { limit: 1, delay: waitMs } }),
    times: (_job, [first, next]) => [Number(first?.['due']), Number(next?.['accepted'])],
  },
  {
    name: 'hard timeout',
    tasks: ['hold'],
    flow: { timeout: waitMs, timeout_mode: 'hard' },
    times: ({ start, end }) => [Number(start) + waitMs, Number(end)],
  },
  {
    name: 'total timeout',
    tasks: beside('bounded'),
    times: (_job, [step]) => [Number(step?.['accepted']) + waitMs, Number(step?.['end'])],
  },
  { name: 'heartbeat', tasks: beside('beating'), times: endOfAttempt },
  {
    // Of a step that no engine serves: nothing else ends it.
    name: 'soft timeout',
    tasks: beside('unserved'),
    flow: { timeout: waitMs },
    times: ({ start }, [step]) => [Number(start) + waitMs, Number(step?.['end'])],
  },
  {
    name: 'expiry',
    tasks: ['unserved'],
    job: () => ({ expires: Date.now() + waitMs }),
    times: ({ expires, end }) => [Number(expires), Number(end)],
  },
  {
    name: 'decider timer',
    tasks: beside({ decider: 'decider' }),
    step: '0.parallel.1.timer.nap',
    times: endOfWait,
  },
  {
    name: 'exec_after',
    tasks: beside({ delay: 1 }),
    job: () => ({ exec_after: Date.now() + waitMs }),
    times: ({ exec_after: at }, [step]) => [Number(at), Number(step?.['start'])],
  },
];

/** How late timers of a job fire beside a step of the same job that runs, with one engine and two. */
export async function timers({ server, say }: Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tws-bench-'));
  await writeFile(join(folder, 'hold.mjs'), hold);
  await writeFile(join(folder, 'boom.mjs'), boom);
  await writeFile(join(folder, 'mute.mjs'), mute);
  await writeFile(join(folder, 'decider.mjs'), decider);
  for (const engines of [1, 2]) {
    const connection = await server.database('project');
    await storeAll(connection, definitions());
    const running = await Promise.all(
      Array.from({ length: engines }, async () =>
        startEngine({
          store: openStore(connection),
          plugins: await loadPlugins({ folders: [folder], log: () => undefined }),
          log: silent,
          cwd: folder,
          slots: 50,
        }),
      ),
    );
    const store = openStore(connection);
    await measure(store, say, engines);
    await Promise.all(running.map((engine) => engine.stop()));
    await store.close();
    await server.remove(connection);
  }
  await rm(folder, { recursive: true, force: true });
}

const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function definitions() {
  const task = (name: string, more: object = {}) => ({
    ...{ _id: `task:${name}`, type: 'task', name },
    ...more,
  });
  const flows = kinds.map(({ name, tasks, flow }) => ({
    ...{ _id: `flow:${name}`, type: 'flow', name, owner: 'bench', tasks, timeout: 0 },
    ...flow,
  }));
  const more = [
    task('nobody', { accept_timeout: waitMs }),
    task('unserved', { plugin: 'nowhere' }),
    task('bounded', { plugin: 'mute', timeout: 0, total_timeout: waitMs }),
    task('beating', { plugin: 'mute', timeout: 0, heartbeat: waitMs }),
    task('decider'),
  ];
  return [task('hold'), task('boom'), ...more, ...flows];
}

async function measure(store: Store, say: Say, engines: number): Promise<void> {
  const late = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    const jobs = await Promise.all(kinds.map((kind) => run(store, kind, round)));
    for (const [i, job] of jobs.entries()) {
      const { name, times, step: at = '0.parallel.1' } = kinds[i] as Kind;
      const steps = (job['steps'] as readonly Step[]).filter(({ path }) => path === at);
      const [due, done] = times(job, steps);
      late.set(name, [...(late.get(name) ?? []), done - due]);
    }
  }
  for (const [kind, values] of late) {
    for (const share of [0.5, 0.99]) {
      const figure = `${kind} late p${share * 100}`;
      say({ figure, value: percentile(values, share), unit: 'ms', engines, jobs: rounds });
    }
  }
}

/** Runs one job of a kind to its end. */
async function run(
  store: Store,
  { name, job: more }: Kind,
  round: number,
): Promise<StoredDocument> {
  const _id = `${name}:${round}`;
  await store.write({ _id, type: 'job', flow: name, owner: 'bench', ...more?.() });
  for (;;) {
    const job = await store.get(_id);
    if (job !== undefined && isFinalState(job['state'])) return job;
    await sleep(100);
  }
}
