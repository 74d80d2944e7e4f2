import { expect, it } from 'vitest';
import { createRetry } from '../../src/engine/retry.js';
import { problem } from '../../src/errors.js';

it('asks until there is an answer, and tells once what is wrong unless the feed tells it', async () => {
  const told: string[] = [];
  const retry = createRetry({
    signal: new AbortController().signal,
    report: (reason) => told.push(reason),
    isAwayReported: () => true,
  });
  const failures = [
    problem('couch_unreachable', { url: 'http://x', cause: 'connection refused' }),
    new Error('There is no view.'),
    new Error('There is no view.'),
  ];
  const answer = await retry(() => {
    const failure = failures.shift();
    return failure === undefined ? Promise.resolve('yes') : Promise.reject(failure);
  });
  expect(answer).toBe('yes');
  expect(told).toEqual(['There is no view.']);
});

it('gives up when the engine ends', async () => {
  const life = new AbortController();
  const retry = createRetry({ signal: life.signal, report: () => life.abort() });
  expect(await retry(() => Promise.reject(new Error('no')))).toBeUndefined();
});

it('asks again at once all that wait for a database, when one of them got an answer', async () => {
  const away = problem('couch_unreachable', { url: 'http://x', cause: 'connection refused' });
  const retry = createRetry({ signal: new AbortController().signal, report: () => undefined });
  let isBack = false;
  let tries = 0;
  const waiting = retry(() => {
    tries += 1;
    return isBack ? Promise.resolve('yes') : Promise.reject(away);
  });
  await expect.poll(() => tries).toBe(5);
  isBack = true;
  await retry(() => Promise.resolve('yes'));
  expect(await waiting).toBe('yes');
  expect(tries).toBeLessThanOrEqual(7);
});
