import { expect, it } from 'vitest';
import { createBreaker, type Breaker } from '../../../src/engine/loop/breaker.js';
import type { DecidedIntent } from '../../../src/engine/loop/decision.js';
import type { Job } from '../../../src/model/job.js';

const job = (id: string, rev: number): Job =>
  ({ _id: id, _rev: `${rev}-a`, type: 'job', state: 'a-0', steps: [] }) as unknown as Job;

/** One more write of each of so many jobs; the names of those that are stopped. */
function round(breaker: Breaker, jobs: number, rev: number): readonly string[] {
  return Array.from({ length: jobs }, (_, i) => job(`j${i}`, rev)).flatMap((before) => {
    return breaker.count(before, writing(before))?.name ?? [];
  });
}

it.each([1, 1_001, 5_000])('%i jobs that loop side by side are stopped', (jobs) => {
  const clock = { ms: 0 };
  const breaker = createBreaker(() => clock.ms);
  const stopped: string[] = [];
  for (let rev = 1; rev <= 21; rev += 1) {
    stopped.push(...round(breaker, jobs, rev));
    clock.ms += 60_000;
  }
  expect(stopped).toEqual(Array.from({ length: jobs }, () => 'DecisionLoop'));
});

it('a job is stopped again when another engine wrote it before its end was stored', () => {
  const breaker = createBreaker(() => 0);
  for (let rev = 1; rev <= 20; rev += 1) expect(round(breaker, 1, rev)).toEqual([]);
  for (let rev = 21; rev <= 25; rev += 1) expect(round(breaker, 1, rev)).toEqual(['DecisionLoop']);
});

it('a job that was stopped is forgotten like any other', () => {
  const clock = { ms: 0 };
  const breaker = createBreaker(() => clock.ms);
  for (let rev = 1; rev <= 21; rev += 1) round(breaker, 1_000, rev);
  for (let i = 0; i < 1_000; i += 1) breaker.rest(`j${i}`);
  clock.ms += 5_000;
  breaker.count(job('k', 1), writing(job('k', 1)));
  expect([...breaker.streaks.keys()]).toEqual(['k']);
});

it('jobs that are left alone are forgotten', () => {
  const clock = { ms: 0 };
  const breaker = createBreaker(() => clock.ms);
  round(breaker, 3_000, 1);
  for (let i = 0; i < 3_000; i += 1) breaker.rest(`j${i}`);
  clock.ms += 5_000;
  for (let i = 0; i < 3_000; i += 1) breaker.count(job(`k${i}`, 1), writing(job(`k${i}`, 1)));
  expect(breaker.streaks.size).toBeLessThan(4_001);
});

it('a job that rests without having been written is not remembered', () => {
  const breaker = createBreaker(() => 0);
  breaker.rest('unknown');
  expect(breaker.streaks.size).toBe(0);
});

function writing(job: Job): Extract<DecidedIntent, { kind: 'write' }> {
  return { kind: 'write', job };
}
