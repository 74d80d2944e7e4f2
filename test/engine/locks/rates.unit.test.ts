import { describe, expect, it } from 'vitest';
import { createRateLines } from '../../../src/engine/locks/rate-lines.js';
import { minutes, runs } from '../../support/properties.js';
import { beginAll, type RateOutcome, type RateRun } from './rate-world.js';

const usual: RateRun = {
  ...{ seed: 1, engines: 8, jobs: 40, limit: 5, perMs: 1_000 },
  ...{ skewMs: 0, nodes: 1, kills: 0, slowMs: 50 },
};

/** So much longer a place may be empty for each further engine that dies while it holds it, ms. */
const furtherDeathMs = 500;

/** How close those come that a window must hold apart, ms. */
function closest({ begun }: RateOutcome, limit: number): number {
  return Math.min(...begun.slice(limit).map((at, i) => at - (begun[i] ?? 0)));
}

/** For how long a place was empty at the most while jobs waited, ms. */
function longestEmpty({ begun, deaths }: RateOutcome, { limit, perMs }: RateRun): number {
  const empty = begun.slice(limit).map((at, i) => {
    const from = (begun[i] ?? 0) + perMs;
    // A place comes free when what was taken before it can no longer be used.
    const died = deaths.filter((death) => death > from - 300 && death < at).length;
    return at - from - furtherDeathMs * Math.max(0, died - 1);
  });
  return Math.max(begun[limit - 1] ?? 0, ...empty);
}

describe('a rate limit under eight engines', () => {
  it.each([
    ['whose clocks agree', {}],
    ['that are killed at random', { kills: 10 }],
    ['with a limit of one', { limit: 1, jobs: 15, kills: 5 }],
    ['with a short window', { perMs: 200, limit: 3 }],
    ['with a long window', { perMs: 60_000, kills: 10, skewMs: 2_000 }],
    ['whose clocks are 2 s apart', { skewMs: 2_000 }],
    ['whose clocks are 2 s apart, and that are killed', { skewMs: 2_000, kills: 10 }],
    ['with three copies', { nodes: 3 }],
    ['with three copies and clocks 2 s apart', { nodes: 3, kills: 5, skewMs: 2_000 }],
    ['where writes are slow', { slowMs: 800, kills: 5 }],
    ['for jobs that are cancelled', { perMs: 10_000, limit: 1, cancelled: 30 }],
  ])(
    'R12, R13, R14: never lets more begin in a window, and leaves no place empty for more than a second, %s',
    minutes,
    async (_title, more) => {
      for (let seed = 1; seed <= runs(2).numRuns; seed += 1) {
        const run = { ...usual, ...more, seed };
        const outcome = await beginAll(run);
        expect([seed, outcome.begun.length]).toEqual([seed, run.jobs - (run.cancelled ?? 0)]);
        expect([seed, closest(outcome, run.limit) >= run.perMs]).toEqual([seed, true]);
        const emptyMs = longestEmpty(outcome, run);
        const allowedMs = 1_000 + run.slowMs - usual.slowMs;
        expect([seed, emptyMs <= allowedMs, emptyMs]).toEqual([seed, true, emptyMs]);
      }
    },
  );

  it('R14: leaves no place empty while a thousand jobs wait, of which each fifth cannot ask at its turn', async () => {
    const run = { ...usual, jobs: 1_000, engines: 3, limit: 10, absent: 20, kills: 2, most: 60 };
    const { begun, deaths } = await beginAll(run);
    expect(longestEmpty({ begun, deaths }, run)).toBeLessThanOrEqual(1_000);
  });
});

describe('the line of a rate limit', () => {
  it('R14: has no place for a job that asks for another grant only, and its former one when it asks again', () => {
    const waiting: number[] = [];
    const lines = createRateLines(
      () => 0,
      (count) => waiting.push(count),
    );
    const place = (id: string, job: string): void => {
      const request = { id, for: job, attempt: '0', of: id, limit: 1, perMs: 1_000 };
      lines.place(request, { id: job, priority: 500, begun: false });
    };
    const order = (id: string): readonly string[] => lines.inLine(id).map(({ job }) => job.id);
    for (const job of ['a', 'b']) for (const id of ['rate:1', 'rate:2']) place(id, job);
    lines.leave('a', new Set(['rate:2 a']));
    expect([order('rate:1'), order('rate:2'), waiting.at(-1)]).toEqual([['b'], ['a', 'b'], 3]);
    place('rate:1', 'a');
    expect([order('rate:1'), waiting.at(-1)]).toEqual([['a', 'b'], 4]);
  });
});
