import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../src/store/store.js';
import type { Connection } from '../src/store/connection.js';
import { preciseNow, type Bench } from './bench.js';
import type { Counts } from './engine-messages.js';
import { startEngines, type Engines } from './engines.js';
import { sum } from './figure.js';
import { definitions, newJobs, storeAll } from './project.js';
import { runBacklog } from './throughput.js';

const steps = 3;

/** Which share of claim writes loses: of an idle system with a trickle of jobs, and of a backlog. */
export async function claims({ server, options, say }: Bench): Promise<void> {
  const { slots, profile, claimJobs, trickleJobs, trickleMs } = options;
  for (const size of options.claimEngines) {
    const connection = await server.database('project');
    await storeAll(connection, definitions(steps));
    const engines = await startEngines({ connection, size, slots, profile });
    await engines.counts(false);

    const tookMs = await trickle(engines, connection, trickleJobs, trickleMs);
    const idle = await engines.counts(false);
    const conditions = { engines: size, slots };
    say({ ...lost('trickle', idle), jobs: trickleJobs, everyMs: trickleMs, tookMs, ...conditions });

    await runBacklog(engines, connection, claimJobs);
    const busy = await engines.counts(false);
    say({ ...lost('backlog', busy), jobs: claimJobs, ...conditions });
    await engines.stop();
    await server.remove(connection);
  }
}

/** Answers how long it took until the last had ended, ms: a system that keeps up is idle in between. */
async function trickle(
  engines: Engines,
  connection: Connection,
  count: number,
  everyMs: number,
): Promise<number> {
  const store = openStore(connection);
  const ended = engines.ends(count);
  const began = preciseNow();
  for (const job of newJobs(count, steps)) {
    void store.write(job);
    await sleep(everyMs);
  }
  const tookMs = (await ended) - began;
  await store.close();
  return tookMs;
}

function lost(load: string, counts: readonly Counts[]) {
  const of = (pick: (count: Counts) => number): number => sum(counts.map(pick));
  const claimWrites = of((count) => count.claims.written);
  const claimsLost = of((count) => count.claims.lost);
  const firstWrites = of((count) => count.firstClaims.written);
  const firstLost = of((count) => count.firstClaims.lost);
  return {
    figure: `claims lost, ${load}`,
    value: claimsLost / claimWrites,
    unit: '',
    claimWrites,
    claimsLost,
    /** Of the claims of first steps alone. */
    firstStep: firstLost / firstWrites,
  };
}
