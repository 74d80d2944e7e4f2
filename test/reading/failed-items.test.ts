import { describe, expect, it } from 'vitest';
import { failureOfFlow } from '../../src/reading/failed-items.js';
import type { FailedStep } from '../../src/model/step.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { family, type End } from '../decide/family.js';
import { begun } from '../decide/story.js';

const list = [10, 20, 30, 40, 50];
const over = (more: object): WrittenNode[] => [{ map: { over: list, do: 'a', ...more } }, 'd'];

/** The items at these paths fail. */
const broken =
  (...paths: readonly string[]) =>
  (path: string): End =>
    paths.includes(path) ? { failure: 'Broken' } : { result: path };

describe('the failure of a job that failed in a map', () => {
  it.each([
    ['in one job', {}],
    ['in slices', { slice: 2 }],
  ])('says how many items failed, how many may, and which it is about: %s', (_title, how) => {
    const cases = [
      [{}, [3], '1 of 5 items failed: item 3: It is Broken.'],
      [{}, [1, 2, 4], '3 of 5 items failed: item 1: It is Broken.'],
      [{ tolerate: '20%' }, [3, 4], '2 of 5 items failed (20 % tolerated): item 3: It is Broken.'],
      [{ tolerate: 1 }, [0, 4], '2 of 5 items failed (1 tolerated): item 0: It is Broken.'],
    ] as const;
    for (const [more, items, message] of cases) {
      const told = family(over({ ...how, ...more }));
      told.endAll(broken(...items.map((i) => `0.map.${i}`)));
      expect(told.job()).toMatchObject({
        exit: 2,
        failure: { name: 'Broken', step: 'a', message },
      });
    }
  });

  it.each([
    ['in one job', {}, {}],
    ['in slices', { slice: 2 }, {}],
    ['with slices inside', {}, { slice: 1 }],
    ['in slices of slices', { slice: 2 }, { slice: 1 }],
  ])('says it of each map around the item: %s', (_title, outside, inside) => {
    const inner: WrittenNode = { map: { over: [1, 2], do: 'a', ...inside } };
    const told = family([{ map: { over: list, do: inner, ...outside } }]);
    told.endAll(broken('0.map.1.map.1', '0.map.2.map.0', '0.map.2.map.1'));
    const message = '2 of 5 items failed: item 1: 1 of 2 items failed: item 1: It is Broken.';
    expect(told.job()).toMatchObject({ failure: { message } });
  });

  it('counts no item that was only stopped because of the others', () => {
    const told = begun([{ map: { over: list, on_fail: 'cancel_rest', do: 'a' } }], {
      world: { freeSlots: 100 },
    });
    told.broke('0.map.2').stopped();
    expect(told.job).toMatchObject({
      failure: { message: '1 of 5 items failed: item 2: It is Broken.' },
    });
  });

  it('counts no item of a slice that was only stopped because of the others', () => {
    const more = { on_fail: 'cancel_rest', slice: 3, tolerate: 1 };
    const told = family([{ map: { over: list, do: 'a', ...more } }]);
    const broke = { failure: 'Broken' };
    told.end('0.map.0', broke).end('0.map.1', broke);
    expect(told.job('j:0.slice.0:1')).toMatchObject({ slice: { failed: 3, stopped: 1 } });
    expect(told.job()).toMatchObject({
      failure: { message: '2 of 5 items failed (1 tolerated): item 0: It is Broken.' },
    });
  });

  it('counts nothing when its only item was cancelled', () => {
    const told = begun([{ map: { over: [1], do: 'a' } }]);
    told.end({ kind: 'cancelled' });
    expect(told.job).toMatchObject({ exit: 130, failure: { name: 'Cancelled' } });
    expect((told.job as { failure?: { message: string } }).failure?.message).toMatch(/^item 0: /);
  });

  it('is the failure of the step itself elsewhere', () => {
    const told = begun([{ loop: { max: 2, do: 'a' } }]).broke('0.loop.0');
    expect(told.job).toMatchObject({ failure: { message: 'It is Broken.' } });
    const job = begun(['a']).liveJob;
    const failure = { name: 'X', message: 'x' };
    for (const path of ['9.map.1', '0.map.1', '9.slice.1']) {
      expect(failureOfFlow(job, { path, failure } as FailedStep)).toBe(failure);
    }
  });
});
