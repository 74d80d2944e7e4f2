import { describe, expect, it } from 'vitest';
import { decide, mostMoves } from '../../src/decide/decide.js';
import type { Intent } from '../../src/decide/intent.js';
import { isFinal, type Job } from '../../src/model/job.js';
import type { Step } from '../../src/model/step.js';
import { flow, frozen, liveJob, newJob, t0, task, tasksOf, world } from '../support/builders.js';
import { story, type Story } from './story.js';

describe('decide', () => {
  it('makes at most one revision per step and one more for a job', () => {
    const told = story({ steps: ['a', 'b', 'c'] });
    expect(told.go().kind).toBe('claim');
    expect(told.done().kind).toBe('claim');
    expect(told.done().kind).toBe('claim');
    expect(told.done().kind).toBe('write');
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
    expect(told.revisions).toBe(4);
  });

  it('D3: brings skips, the end of a step and the next claim together', () => {
    const told = story({ steps: ['a', { task: 'b', when: 'x' }, { task: 'b', when: 'x' }, 'c'] });
    told.answering({ '1.when': false, '2.when': false }).go();
    told.done();
    expect(told.trail).toEqual([
      'a#1 $$complete',
      'b#1 $$skipped',
      'b#1 $$skipped',
      'c#1 $$active',
    ]);
    expect(told.revisions).toBe(2);
  });

  // Shows D-02.
  it('shows where the job is in its state', () => {
    const told = story({ steps: ['a', ['b', 'a']], flow: { error: 'h' } });
    const states: unknown[] = [];
    told.go();
    for (const end of [
      () => told.done(),
      () => told.done(),
      () => told.fail(),
      () => told.done(),
    ]) {
      states.push(told.job.state);
      end();
    }
    expect([...states, told.job.state]).toEqual(['a-0', 'b-1', 'a-2', 'h-2', '$$complete']);
  });

  it('asks for the flow, then for the tasks, then for conditions, and changes nothing yet', () => {
    const unknown = () => ({ kind: 'unknown' }) as const;
    const told = story({ steps: [{ task: 'a', when: 'x' }] });
    const { job } = told;
    expect(told.decide(job, { flow: unknown })).toMatchObject({
      kind: 'look_up',
      flows: [{ name: 'f' }],
    });
    expect(told.decide(job, { task: unknown })).toMatchObject({
      kind: 'look_up',
      tasks: [{ name: 'a' }],
    });
    expect(told.decide()).toMatchObject({ kind: 'look_up', questions: [{ id: '0.when' }] });
  });

  const finals: readonly [string, object][] = [
    ['complete', { state: '$$complete', exit: 0 }],
    ['failed', { state: '$$complete', exit: 2 }],
    ['cancelled', { state: '$$cancelled', exit: 130 }],
    ['cancelled, as its cancel says', { state: '$$cancelled', exit: 130, cancel: true }],
  ];
  it.each(finals)('D2: leaves a job alone that is %s', (_title, more) => {
    const job = { ...liveJob(flow(['a'])), ...more } as Job;
    expect(decide(job, t0, world())).toEqual({
      rule: 'final',
      kind: 'ignore',
      because: 'The job is final.',
    });
  });
});

/** Stories and what moves them to their next intent. */
const intents: readonly [string, Intent['kind'], () => Story][] = [
  ['a first claim', 'claim', () => story({ steps: ['a'] })],
  ['a later claim', 'claim', () => withPause(story({ steps: ['a', 'b'] }))],
  ['a write that waits', 'write', () => story({ steps: ['a'], job: { exec_after: t0 + 9 } })],
  ['a pause', 'write', () => story({ steps: ['a'], job: { paused: true } })],
  ['an end', 'write', () => story({ steps: [] })],
  ['an end with a failure', 'write', () => story({ steps: ['a'], job: { flow: 'zzz' } })],
  ['a cancel', 'write', () => story({ steps: ['a'], job: { cancel: true } })],
  ['a child job', 'spawn', () => story({ steps: ['a'], tasks: [task('a', { flow: 'inner' })] })],
  ['a lost engine', 'claim', () => begun(story({ steps: ['a'] })).with({ running: [] })],
  [
    'a hard timeout',
    'write',
    () => begun(story({ steps: ['a'], flow: { timeout: 5, timeout_mode: 'hard' } })).at(5),
  ],
  ['a question', 'look_up', () => story({ steps: [{ task: 'a', when: 'x' }] })],
  ['a running attempt', 'wait', () => begun(story({ steps: ['a'] }))],
  ['a stop', 'abort', () => begun(story({ steps: ['a'] })).edit({ cancel: true })],
];

function begun(told: Story): Story {
  told.go();
  return told;
}

/** Ends step `a` into a pause that is over. */
function withPause(told: Story): Story {
  begun(told).edit({ paused: true }).done();
  return told.edit({ paused: false });
}

describe.each(intents)('the intent of %s', (_title, kind, begin) => {
  // Shows C-17.
  it(`D1: is ${kind}, the same for the same job, time and world`, () => {
    const told = begin();
    const intent = told.decide();
    expect(intent.kind).toBe(kind);
    const again = told.decide(structuredClone(told.job));
    expect(JSON.stringify(again)).toBe(JSON.stringify(intent));
  });

  // Shows A-13.
  it('keeps keys it does not know, in the job and in its steps', () => {
    const told = begin();
    const mark = { mine: { deep: ['kept', null] }, toString: 'kept' };
    const steps = told.steps.map((step) => ({ ...step, ...mark }));
    told.edit(steps.length === 0 ? mark : { ...mark, steps });
    const intent = told.decide();
    if (!('job' in intent)) return;
    expect(intent.job).toMatchObject(mark);
    const { steps: after = [] } = intent.job as { readonly steps?: readonly Step[] };
    for (const [i] of steps.entries()) expect(after[i]).toMatchObject(mark);
  });
});

describe('D5: next_due', () => {
  const retry = { limit: 3, delay: 500 };
  it.each([
    ['exec_after', story({ steps: ['a'], job: { exec_after: t0 + 900 } }), 900],
    ['the next run of the flow', failing({ steps: ['a'], flow: { retry } }), 500],
  ])('holds the time until which a job sleeps for %s', (_title, told, ms) => {
    if (told.job.state === undefined) told.go();
    expect(told.job).toMatchObject({ next_due: t0 + ms });
    const waits = told.decide();
    expect(waits).toMatchObject({ kind: 'wait', until: t0 + ms });
  });

  it('is not there while somebody could end the wait before its time', () => {
    const told = story({ steps: ['a'], flow: { timeout: 700 }, world: { plugins: [] } });
    told.go();
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 700 });
    expect(told.job).not.toHaveProperty('next_due');
  });

  it('is told by the wait after an attempt that is tried again', () => {
    const told = begun(story({ steps: [{ task: 'a', retry }] }));
    expect(told.fail()).toMatchObject({ kind: 'wait', until: t0 + 500 });
  });

  it.each([
    ['a claim', (told: Story) => told.at(900).go()],
    ['the end', (told: Story) => told.edit({ cancel: true }).go()],
    ['a pause without end', (told: Story) => told.edit({ paused: true }).go()],
  ])('is gone with %s', (_title, move) => {
    const told = begun(story({ steps: ['a'], job: { exec_after: t0 + 900 } }));
    expect(told.job).toHaveProperty('next_due');
    move(told);
    expect(told.job).not.toHaveProperty('next_due');
  });

  it('is gone when a child job is made', () => {
    const told = story({
      steps: ['a'],
      tasks: [task('a', { flow: 'inner' })],
      job: { exec_after: t0 + 900 },
    });
    begun(told).at(900).go();
    expect(told.last.state).toBe('$$waiting');
    expect(told.job).not.toHaveProperty('next_due');
  });
});

function failing(setting: Parameters<typeof story>[0]): Story {
  const told = begun(story(setting));
  told.fail();
  return told;
}

describe('deciding about a job of 1,000 steps', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `t${i % 50}`);
  const defined = flow(names);
  const around = world({ flows: [defined], tasks: tasksOf(defined) });

  /** The job with its first steps done. */
  function jobAfter(done: number): Job {
    const job = liveJob(defined);
    const ended = { state: '$$complete' as const, start: t0, end: t0, exit: 0, result: { n: 1 } };
    const steps = names.slice(0, done).map((name, index) => {
      const known = { index, path: String(index), name, task: name, attempt: 1, run: 1 };
      return { ...known, phase: 'main' as const, ...ended };
    });
    return { ...job, steps };
  }

  it.each([
    ['its first step', newJob(), 'claim'],
    ['its last step', jobAfter(999), 'claim'],
    ['its end', jobAfter(1000), 'write'],
  ])('is decided upon at %s', (_title, job, kind) => {
    expect(decide(frozen(job), t0 + 1, around).kind).toBe(kind);
  });
});

describe('a decision of many moves', () => {
  it('D7: is written in parts, so that it always comes to an end', () => {
    const told = story({ steps: [{ loop: { max: mostMoves, do: { delay: 0 } } }, 'b'] });
    const parts: Intent[] = [];
    while (!isFinal(told.job) && told.running.length === 0) {
      expect(parts.length).toBeLessThan(20);
      parts.push(told.go());
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.at(-1)).toMatchObject({ kind: 'claim' });
    expect(told.steps.filter(({ task }) => task === 'delay')).toHaveLength(mostMoves);
  });
});
