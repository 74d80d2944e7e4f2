import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strategies, type ConcurrencyLimit } from '../../../src/model/concurrency.js';
import { minutes, runs } from '../../support/properties.js';
import { runJobs, type PermitRun } from './permit-world.js';

/** Limits whose name says all of them: a name has one number. */
const limits = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.boolean(), fc.constantFrom(...strategies), fc.boolean())
  .map(([limit, isKeyed, strategy, isNamed]): ConcurrencyLimit => {
    const name = `${strategy}-${limit}${isKeyed ? '-k' : ''}`;
    const key = isKeyed ? { key: 'params.k' } : {};
    return { limit, strategy, ...key, ...(isNamed ? { name } : {}) };
  });
const some = (most: number) => fc.array(limits, { maxLength: most });

const permitRuns: fc.Arbitrary<PermitRun> = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  engines: fc.constant(8),
  jobs: fc.integer({ min: 4, max: 14 }),
  flows: fc.array(some(2), { minLength: 1, maxLength: 3 }),
  tasks: fc.tuple(some(2), some(1)),
  kills: fc.integer({ min: 0, max: 8 }),
  slowMs: fc.constantFrom(4, 4, 150),
  lost: fc.integer({ min: 0, max: 10 }),
  nodes: fc.constant(1),
});

describe('limits by key with 8 engines that are killed by chance', () => {
  it(
    'U6, U7, L5, L7, L8, L9: never have more holders than permits, no permit stays free, every job ends',
    minutes,
    async () => {
      await fc.assert(
        fc.asyncProperty(permitRuns, async (run) => {
          const { over, emptyMs, open } = await runJobs(run);
          expect({ over, open }).toEqual({ over: [], open: [] });
          // Where each question takes long, so does what depends on several.
          if (run.slowMs < 10) expect(emptyMs).toBeLessThanOrEqual(1_000);
        }),
        runs(3),
      );
    },
  );

  it(
    'U6, U7: never have more holders than permits with three copies that disagree, and every job ends',
    minutes,
    async () => {
      for (let seed = 1; seed <= runs(2).numRuns; seed += 1) {
        const flows = [[{ limit: 1 + (seed % 3), strategy: 'queue' } as const]];
        const tasks = [[], [{ limit: 2, key: 'params.k' }]] as const;
        const few = { engines: 4, jobs: 8, kills: seed % 4, slowMs: 4, lost: 0, nodes: 3 };
        const { over, open } = await runJobs({ seed, flows, tasks, ...few });
        expect({ over, open }).toEqual({ over: [], open: [] });
      }
    },
  );
});
