import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../src/store/store.js';
import type { Connection } from '../src/store/connection.js';
import { preciseNow, type Bench } from './bench.js';
import type { Counts } from './engine-messages.js';
import { startEngines, type Engines } from './engines.js';
import { sum } from './figure.js';
import type { NewDocument } from '../src/store/writer.js';
import { definitions, flowName, newJobs, storeAll } from './project.js';
import { runBacklog } from './throughput.js';

const steps = 3;

type Load = {
  readonly name: string;
  readonly flow: string;
  /** So many jobs end for each that is stored: a child job ends, too. */
  readonly ends: number;
};

/** What many engines learn of at the same moment: a new job, the end of a child, a time that has come. */
const loads: readonly Load[] = [
  { name: 'trickle', flow: flowName(steps), ends: 1 },
  { name: 'trickle of child flows', flow: 'parent', ends: 2 },
  { name: 'trickle of delays', flow: 'delays', ends: 2 },
];

const flowOf = (name: string, tasks: unknown): NewDocument => ({
  ...{ _id: `flow:${name}`, type: 'flow', name, owner: 'bench', timeout: 0 },
  tasks,
});
const flows = [
  flowOf('parent', [{ flow: flowName(steps) }, 'noop']),
  flowOf('asleep', [{ delay: 700 }]),
  // Beside a child that runs the job does not sleep, and its times are not those of the job.
  flowOf('delays', [
    { parallel: [{ flow: 'asleep' }, { sequence: [{ delay: 400 }, 'noop'] }] },
    'noop',
  ]),
];

/** Which share of claim writes loses: of an idle system with a trickle of jobs, and of a backlog. */
export async function claims({ server, options, say }: Bench): Promise<void> {
  const { slots, profile, claimJobs, trickleJobs, trickleMs } = options;
  for (const size of options.claimEngines) {
    const connection = await server.database('project');
    await storeAll(connection, [...definitions(steps), ...flows]);
    const engines = await startEngines({ connection, size, slots, profile });
    await engines.counts(false);

    const conditions = { engines: size, slots };
    for (const load of loads) {
      const tookMs = await trickle(engines, connection, load, trickleJobs, trickleMs);
      const idle = await engines.counts(false);
      const how = { jobs: trickleJobs, everyMs: trickleMs, tookMs, ...conditions };
      say({ ...lost(load.name, idle), ...how });
    }

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
  { flow, ends }: Load,
  count: number,
  everyMs: number,
): Promise<number> {
  const store = openStore(connection);
  const ended = engines.ends(count * ends);
  const began = preciseNow();
  for (const job of newJobs(count, steps, { flow })) {
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
