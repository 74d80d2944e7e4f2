import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestEngine, type TestedJob } from '../../../src/testing/index.js';
import { flow, job } from '../../support/documents.js';

const second = 1_000;

async function engineWith(nodes: readonly unknown[], engines = 1) {
  const engine = await createTestEngine({
    documents: [flow('f', nodes, { timeout: 0 })],
    engines,
  });
  onTestFinished(engine.close);
  let last = 0;
  return {
    ...engine,
    /** Announces an event of its own; `more`: its key, data or time to live. */
    announce: (more: object = {}) =>
      engine.put({ _id: `e${(last += 1)}`, type: 'event', event: 'paid', ...more }),
  };
}

const taken = ({ steps = [] }: TestedJob) => steps.flatMap((step) => step['event_id'] ?? []);

describe('a wait for an event', () => {
  // Shows X-14.
  it('takes one that was announced before it while that lives, and none after its life', async () => {
    const engine = await engineWith([{ wait: { event: 'paid' } }]);
    await engine.announce({ ttl: 'PT10S', data: 1 });
    await engine.pass(9 * second);
    const early = await engine.submit(job('f'));
    expect((await engine.ended(early)).steps).toMatchObject([{ event_id: 'e1', result: 1 }]);
    await engine.pass(2 * second);
    const late = await engine.submit(job('f'));
    await engine.pass(60 * second);
    expect(await engine.get(late)).toMatchObject({ state: 'wait-0' });
    await engine.announce({ ttl: 'PT10S', data: 2 });
    expect((await engine.ended(late)).steps).toMatchObject([{ event_id: 'e2', result: 2 }]);
  });

  // Shows X-14.
  it('takes only one that its match accepts, whenever that comes', async () => {
    const match = 'event.data.sum > params.least and event.data.order = job.params.order';
    const node = { wait: { event: 'paid', match }, params: { least: 10 } };
    const engine = await engineWith([node]);
    await engine.announce({ data: { order: 7, sum: 5 } });
    const id = await engine.submit(job('f', { params: { order: 7 } }));
    await engine.announce({ data: { order: 8, sum: 50 } });
    await engine.announce({ data: { order: 7, sum: 11 } });
    const ended = await engine.ended(id);
    expect(ended.steps).toMatchObject([{ event_id: 'e3', result: { order: 7, sum: 11 } }]);
  });

  it('tells a match that fails once, and takes the next event', async () => {
    const match = 'event.data.no = 1 ? true : $error("broken")';
    const engine = await engineWith([{ wait: { event: 'paid', match } }]);
    const id = await engine.submit(job('f'));
    await engine.announce({ data: {} });
    await engine.announce({ data: {} });
    await engine.pass(second);
    expect(await engine.get(id)).toMatchObject({
      state: 'wait-0',
      problems: [
        { message: expect.stringContaining('cannot be evaluated for event e1: broken') as string },
      ],
    });
    await engine.announce({ data: { no: 1 } });
    expect(taken(await engine.ended(id))).toEqual(['e3']);
  });

  // Shows X-14.
  it('is one of a group where it stands in a parallel that one of them ends', async () => {
    const group = {
      parallel: [
        { wait: { event: 'paid' } },
        { wait: { signal: 'skip' } },
        { wait: { event: 'free' } },
      ],
      join: 'any',
      on_fail: 'cancel_rest',
    };
    const engine = await engineWith([group]);
    const id = await engine.submit(job('f'));
    await engine.signal(id, 'skip', { by: 'ann' });
    const { steps = [] } = await engine.ended(id);
    expect(steps.map(({ state }) => state)).toEqual(['$$cancelled', '$$complete', '$$cancelled']);
  });
});

describe('events that come at any time, while engines die', () => {
  const rounds = 4;
  const nodes = Array.from({ length: rounds }, () => ({
    wait: { event: 'paid', match: 'event.data.good' },
  }));

  // Shows X-14.
  it.each([1, 2, 3, 4, 5, 6])(
    'N15, N16: each is taken once, in order, while it lives (seed %i)',
    async (seed) => {
      let state = seed * 7_919;
      const draw = (most: number): number => (state = (state * 16_807) % 2_147_483_647) % most;
      const engine = await engineWith(nodes, 2);
      const said = new Map<
        string,
        { readonly from: number; readonly ttl: number; readonly good: boolean }
      >();
      let id: string | undefined;
      for (let n = 1; n <= 14; n += 1) {
        if (n === 4) id = await engine.submit(job('f'));
        if (n % 5 === 0) {
          await engine.kill();
          await engine.start();
        }
        const good = draw(3) > 0;
        const ttl = (2 + draw(20)) * second;
        said.set(`e${n}`, { from: engine.now(), ttl, good });
        await engine.announce({ data: { good }, ttl });
        await engine.pass(draw(6) * second);
      }
      for (let n = 15; n <= 14 + rounds; n += 1) {
        said.set(`e${n}`, { from: engine.now(), ttl: 0, good: true });
        await engine.announce({ data: { good: true } });
      }
      const ended = await engine.ended(String(id));
      const order = taken(ended).map(String);
      expect(order).toHaveLength(rounds);
      expect(new Set(order).size).toBe(rounds);
      for (const {
        event_id: one,
        accepted = 0,
        end = 0,
      } of ended.steps as unknown as readonly Taken[]) {
        const { from, ttl, good } = said.get(one) ?? { from: 0, ttl: 0, good: false };
        expect(good).toBe(true);
        expect(end).toBeLessThanOrEqual(from + ttl + second);
        // None that lived during the whole wait was passed over for it.
        const older = [...said].filter(
          ([other, { from: at, ttl: its, good: fits }]) =>
            fits && at < from && at + its > end + second && !order.includes(other),
        );
        expect([one, accepted, older]).toEqual([one, accepted, []]);
      }
    },
  );

  type Taken = { readonly event_id: string; readonly accepted?: number; readonly end?: number };
});
