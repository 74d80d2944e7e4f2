import { describe, expect, it } from 'vitest';
import { createParking, inLineOf } from '../../../src/engine/waiting/wait-queue.js';
import { idle, inUse } from './slot-facts.js';

/** A job of owner `me` that waits for a slot. */
const line = (id: string, priority = 500, begun = false) => ({
  ...inLineOf({ _id: id, owner: 'me', priority }),
  begun,
});

describe('jobs that wait for a slot', () => {
  it('are called by priority, then in the order of their coming', () => {
    const parking = createParking();
    parking.forSlot(line('b', 500), 0);
    parking.forSlot(line('c', 500), 0);
    parking.forSlot(line('a', 1), 0);
    const called = [
      parking.nextForSlot(idle),
      parking.nextForSlot(idle),
      parking.nextForSlot(idle),
    ];
    expect(called).toEqual(['a', 'b', 'c']);
    expect(parking.nextForSlot(idle)).toBeUndefined();
  });

  it('come before others of their priority when they have begun', () => {
    const parking = createParking();
    parking.forSlot(line('new'), 0);
    parking.forSlot(line('begun', 500, true), 1);
    parking.forSlot(line('better', 499), 2);
    const called = [
      parking.nextForSlot(idle),
      parking.nextForSlot(idle),
      parking.nextForSlot(idle),
    ];
    expect(called).toEqual(['better', 'begun', 'new']);
  });

  it('come first where this engine is first for them', () => {
    const parking = createParking();
    parking.forSlot(line('theirs', 500), 1);
    parking.forSlot(line('mine', 500), 0);
    expect([parking.nextForSlot(idle), parking.nextForSlot(idle)]).toEqual(['mine', 'theirs']);
  });

  it('are called once, however often they were parked', () => {
    const parking = createParking();
    const ids = Array.from({ length: 700 }, (_, n) => `job-${n}`);
    for (let sweep = 0; sweep < 4; sweep += 1)
      ids.forEach((id) => parking.forSlot(line(id, 500), 0));
    const called: unknown[] = [];
    for (let id = parking.nextForSlot(idle); id !== undefined; id = parking.nextForSlot(idle)) {
      called.push(id);
    }
    expect(called).toEqual(ids);
  });

  it('keep their place when they were called and got no slot', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.forSlot(line('b', 500), 0);
    expect(parking.nextForSlot(idle)).toBe('a');
    parking.forSlot(line('a', 500), 0);
    expect(parking.nextForSlot(idle)).toBe('a');
  });

  it('are not called after they left', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.leave('a');
    expect(parking.nextForSlot(idle)).toBeUndefined();
  });

  it('wait in one place only', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.forChange('a');
    expect(parking.nextForSlot(idle)).toBeUndefined();
    expect(parking.parked()).toEqual(['a']);
    parking.forSlot(line('a', 500), 0);
    expect(parking.parked()).toEqual(['a']);
    expect(parking.nextForSlot(idle)).toBe('a');
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

describe('the free slots that a job may claim', () => {
  const newcomer = (priority: number) => line('new', priority);
  const going = (priority: number) => line('going', priority, true);

  it('are all of them while nobody else waits', () => {
    const parking = createParking();
    expect(parking.slotsFor(newcomer(500), 3, idle)).toBe(3);
    expect(parking.slotsFor(newcomer(500), 0, idle)).toBe(0);
    parking.forSlot(newcomer(500), 0);
    expect(parking.slotsFor(newcomer(500), 3, idle)).toBe(3);
  });

  it('leave one for each job that goes before it', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    parking.forSlot(line('b', 500), 0);
    const claimable = (job: ReturnType<typeof line>) =>
      [1, 2, 3, 4].map((free) => parking.slotsFor(job, free, idle));
    expect(claimable(newcomer(500))).toEqual([0, 0, 1, 2]);
    expect(claimable(newcomer(499))).toEqual([1, 2, 3, 4]);
    expect(claimable(going(500))).toEqual([1, 1, 1, 2]);
    expect(claimable(going(501))).toEqual([0, 0, 1, 2]);
    expect(claimable(line('a'))).toEqual([1, 1, 2, 3]);
    expect(claimable(line('b'))).toEqual([0, 1, 2, 3]);
  });

  it('leave one for each called job that goes before it, until it is answered, leaves or waits again', () => {
    const parking = createParking();
    for (const id of ['a', 'b', 'c', 'd']) parking.forSlot(line(id, 500), 0);
    expect([1, 2, 3].map(() => parking.nextForSlot(idle))).toEqual(['a', 'b', 'c']);
    expect(parking.calls()).toBe(3);
    expect(parking.slotsFor(newcomer(500), 5, idle)).toBe(1);
    expect(parking.slotsFor(line('b'), 2, idle)).toBe(1);
    parking.answered('a');
    parking.leave('b');
    parking.forSlot(line('c', 500), 0);
    expect(parking.calls()).toBe(0);
    expect(parking.slotsFor(newcomer(500), 3, idle)).toBe(1);
    expect(parking.nextForSlot(idle)).toBe('c');
  });

  it('are at least one for a job that was called, whoever came meanwhile', () => {
    const parking = createParking();
    parking.forSlot(line('a', 500), 0);
    expect(parking.nextForSlot(idle)).toBe('a');
    parking.forSlot(line('better', 1), 0);
    expect(parking.slotsFor(line('a'), 1, idle)).toBe(1);
    expect(parking.slotsFor(line('a'), 0, idle)).toBe(0);
  });

  it('leave none for jobs of tasks that have no room', () => {
    const parking = createParking();
    const [p, q] = [
      { task: 'p', slots: 1 },
      { task: 'q', slots: 2 },
    ];
    parking.forSlot(line('a', 500), 0, [p]);
    parking.forSlot(line('b', 500), 0, [p, q]);
    const claimable = (...rooms: readonly string[]) =>
      parking.slotsFor(newcomer(500), 5, { ...idle, hasRoom: ({ task }) => rooms.includes(task) });
    expect([claimable('p', 'q'), claimable('p'), claimable('q'), claimable()]).toEqual([
      3, 3, 4, 5,
    ]);
  });
});

describe('jobs that have slots already', () => {
  const wide = line('wide', 500, true);
  const use = inUse({ wide: 4 });

  it('are called when nobody waits who has fewer', () => {
    const parking = createParking();
    parking.forSlot(wide, 0);
    parking.forSlot(line('a'), 0);
    parking.forSlot(line('b'), 0);
    expect([1, 2, 3].map(() => parking.nextForSlot(use))).toEqual(['a', 'b', 'wide']);
  });

  it('are called by their place again when they have none any more', () => {
    const parking = createParking();
    parking.forSlot(wide, 0);
    parking.forSlot(line('a'), 0);
    parking.forSlot(line('b'), 0);
    expect(parking.nextForSlot(use)).toBe('a');
    expect(parking.nextForSlot(idle)).toBe('wide');
    expect(parking.nextForSlot(idle)).toBe('b');
  });

  it('may claim what is left when those that have fewer got one each', () => {
    const parking = createParking();
    expect(parking.slotsFor(wide, 6, use)).toBe(6);
    for (const id of ['a', 'b', 'c']) parking.forSlot(line(id), 0);
    expect([1, 3, 4, 6].map((free) => parking.slotsFor(wide, free, use))).toEqual([0, 0, 1, 3]);
  });

  it('count with the jobs that were made for them', () => {
    const parking = createParking();
    const child = (n: number) => inLineOf({ _id: `c${n}`, owner: 'me', parent: { job: 'wide' } });
    for (let n = 0; n < 50; n += 1) parking.forSlot(child(n), 0);
    parking.forSlot(line('a'), 0);
    parking.forSlot(line('b'), 0);
    const called = [1, 2, 3, 4, 5].map(() => parking.nextForSlot(idle));
    expect(called).toEqual(['c0', 'a', 'b', 'c1', 'c2']);
  });

  it('count in each of several lines, by task', () => {
    const parking = createParking();
    const two = { task: 'p', slots: 2 };
    parking.forSlot(wide, 0, [two]);
    parking.forSlot(line('other', 500, true), 0, [two]);
    parking.forSlot(line('new'), 0, [two]);
    expect([1, 2, 3].map(() => parking.nextForSlot(use))).toEqual(['other', 'new', 'wide']);
    expect(parking.nextForSlot(use)).toBeUndefined();
  });
});
