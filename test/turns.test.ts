import { beforeEach, expect, it, vi } from 'vitest';
import { nextTurn, roundTurn } from '../src/turns.js';

let now = 0;
beforeEach(async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  await nextRound();
});

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Work that computes for so long when it has its turn. */
const work = async (name: string, done: string[], ms: number): Promise<void> => {
  await nextTurn();
  now += ms;
  done.push(name);
};

it('work goes on at once in a round of the event loop that has just begun', () => {
  expect(roundTurn()).toBeUndefined();
  now += 9;
  expect(roundTurn()).toBeUndefined();
});

it('work waits for the next round when this one has had its time', async () => {
  expect(roundTurn()).toBeUndefined();
  now += 10;
  await roundTurn();
  expect(roundTurn()).toBeUndefined();
});

it('one round gives a turn to one of those that wait when each takes long', async () => {
  const done: string[] = [];
  const all = ['a', 'b', 'c'].map((name) => work(name, done, 20));
  for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    await nextRound();
    expect(done).toEqual(expected);
  }
  await Promise.all(all);
});

it('one round gives turns to all that wait when they take little', async () => {
  const done: string[] = [];
  const all = ['a', 'b', 'c', 'd'].map((name) => work(name, done, 4));
  await nextRound();
  expect(done).toEqual(['a', 'b', 'c']);
  await Promise.all(all);
});

it('nobody overtakes those that wait', async () => {
  const done: string[] = [];
  const first = work('first', done, 1);
  const second = Promise.resolve(roundTurn()).then(() => done.push('second'));
  await Promise.all([first, second]);
  expect(done).toEqual(['first', 'second']);
});
