import { describe, expect, it } from 'vitest';
import { mostFirst } from '../../src/decide/compete/ranks.js';
import { gateSeed } from '../support/properties.js';
import { usualOptions, type Options } from './options.js';
import { simulateInstallation } from './run.js';

const small: Options = {
  ...usualOptions,
  engines: 20,
  rate: 100,
  seconds: 2,
  stepMs: 300,
  seed: gateSeed,
};

/** One renewal, one look for the dead, and all engines that may look at a job, one after the other. */
const takeOverMs = (leaseMs: number): number => leaseMs + 1_000 + mostFirst * 200 + 500;

describe('a simulated installation', () => {
  it('ends each job once, and takes over what the dead had in hand', async () => {
    const it = await simulateInstallation(small);
    expect(it.wrong).toEqual([]);
    expect([it.jobs, it.ended, it.died]).toEqual([200, 200, 2]);
    expect(it.takenOver.max).toBeLessThan(takeOverMs(small.leaseMs));
    expect(it.perEngineAndSecond.lines * small.seconds).toBeLessThanOrEqual(
      200 * it.revisionsPerJob + (small.engines * small.seconds * 1_000) / small.renewMs + 40,
    );
    expect(it.documentsReadPerJob).toBeLessThan(2 * mostFirst);
  });

  it('reads no more of a job with five times the engines', async () => {
    const calm = { ...small, dead: 0, rate: 50 };
    const few = await simulateInstallation(calm);
    const many = await simulateInstallation({ ...calm, engines: 100 });
    expect([...few.wrong, ...many.wrong]).toEqual([]);
    expect(many.documentsReadPerJob).toBeLessThan(1.3 * few.documentsReadPerJob);
    expect(many.perEngineAndSecond.leasesRead).toBeLessThan(many.perEngineAndSecond.leaseLines / 4);
  });

  it('I9: lets no job wait for ever when there are too few slots', async () => {
    const it = await simulateInstallation({ ...small, engines: 10, slots: 2, dead: 0 });
    expect(it.wrong).toEqual([]);
    expect(it.ended).toBe(200);
  });
});
