import { describe, expect, it } from 'vitest';
import { createRateLines } from '../../../src/engine/locks/rate-lines.js';
import { beginAll, type RateRun } from './rate-world.js';

const usual: RateRun = {
  ...{ seed: 1, engines: 8, jobs: 40, limit: 5, perMs: 1_000 },
  ...{ skewMs: 0, nodes: 1, kills: 0 },
};

/** How close those come that a window must hold apart, and how far apart they are at most. */
function spread(begun: readonly number[], limit: number): readonly [least: number, most: number] {
  const gaps = begun.slice(limit).map((at, i) => at - (begun[i] ?? 0));
  return [Math.min(...gaps), Math.max(...gaps)];
}

describe('a rate limit under eight engines', () => {
  it.each([
    ['whose clocks agree', {}],
    ['that are killed at random', { kills: 10 }],
    ['with a limit of one', { limit: 1, jobs: 15, kills: 5 }],
    ['with a short window', { perMs: 200, limit: 3 }],
    ['whose clocks are 2 s apart', { skewMs: 2_000 }],
    ['whose clocks are 2 s apart, and that are killed', { skewMs: 2_000, kills: 10 }],
    ['with three copies', { nodes: 3, kills: 5 }],
    ['with three copies and clocks 2 s apart', { nodes: 3, kills: 5, skewMs: 2_000 }],
  ])(
    'R12, R13, R14: never lets more begin in a window, and leaves no place empty, %s',
    async (_title, more) => {
      for (const seed of 'nodes' in more ? [3, 4] : [2]) {
        const run = { ...usual, ...more, seed };
        const begun = await beginAll(run);
        const [least, most] = spread(begun, run.limit);
        expect([seed, begun.length, least >= run.perMs]).toEqual([seed, run.jobs, true]);
        // An engine that has just started may not know by its own clock when a grant was taken.
        const allowedMs = run.perMs + 1_000 + (run.kills > 0 || run.skewMs > 0 ? 2_000 : 0);
        expect([seed, most <= allowedMs, most]).toEqual([seed, true, most]);
      }
    },
  );
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
