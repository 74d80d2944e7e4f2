import { bulkSender } from '../src/store/batch.js';
import { openStore, type Store } from '../src/store/store.js';
import type { NewDocument } from '../src/store/writer.js';
import { preciseNow, type Bench } from './bench.js';
import { startEngines, type Engines } from './engines.js';
import { percentile } from './figure.js';
import { definitions, newJobs, storeAll } from './project.js';
import { documentsOf, rawChain } from './raw.js';

const steps = 3;
const warmUp = 20;

/**
 * How long a lone job takes from its submit to its stored end, and how long the same revisions take
 * when nothing but requests writes them: into a database without a design document (`raw`), and into
 * one with ours, which validates them. All alternate, so that they see the same machine.
 */
export async function latency({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('project');
  const plain = await server.database('plain');
  const ruled = await server.database('project');
  await storeAll(connection, definitions(steps));
  const { slots, profile, latencyJobs } = options;
  const engines = await startEngines({ connection, size: 1, slots, profile });
  const store = openStore(connection);
  const raw = rawChain(bulkSender(plain));
  const validated = rawChain(bulkSender(ruled));
  for (let n = 0; n < warmUp; n += 1) await runOne(store, engines);
  const revisions = await revisionsOfOne(store, engines);

  const jobMs: number[] = [];
  const rawMs: number[] = [];
  const validatedMs: number[] = [];
  for (let n = 0; n < latencyJobs; n += 1) {
    jobMs.push((await runOne(store, engines)).ms);
    rawMs.push(await raw(revisions));
    validatedMs.push(await validated(revisions));
  }
  await engines.stop();
  await store.close();
  await server.remove(connection);
  await server.remove(plain);
  await server.remove(ruled);

  const conditions = { engines: 1, jobs: latencyJobs, writes: revisions.length };
  for (const share of [0.5, 0.99]) {
    const name = `p${share * 100}`;
    const job = percentile(jobMs, share);
    say({ figure: `submit to complete ${name}`, value: job, unit: 'ms', ...conditions });
    for (const [kind, all] of [
      ['raw', rawMs],
      ['validated', validatedMs],
    ] as const) {
      const ms = percentile(all, share);
      say({ figure: `${kind} writes ${name}`, value: ms, unit: 'ms', ...conditions });
      say({ figure: `ratio to ${kind} writes ${name}`, value: job / ms, unit: '', ...conditions });
    }
  }
}

type Ran = { readonly job: NewDocument; readonly ms: number };

async function runOne(store: Store, engines: Engines): Promise<Ran> {
  const [job] = newJobs(1, steps) as [NewDocument];
  const ended = engines.ends(1);
  const began = preciseNow();
  await store.write(job);
  return { job, ms: (await ended) - began };
}

/** All revisions of one such job, from the submitted one to the last. */
async function revisionsOfOne(store: Store, engines: Engines): Promise<readonly NewDocument[]> {
  await engines.counts(true);
  const { job } = await runOne(store, engines);
  const [counts] = await engines.counts(false);
  const sent = (counts?.bodies ?? []).flatMap(documentsOf);
  return [job, ...sent.filter(({ _id }) => _id === job._id)];
}
