import { describe, expect, it } from 'vitest';
import { createBreaker, type Breaker } from '../../src/engine/breaker.js';
import type { Decision } from '../../src/engine/decision.js';
import type { Job } from '../../src/model/job.js';

const job = (id = 'j', steps: readonly object[] = []): Job =>
  ({ _id: id, _rev: '1-a', type: 'job', state: 'a-0', steps }) as unknown as Job;
const write = (to: Job = job()): Decision => ({ kind: 'write', job: to });
const spawn = (child: string): Decision =>
  ({ kind: 'spawn', job: job(), children: [{ _id: child }] }) as unknown as Decision;

type Clock = { ms: number };

function broken(breaker: Breaker, clock: Clock, decide: (n: number) => Decision, everyMs: number) {
  for (let n = 1; n <= 100; n += 1) {
    const stopped = breaker.count(job(), decide(n));
    if (stopped !== undefined) return { n, name: stopped.name };
    clock.ms += everyMs;
  }
  return undefined;
}

describe('the breaker', () => {
  const cases: readonly (readonly [string, (n: number) => Decision, number, unknown])[] = [
    ['writes the same job 21 times in 10 s', () => write(), 100, { n: 21, name: 'DecisionLoop' }],
    ['writes it more slowly', () => write(), 600, undefined],
    ['makes the same child again', () => spawn('c'), 100, { n: 22, name: 'DecisionLoop' }],
    ['makes another child each time', (n) => spawn(`c${n}`), 100, undefined],
    ['begins a step each time', (n) => write(job('j', [{ n }])), 100, undefined],
    ['waits', () => ({ kind: 'wait', because: 'x' }), 1, undefined],
  ];

  it.each(cases)('judges an engine that %s', (_what, decide, everyMs, verdict) => {
    const clock = { ms: 0 };
    const breaker = createBreaker(() => clock.ms);
    expect(broken(breaker, clock, decide, everyMs)).toEqual(verdict);
  });

  it('counts from the start when another engine got the job on', () => {
    const breaker = createBreaker(() => 0);
    for (let n = 0; n < 20; n += 1) expect(breaker.count(job(), write())).toBeUndefined();
    const further = job('j', [{ end: 1 }]);
    expect(breaker.count(further, write(further))).toBeUndefined();
    expect(breaker.count(further, write(further))).toBeUndefined();
  });

  it('remembers a limited number of jobs', () => {
    const breaker = createBreaker(() => 0);
    for (let n = 0; n < 20; n += 1) breaker.count(job(), write());
    for (let n = 0; n < 1_000; n += 1) breaker.count(job(`k${n}`), write(job(`k${n}`)));
    expect(breaker.count(job(), write())).toBeUndefined();
  });
});
