import { describe, expect, it } from 'vitest';
import { createParking } from '../../src/engine/parking.js';

const line = (id: string, priority = 500, begun = false) => ({ id, priority, begun });

describe('jobs that wait for a slot', () => {
  it('are called by priority, then in the order of their coming', () => {
    const parking = createParking();
    parking.forSlot(line('b', 500), 0);
    parking.forSlot(line('c', 500), 0);
    parking.forSlot(line('a', 1), 0);
    const called = [parking.nextForSlot(), parking.nextForSlot(), parking.nextForSlot()];
    expect(called).toEqual(['a', 'b', 'c']);
    expect(parking.nextForSlot()).toBeUndefined();
  });

  it('come before others of their priority when they have begun', () => {
    const parking = createParking();
    parking.forSlot(line('new'), 0);
    parking.forSlot(line('begun', 500, true), 1);
    parking.forSlot(line('better', 499), 2);
    const called = [parking.nextForSlot(), parking.nextForSlot(), parking.nextForSlot()];
    expect(called).toEqual(['better', 'begun', 'new']);
  });

  it('come first where this engine is first for them', () => {
    const parking = createParking();
    parking.forSlot(line('theirs', 500), 1);
    parking.forSlot(line('mine', 500), 0);
    expect([parking.nextForSlot(), parking.nextForSlot()]).toEqual(['mine', 'theirs']);
  });

  it('are called once, however often they were parked', () => {
    const parking = createParking();
    const ids = Array.from({ length: 700 }, (_, n) => `job-${n}`);
    for (let sweep = 0; sweep < 4; sweep += 1)
      ids.forEach((id) => parking.forSlot(line(id, 500), 0));
    const called: unknown[] = [];
    for (let id = parking.nextForSlot(); id !== undefined; id = parking.nextForSlot()) {
      called.push(id);
    }
    expect(called).toEqual(ids);
  });

  it('keep their place when they were called and got no slot', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.forSlot(line('b', 500), 0);
    expect(parking.nextForSlot()).toBe('a');
    parking.forSlot(line('a', 500), 0);
    expect(parking.nextForSlot()).toBe('a');
  });

  it('are not called after they left', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.leave('a');
    expect(parking.nextForSlot()).toBeUndefined();
  });

  it('wait in one place only', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.forChange('a');
    expect(parking.nextForSlot()).toBeUndefined();
    expect(parking.parked()).toEqual(['a']);
    parking.forSlot(line('a', 500), 0);
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
    parking.forSlot(line('a', 500), 0);
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

describe('the slots that are for others', () => {
  const newcomer = (priority: number) => line('new', priority);
  const going = (priority: number) => line('going', priority, true);

  it('are those of the first in line, where it goes before the job', () => {
    const parking = createParking();
    expect(parking.ahead(newcomer(500))).toBe(0);
    parking.forSlot(line('a', 500), 0);
    parking.forSlot(line('b', 500), 0);
    expect(parking.ahead(newcomer(500))).toBe(1);
    expect(parking.ahead(newcomer(499))).toBe(0);
    expect(parking.ahead(going(500))).toBe(0);
    expect(parking.ahead(going(501))).toBe(1);
    expect(parking.ahead(line('a'))).toBe(0);
    expect(parking.ahead(line('b'))).toBe(1);
  });

  it('are those of called jobs until they are answered, leave or wait again', () => {
    const parking = createParking();
    for (const id of ['a', 'b', 'c', 'd']) parking.forSlot(line(id, 500), 0);
    expect([1, 2, 3].map(() => parking.nextForSlot())).toEqual(['a', 'b', 'c']);
    expect(parking.calls()).toBe(3);
    expect(parking.ahead(newcomer(500))).toBe(4);
    expect(parking.ahead(line('b'))).toBe(1);
    parking.answered('a');
    parking.leave('b');
    parking.forSlot(line('c', 500), 0);
    expect(parking.calls()).toBe(0);
    expect(parking.ahead(newcomer(500))).toBe(1);
    expect(parking.nextForSlot()).toBe('c');
  });

  it('are counted for each task by itself, where it has room', () => {
    const parking = createParking();
    const [p, q] = [
      { task: 'p', slots: 1 },
      { task: 'q', slots: 2 },
    ];
    parking.forSlot(line('a', 500), 0, [p]);
    parking.forSlot(line('b', 500), 0, [p, q]);
    expect(parking.ahead(newcomer(500))).toBe(2);
    expect(parking.ahead(newcomer(500), ({ task }) => task === 'p')).toBe(1);
    expect(parking.ahead(newcomer(500), () => false)).toBe(0);
  });
});
