import { defineConfig } from 'vitest/config';

// What tests draw by chance is new in each run, and the same again for the same seed.
process.env['TWS_SIMULATE_SEED'] ??= String(1 + Math.floor(Math.random() * 1e9));
process.stderr.write(`Seed of this run: TWS_SIMULATE_SEED=${process.env['TWS_SIMULATE_SEED']}\n`);

const shared = {
  environment: 'node' as const,
  // Nothing is kept between two tests: they may share what they load.
  isolate: false,
  // Tests make much that is gone at once: a tenth less work for the garbage collector.
  execArgv: ['--max-semi-space-size=64'],
  restoreMocks: true,
  // Against hanging only: what is slow on a busy machine is no fault.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 240_000, interval: 20 } },
};

/** Tests that talk to the embedded server which their global set-up starts, or to `COUCH_URL`. */
const withServer = {
  ...shared,
  globalSetup: ['test/support/couch-server.ts'],
  setupFiles: ['test/support/each-file.ts'],
};

const units = ['**/*.unit.test.ts'];
/** Random flows, jobs and schedules of faults, which take their time and cover by chance. */
const simulators = [
  'test/{decide,scale,schedules}/*.simulator.test.ts',
  'test/decide/simulator.test.ts',
];
/** Units that start programs, exhaust the memory of their own, or read as much as there may be. */
const longUnits = [
  'test/cli/{completion,executable}.unit.test.ts',
  'test/plugin/{isolate,run,stop-notice}.unit.test.ts',
  'test/store/read-json.unit.test.ts',
];
/** Whole engines that die, leases that end, outages, documents as large as they may be. */
const longEngine = [
  'test/replicas/replicas.test.ts',
  'test/engine/attempts/{attempts,isolation,stopped-attempts}.test.ts',
  'test/engine/children/map-slices.test.ts',
  'test/engine/events/{notify,notify-kill,system-events}.test.ts',
  'test/engine/locks/{locks,max-running}.test.ts',
  'test/engine/loop/{batch-kill,big-jobs,hostile-corpus,large-documents,malformed,samples}.test.ts',
  'test/engine/peers/{names,outage,processes,recovery}.test.ts',
  'test/engine/waiting/{fair-share,timers-beside-work}.test.ts',
  'test/engine/watch/{blocked-engines,blocked-process,watchdog}.test.ts',
];

/** Thousands of jobs. */
const longClient = ['test/client/search.test.ts'];

/**
 * Five groups: `decide` is pure and carries the coverage gate, `simulators` runs random jobs through
 * it, `unit` needs no server, `store` talks to one. `long` is the real thing, which takes its time:
 * programs as processes, pages in a browser, the whole API, the whole protocol of CouchDB. `npm test`
 * runs all five, and so does continuous integration; `npm run check`, the gate of every change, leaves
 * `simulators` and `long` out.
 */
export default defineConfig({
  test: {
    maxWorkers: 4,
    reporters: ['default', './test/support/skipped-reporter.ts'],
    coverage: {
      provider: 'v8',
      include: ['src/{decide,reading,structures,replicas/resolve}/**/*.ts'],
      thresholds: { 100: true },
    },
    projects: [
      {
        test: {
          ...shared,
          name: 'decide',
          setupFiles: ['test/support/properties.ts'],
          include: [
            'test/{decide,model,picture,reading,replicas/resolve,structures,validate}/**/*.test.ts',
          ],
          exclude: simulators,
        },
      },
      {
        test: {
          ...shared,
          name: 'simulators',
          setupFiles: ['test/support/properties.ts'],
          include: simulators,
        },
      },
      {
        test: {
          ...shared,
          name: 'unit',
          setupFiles: ['test/support/properties.ts'],
          include: [
            'test/{clock,config,memory,testing,plugin,evaluate,secrets,store,client,engine,replicas,cli,docs,http,pages,embedded,node-workflow}/**/*.unit.test.ts',
            'test/*.test.ts',
            'test/plugins/**/*.test.ts',
          ],
          exclude: longUnits,
        },
      },
      {
        test: {
          ...withServer,
          name: 'store',
          include: [
            'test/{store,client,engine,testing,sensitive}/**/*.test.ts',
            'test/replicas/*.test.ts',
          ],
          exclude: [...units, ...longEngine, ...longClient],
        },
      },
      {
        test: {
          ...withServer,
          name: 'long',
          include: [
            'test/{cli,docs,http,pages,embedded,conformance,chaos}/!(*.unit).test.ts',
            ...longEngine,
            ...longClient,
            ...longUnits,
          ],
        },
      },
    ],
  },
});
