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

const fields = {
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  engines: fc.constant(8),
  jobs: fc.integer({ min: 4, max: 14 }),
  flows: fc.array(some(2), { minLength: 1, maxLength: 3 }),
  tasks: fc.tuple(some(2), some(1)),
  kills: fc.integer({ min: 0, max: 8 }),
  slowMs: fc.constantFrom(4, 4, 150),
  lost: fc.integer({ min: 0, max: 10 }),
  nodes: fc.constant(1),
};
const permitRuns: fc.Arbitrary<PermitRun> = fc.record(fields);
const runsOfCopies: fc.Arbitrary<PermitRun> = fc.record({
  ...fields,
  engines: fc.constant(4),
  jobs: fc.integer({ min: 4, max: 8 }),
  nodes: fc.constant(3),
});

/** A run takes seconds: where one fails, hundreds of smaller ones would give no result within the time limit. */
const drawn = (count: number) => ({ ...runs(count), endOnFailure: true });

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
        drawn(3),
      );
    },
  );

  it(
    'U6, U7: never have more holders than permits with three copies that disagree, and every job ends',
    minutes,
    async () => {
      await fc.assert(
        fc.asyncProperty(runsOfCopies, async (run) => {
          const { over, open } = await runJobs(run);
          expect({ over, open }).toEqual({ over: [], open: [] });
        }),
        drawn(3),
      );
    },
  );
});
