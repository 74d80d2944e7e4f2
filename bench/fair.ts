import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, type Store } from '../src/store/store.js';
import { isFinalState } from '../src/model/job.js';
import type { NewDocument } from '../src/store/writer.js';
import { preciseNow, type Bench } from './bench.js';
import { startEngines, type Engines } from './engines.js';
import { percentile } from './figure.js';
import { definitions, newJobs, storeAll } from './project.js';

const width = 300;
const normal = 20;

/**
 * How long a job of one step takes beside a job with 300 runnable steps, compared with alone, and
 * what the wide job does in a second when nobody competes with it.
 */
export async function fair({ server, options, say }: Bench): Promise<void> {
  const { slots, profile } = options;
  const conditions = { engines: 1, slots, width };
  const connection = await server.database('project');
  await storeAll(connection, [...definitions(1), wide]);
  const engines = await startEngines({ connection, size: 1, slots, profile });
  const store = openStore(connection);
  await runNormal(store, engines, normal);
  const alone = await runNormal(store, engines, normal);

  const ended = engines.ends(1);
  const began = preciseNow();
  await submitWide(store, 'wide-alone');
  const seconds = ((await ended) - began) / 1_000;
  say({ figure: 'steps of a wide job alone', value: width / seconds, unit: '1/s', ...conditions });

  await submitWide(store, 'wide-beside');
  await untilBegun(store, 'wide-beside');
  const beside = await runNormal(store, engines, normal);
  // Latencies count only while there is something to compete with.
  const isOver = isFinalState((await store.get('wide-beside'))?.['state']);
  for (const share of [0.5, 0.99]) {
    const name = `p${share * 100}`;
    const ratio = percentile(beside, share) / percentile(alone, share);
    const all = { ...conditions, jobs: beside.length, isOver };
    say({ figure: `job alone ${name}`, value: percentile(alone, share), unit: 'ms', ...all });
    say({ figure: `job beside ${name}`, value: percentile(beside, share), unit: 'ms', ...all });
    say({ figure: `beside to alone ${name}`, value: ratio, unit: '', ...all });
  }
  await engines.stop();
  await store.close();
  await server.remove(connection);
}

const wide: NewDocument = {
  _id: 'flow:wide',
  ...{ type: 'flow', name: 'wide', owner: 'bench', timeout: 0 },
  tasks: [{ parallel: Array.from({ length: width }, () => 'noop') }],
};

async function submitWide(store: Store, _id: string): Promise<void> {
  await store.write({ _id, type: 'job', flow: 'wide', owner: 'bench' });
}

async function untilBegun(store: Store, id: string): Promise<void> {
  while ((await store.get(id))?.['state'] === undefined) await sleep(20);
}

/** Jobs of one step, one after the other: how long each took from its submit to its end, ms. */
async function runNormal(
  store: Store,
  engines: Engines,
  count: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const [job] = newJobs(1, 1) as [NewDocument];
    const ended = engines.ends(1);
    const began = preciseNow();
    await store.write(job);
    times.push((await ended) - began);
  }
  return times;
}
