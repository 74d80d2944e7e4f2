import { describe, expect, it } from 'vitest';
import { interpret } from '../../src/reading/progress.js';
import { createRoom } from '../../src/structures/progress.js';
import type { MapOver } from '../../src/structures/map-slices.js';
import { begun } from '../decide/story.js';

const node = (): MapOver => ({ structure: 'map', map: { over: 'x', do: { task: 'a' } } });
const list = (length: number): number[] => Array.from({ length }, (_, i) => i);

describe('the room for items that begin', () => {
  it.each([
    ['one map', 1, 1_000],
    ['four maps', 4, 4_000],
    ['more maps, of which each gets some', 10, 4_060],
  ])('is bounded for %s', (_title, maps, most) => {
    const room = createRoom();
    let taken = 0;
    for (const one of list(maps).map(node)) {
      for (; room.has(one); taken += 1) room.take(one);
    }
    expect(taken).toBe(most);
  });

  it('is shared by the maps in all items of another one', () => {
    const inner = { map: { over: list(100), do: 'a' } };
    const told = begun([{ map: { over: list(30), do: inner } }], { world: { freeSlots: 0 } });
    for (let i = 0; i < 40 && told.steps.length < 31; i += 1) told.go();
    const { begin, conditions } = interpret(told.liveJob, told.liveJob.tasks, 'main');
    expect({ begin: begin.length, conditions: conditions.length }).toEqual({
      begin: 1_000,
      conditions: 0,
    });
  });

  it('leaves some to a map after others that no engine serves', () => {
    const wide = { map: { over: list(1_000), do: 'b' } };
    const last = { map: { over: list(20), do: 'a' } };
    const told = begun([{ parallel: [wide, wide, wide, wide, wide, last] }], {
      world: { freeSlots: 100, plugins: ['a'] },
    });
    for (let i = 0; i < 10 && told.running.length === 0; i += 1) told.go();
    expect(told.running.length).toBeGreaterThan(0);
  });
});
