import { expect, it } from 'vitest';
import { nextTurn, roundTurn } from '../src/turns.js';

/** Computes for longer than one piece of work may. */
function compute(): void {
  const until = performance.now() + 15;
  while (performance.now() < until);
}

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('work goes on at once in a round of the event loop that has just begun', async () => {
  await nextRound();
  expect(roundTurn()).toBeUndefined();
  expect(roundTurn()).toBeUndefined();
});

it('work waits for the next round when this one has had its time', async () => {
  await nextRound();
  expect(roundTurn()).toBeUndefined();
  compute();
  const turn = roundTurn();
  expect(turn).toBeInstanceOf(Promise);
  await turn;
  expect(roundTurn()).toBeUndefined();
});

it('one round gives a turn to one of those that wait, in their order', async () => {
  const done: string[] = [];
  const turns = ['a', 'b', 'c'].map((name) => nextTurn().then(() => done.push(name)));
  for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    await nextRound();
    expect(done).toEqual(expected);
  }
  await Promise.all(turns);
});
