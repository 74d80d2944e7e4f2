import { describe, expect, it } from 'vitest';
import { createParking } from '../../src/engine/parking.js';

describe('jobs that wait for a slot', () => {
  it('are called by priority, then in the order of their coming', () => {
    const parking = createParking();
    parking.forSlot('b', 500, 0);
    parking.forSlot('c', 500, 0);
    parking.forSlot('a', 1, 0);
    const called = [parking.nextForSlot(), parking.nextForSlot(), parking.nextForSlot()];
    expect(called).toEqual(['a', 'b', 'c']);
    expect(parking.nextForSlot()).toBeUndefined();
  });

  it('come first where this engine is first for them', () => {
    const parking = createParking();
    parking.forSlot('theirs', 500, 1);
    parking.forSlot('mine', 500, 0);
    expect([parking.nextForSlot(), parking.nextForSlot()]).toEqual(['mine', 'theirs']);
  });

  it('are called once, however often they were parked', () => {
    const parking = createParking();
    const ids = Array.from({ length: 700 }, (_, n) => `job-${n}`);
    for (let sweep = 0; sweep < 4; sweep += 1) ids.forEach((id) => parking.forSlot(id, 500, 0));
    const called: unknown[] = [];
    for (let id = parking.nextForSlot(); id !== undefined; id = parking.nextForSlot()) {
      called.push(id);
    }
    expect(called).toEqual(ids);
  });

  it('keep their place when they were called and got no slot', () => {
    const parking = createParking();
    parking.forSlot('a', 500, 0);
    parking.forSlot('b', 500, 0);
    expect(parking.nextForSlot()).toBe('a');
    parking.forSlot('a', 500, 0);
    expect(parking.nextForSlot()).toBe('a');
  });

  it('are not called after they left', () => {
    const parking = createParking();
    parking.forSlot('a', 500, 0);
    parking.leave('a');
    expect(parking.nextForSlot()).toBeUndefined();
  });

  it('wait in one place only', () => {
    const parking = createParking();
    parking.forSlot('a', 500, 0);
    parking.forChange('a');
    expect(parking.nextForSlot()).toBeUndefined();
    expect(parking.parked()).toEqual(['a']);
    parking.forSlot('a', 500, 0);
    expect(parking.parked()).toEqual(['a']);
    expect(parking.nextForSlot()).toBe('a');
    expect(parking.parked()).toEqual([]);
  });
});

describe('jobs that run on another engine', () => {
  it('are handed over once when it is gone', () => {
    const parking = createParking();
    parking.watch('a', ['engine:x']);
    parking.watch('b', ['engine:y']);
    expect(parking.takeOf('engine:x')).toEqual(['a']);
    expect(parking.takeOf('engine:x')).toEqual([]);
  });

  it('may have attempts on several engines, and wait for something else meanwhile', () => {
    const parking = createParking();
    parking.forSlot('a', 500, 0);
    parking.watch('a', ['engine:x', 'engine:y']);
    expect(parking.parked()).toEqual(['a']);
    expect(parking.takeOf('engine:y')).toEqual(['a']);
    expect(parking.parked()).toEqual([]);
    expect(parking.takeOf('engine:x')).toEqual([]);
    parking.watch('b', []);
    expect(parking.takeOf('engine:x')).toEqual([]);
  });

  it('are forgotten when they leave', () => {
    const parking = createParking();
    parking.watch('a', ['engine:x']);
    parking.leave('a');
    expect(parking.takeOf('engine:x')).toEqual([]);
  });
});
