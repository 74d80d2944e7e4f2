import { describe, expect, it } from 'vitest';
import { createWaitQueue, inLineOf } from '../../../src/engine/waiting/wait-queue.js';
import { idle, inUse } from './slot-facts.js';

/** So many slots are free, and the job could use all of them. */
const all = (free: number) => ({ free, wanted: free });

/** A job of owner `me` that waits for a slot. */
const line = (id: string, priority = 500, begun = false) => ({
  ...inLineOf({ _id: id, owner: 'me', priority }),
  begun,
});

describe('jobs that wait for a slot', () => {
  it('are called by priority, then in the order of their coming', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('b', 500), 0);
    waitQueue.forSlot(line('c', 500), 0);
    waitQueue.forSlot(line('a', 1), 0);
    const called = [
      waitQueue.nextForSlot(idle),
      waitQueue.nextForSlot(idle),
      waitQueue.nextForSlot(idle),
    ];
    expect(called).toEqual(['a', 'b', 'c']);
    expect(waitQueue.nextForSlot(idle)).toBeUndefined();
  });

  it('come before others of their priority when they have begun', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('new'), 0);
    waitQueue.forSlot(line('begun', 500, true), 1);
    waitQueue.forSlot(line('better', 499), 2);
    const called = [
      waitQueue.nextForSlot(idle),
      waitQueue.nextForSlot(idle),
      waitQueue.nextForSlot(idle),
    ];
    expect(called).toEqual(['better', 'begun', 'new']);
  });

  it('come first where this engine is first for them', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('theirs', 500), 1);
    waitQueue.forSlot(line('mine', 500), 0);
    expect([waitQueue.nextForSlot(idle), waitQueue.nextForSlot(idle)]).toEqual(['mine', 'theirs']);
  });

  it('are called once, however often they were parked', () => {
    const waitQueue = createWaitQueue();
    const ids = Array.from({ length: 700 }, (_, n) => `job-${n}`);
    for (let sweep = 0; sweep < 4; sweep += 1)
      ids.forEach((id) => waitQueue.forSlot(line(id, 500), 0));
    const called: unknown[] = [];
    for (let id = waitQueue.nextForSlot(idle); id !== undefined; id = waitQueue.nextForSlot(idle)) {
      called.push(id);
    }
    expect(called).toEqual(ids);
  });

  it('keep their place when they were called and got no slot', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0);
    waitQueue.forSlot(line('b', 500), 0);
    expect(waitQueue.nextForSlot(idle)).toBe('a');
    waitQueue.forSlot(line('a', 500), 0);
    expect(waitQueue.nextForSlot(idle)).toBe('a');
  });

  it('are not called after they left', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0);
    waitQueue.leave('a');
    expect(waitQueue.nextForSlot(idle)).toBeUndefined();
  });

  it('wait in one place only', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0);
    waitQueue.forChange('a');
    expect(waitQueue.nextForSlot(idle)).toBeUndefined();
    expect(waitQueue.waiting()).toEqual(['a']);
    waitQueue.forSlot(line('a', 500), 0);
    expect(waitQueue.waiting()).toEqual(['a']);
    expect(waitQueue.nextForSlot(idle)).toBe('a');
    expect(waitQueue.waiting()).toEqual([]);
  });
});

describe('jobs that run on another engine', () => {
  it('are handed over once when it is gone', () => {
    const waitQueue = createWaitQueue();
    waitQueue.watch('a', ['engine:x']);
    waitQueue.watch('b', ['engine:y']);
    expect(waitQueue.takeOf('engine:x')).toEqual(['a']);
    expect(waitQueue.takeOf('engine:x')).toEqual([]);
  });

  it('may have attempts on several engines, and wait for something else meanwhile', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0);
    waitQueue.watch('a', ['engine:x', 'engine:y']);
    expect(waitQueue.waiting()).toEqual(['a']);
    expect(waitQueue.takeOf('engine:y')).toEqual(['a']);
    expect(waitQueue.waiting()).toEqual([]);
    expect(waitQueue.takeOf('engine:x')).toEqual([]);
    waitQueue.watch('b', []);
    expect(waitQueue.takeOf('engine:x')).toEqual([]);
  });

  it('are forgotten when they leave', () => {
    const waitQueue = createWaitQueue();
    waitQueue.watch('a', ['engine:x']);
    waitQueue.leave('a');
    expect(waitQueue.takeOf('engine:x')).toEqual([]);
  });
});

describe('the free slots that a job may claim', () => {
  const newcomer = (priority: number) => line('new', priority);
  const going = (priority: number) => line('going', priority, true);

  it('are all of them while nobody else waits', () => {
    const waitQueue = createWaitQueue();
    expect(waitQueue.slotsFor(newcomer(500), all(3), idle)).toBe(3);
    expect(waitQueue.slotsFor(newcomer(500), all(0), idle)).toBe(0);
    waitQueue.forSlot(newcomer(500), 0);
    expect(waitQueue.slotsFor(newcomer(500), all(3), idle)).toBe(3);
  });

  it('leave one for each job that goes before it', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0);
    waitQueue.forSlot(line('b', 500), 0);
    const claimable = (job: ReturnType<typeof line>) =>
      [1, 2, 3, 4].map((free) => waitQueue.slotsFor(job, all(free), idle));
    expect(claimable(newcomer(500))).toEqual([0, 0, 1, 2]);
    expect(claimable(newcomer(499))).toEqual([1, 2, 3, 4]);
    expect(claimable(going(500))).toEqual([1, 1, 1, 2]);
    expect(claimable(going(501))).toEqual([0, 0, 1, 2]);
    expect(claimable(line('a'))).toEqual([1, 1, 2, 3]);
    expect(claimable(line('b'))).toEqual([0, 1, 2, 3]);
  });

  it('leave one for each called job that goes before it, until it is answered, leaves or waits again', () => {
    const waitQueue = createWaitQueue();
    for (const id of ['a', 'b', 'c', 'd']) waitQueue.forSlot(line(id, 500), 0);
    expect([1, 2, 3].map(() => waitQueue.nextForSlot(idle))).toEqual(['a', 'b', 'c']);
    expect(waitQueue.called.size).toBe(3);
    expect(waitQueue.slotsFor(newcomer(500), all(5), idle)).toBe(1);
    expect(waitQueue.slotsFor(line('b'), all(2), idle)).toBe(1);
    waitQueue.answered('a');
    waitQueue.leave('b');
    waitQueue.forSlot(line('c', 500), 0);
    expect(waitQueue.called.size).toBe(0);
    expect(waitQueue.slotsFor(newcomer(500), all(3), idle)).toBe(1);
    expect(waitQueue.nextForSlot(idle)).toBe('c');
  });

  it('are at least one for a job that was called, whoever came meanwhile', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0);
    expect(waitQueue.nextForSlot(idle)).toBe('a');
    waitQueue.forSlot(line('better', 1), 0);
    expect(waitQueue.slotsFor(line('a'), all(1), idle)).toBe(1);
    expect(waitQueue.slotsFor(line('a'), all(0), idle)).toBe(0);
  });

  it('leave none for jobs of tasks that have no room', () => {
    const waitQueue = createWaitQueue();
    const [p, q] = [
      { task: 'p', slots: 1 },
      { task: 'q', slots: 2 },
    ];
    waitQueue.forSlot(line('a', 500), 0, [p]);
    waitQueue.forSlot(line('b', 500), 0, [p, q]);
    const claimable = (...rooms: readonly string[]) =>
      waitQueue.slotsFor(newcomer(500), all(5), {
        ...idle,
        hasRoom: ({ task }) => rooms.includes(task),
      });
    expect([claimable('p', 'q'), claimable('p'), claimable('q'), claimable()]).toEqual([
      3, 3, 4, 5,
    ]);
  });
});

describe('jobs that have slots already', () => {
  const wide = line('wide', 500, true);
  const use = inUse({ wide: 4 });

  it('are called when nobody waits who has fewer', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(wide, 0);
    waitQueue.forSlot(line('a'), 0);
    waitQueue.forSlot(line('b'), 0);
    expect([1, 2, 3].map(() => waitQueue.nextForSlot(use))).toEqual(['a', 'b', 'wide']);
  });

  it('are called by their place again when they have none any more', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(wide, 0);
    waitQueue.forSlot(line('a'), 0);
    waitQueue.forSlot(line('b'), 0);
    expect(waitQueue.nextForSlot(use)).toBe('a');
    expect(waitQueue.nextForSlot(idle)).toBe('wide');
    expect(waitQueue.nextForSlot(idle)).toBe('b');
  });

  it('may claim what is left when those that have fewer got one each', () => {
    const waitQueue = createWaitQueue();
    expect(waitQueue.slotsFor(wide, all(6), use)).toBe(6);
    for (const id of ['a', 'b', 'c']) waitQueue.forSlot(line(id), 0);
    expect([1, 3, 4, 6].map((free) => waitQueue.slotsFor(wide, all(free), use))).toEqual([
      0, 0, 1, 3,
    ]);
  });

  it('count with the jobs that were made for them', () => {
    const waitQueue = createWaitQueue();
    const child = (n: number) => inLineOf({ _id: `c${n}`, owner: 'me', parent: { job: 'wide' } });
    for (let n = 0; n < 50; n += 1) waitQueue.forSlot(child(n), 0);
    waitQueue.forSlot(line('a'), 0);
    waitQueue.forSlot(line('b'), 0);
    const called = [1, 2, 3, 4, 5].map(() => waitQueue.nextForSlot(idle));
    expect(called).toEqual(['c0', 'a', 'b', 'c1', 'c2']);
  });

  it('count in each of several lines, by task', () => {
    const waitQueue = createWaitQueue();
    const two = { task: 'p', slots: 2 };
    waitQueue.forSlot(wide, 0, [two]);
    waitQueue.forSlot(line('other', 500, true), 0, [two]);
    waitQueue.forSlot(line('new'), 0, [two]);
    expect([1, 2, 3].map(() => waitQueue.nextForSlot(use))).toEqual(['other', 'new', 'wide']);
    expect(waitQueue.nextForSlot(use)).toBeUndefined();
  });
});
