import { describe, expect, it } from 'vitest';
import { freeOf } from '../../../src/decide/compete/slot-share.js';

const need = (used: number, waits = false) => ({ used, waits });

describe('V1, V2: slots that engines share', () => {
  it.each([
    ['are all for one that is alone', 10, need(3), [], 7],
    ['are for one while nobody else wants them', 10, need(8), [need(0)], 2],
    ['are for one that has more than its part, when no job waits', 10, need(6), [need(2)], 2],
    ['are kept for one that has less and waits', 10, need(9), [need(0, true)], 0],
    ['are for one that has less than its part', 10, need(2), [need(7, true)], 1],
    ['are not kept beyond its part', 10, need(4, true), [need(5, true)], 1],
    ['come to one each when there are fewer than engines', 1, need(1), [need(0, true)], 0],
    ['come in turn when there are fewer than engines', 1, need(0), [need(0, true)], 1],
    ['are never fewer than none', 2, need(2), [need(1)], 0],
  ])('%s', (_title, slots, own, others, free) => {
    expect(freeOf(slots, own, others)).toBe(free);
  });
});
