import { defineConfig } from 'vitest/config';

const shared = {
  environment: 'node' as const,
  // Nothing is kept between two tests: they may share what they load.
  isolate: false,
  restoreMocks: true,
  // Against hanging only: what is slow on a busy machine is no fault.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
};

/**
 * Three groups: `decide` is pure and carries the coverage gate, `unit` needs no server,
 * `store` talks to the embedded server that its global set-up starts, or to `COUCH_URL`.
 */
export default defineConfig({
  test: {
    maxWorkers: 4,
    coverage: {
      provider: 'v8',
      include: ['src/decide/**/*.ts'],
      thresholds: { 100: true },
    },
    projects: [
      {
        test: {
          ...shared,
          name: 'decide',
          setupFiles: ['test/support/properties.ts'],
          include: ['test/decide/**/*.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'unit',
          setupFiles: ['test/support/properties.ts'],
          include: [
            'test/{model,picture,plugin,secrets,store,client,engine,cli,http,pages,embedded,schedules}/**/*.unit.test.ts',
            'test/*.test.ts',
            'test/plugins/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...shared,
          name: 'store',
          include: [
            'test/{store,client,engine,cli,http,pages,embedded,conformance,chaos}/**/*.test.ts',
          ],
          exclude: ['**/*.unit.test.ts'],
          globalSetup: ['test/support/couch-server.ts'],
          setupFiles: ['test/support/each-file.ts'],
        },
      },
    ],
  },
});
