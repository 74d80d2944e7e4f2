import { describe, expect, it } from 'vitest';
import {
  createRunningAttempts,
  type RunningAttempts,
  type RunningAttemptsOptions,
} from '../../../src/engine/attempts/running-attempts.js';
import { createWaitQueue, inLineOf } from '../../../src/engine/waiting/wait-queue.js';
import type { LiveStep } from '../../../src/model/step.js';
import { flow, liveJob, task } from '../../support/builders.js';
import { idle } from './slot-facts.js';

const job = liveJob(flow(['a', 'b']), { tasks: [task('a', { slots: 2 }), task('b')] });
/** A claim of step `a` (position 0) or `b`. */
const step = (claim: string, name = 'a'): LiveStep =>
  ({ claim, task: name, path: name === 'a' ? '0' : '1' }) as unknown as LiveStep;
const a = 'a::DEFAULT';

describe('the slots of a task on one engine', () => {
  const open = () =>
    createRunningAttempts({
      slots: 5,
      count: () => 1,
      onFree: () => undefined,
    } as unknown as RunningAttemptsOptions);

  /** Whether there are slots for these steps; none is taken. */
  const fits = (
    attempts: RunningAttempts,
    steps: readonly LiveStep[],
    ended: readonly string[] = [],
  ) => {
    const before = attempts.freeSlots();
    const did = attempts.reserve(steps, ended, job);
    if (did) attempts.withdraw(steps, ended);
    expect(attempts.freeSlots()).toBe(before);
    return did;
  };

  it('are taken by its attempts only', () => {
    const attempts = open();
    attempts.reserve([step('1'), step('2', 'b')], [], job);
    expect(attempts.runningOf(a)).toBe(1);
    expect(fits(attempts, [step('3')])).toBe(true);
    expect(fits(attempts, [step('3'), step('4')])).toBe(false);
    expect(fits(attempts, [step('3'), step('4', 'b'), step('5', 'b')])).toBe(true);
    expect(
      fits(
        attempts,
        ['3', '4', '5', '6'].map((claim) => step(claim, 'b')),
      ),
    ).toBe(false);
  });

  it('come free with the attempt, and with its outcome for the next step of its job', () => {
    const attempts = open();
    attempts.reserve([step('1'), step('2')], [], job);
    expect(fits(attempts, [step('3')])).toBe(false);
    expect(fits(attempts, [step('3')], ['1'])).toBe(true);
    attempts.reserve([step('3')], ['1'], job);
    expect(attempts.runningOf(a)).toBe(2);
    attempts.release('1');
    expect(attempts.runningOf(a)).toBe(2);
    attempts.release('2');
    expect(attempts.runningOf(a)).toBe(1);
    attempts.withdraw([step('3')]);
    expect(attempts.runningOf(a)).toBe(0);
  });
});

describe('jobs that wait for a slot of their task', () => {
  const one = { task: a, slots: 1 };
  const two = { task: 'b::DEFAULT', slots: 2 };
  const only = (...tasks: readonly string[]) => ({
    ...idle,
    hasRoom: ({ task }: { readonly task: string }) => tasks.includes(task),
  });
  const line = (id: string, priority = 500, begun = false) => ({
    ...inLineOf({ _id: id, priority }),
    begun,
  });

  it('are called when their task may run once more, others meanwhile', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('full', 1), 0, [one]);
    waitQueue.forSlot(line('any', 500), 0);
    expect(waitQueue.nextForSlot(only())).toBe('any');
    expect(waitQueue.nextForSlot(only())).toBeUndefined();
    expect(waitQueue.nextForSlot(only(a))).toBe('full');
    expect(waitQueue.nextForSlot(only(a))).toBeUndefined();
  });

  it('are called by priority, whatever they wait for', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('c', 500), 0);
    waitQueue.forSlot(line('b', 500), 0, [one]);
    waitQueue.forSlot(line('a', 1), 0, [two]);
    const called = Array.from({ length: 4 }, () => waitQueue.nextForSlot(idle));
    expect(called).toEqual(['a', 'c', 'b', undefined]);
  });

  it('are called once, though they wait for several tasks', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0, [one, two]);
    expect(waitQueue.nextForSlot(only(two.task))).toBe('a');
    expect(waitQueue.nextForSlot(idle)).toBeUndefined();
  });

  it('wait in one place only', () => {
    const waitQueue = createWaitQueue();
    waitQueue.forSlot(line('a', 500), 0, [one]);
    waitQueue.forSlot(line('a', 500), 0);
    expect(waitQueue.nextForSlot(only())).toBe('a');
    waitQueue.forSlot(line('b', 500), 0, [one]);
    waitQueue.forChange('b');
    expect(waitQueue.nextForSlot(idle)).toBeUndefined();
  });
});
