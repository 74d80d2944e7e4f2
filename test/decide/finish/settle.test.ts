import { unknownWorld } from '../../../src/decide/world.js';
import { describe, expect, it } from 'vitest';
import { finish } from '../../../src/decide/finish/finish.js';
import type { Outcome } from '../../../src/decide/finish/outcome.js';
import { settle } from '../../../src/decide/finish/settle.js';
import type { Job } from '../../../src/model/job.js';
import { newJob, t0 } from '../../support/builders.js';
import { story, type Story } from '../story.js';

/** Step `a` runs, as attempt 1. */
function running(entry: object = {}): Story {
  const told = story({ steps: [{ task: 'a', ...entry }] });
  told.go();
  return told;
}

/** The last step after the outcome is written, nothing decided yet. */
function settled(told: Story, outcome: Outcome, now = t0 + 5): Readonly<Record<string, unknown>> {
  const result = settle(
    told.job,
    { schema: unknownWorld.schema, claim: told.live.claim, outcome },
    now,
  );
  if (result.kind === 'fenced') throw new Error(result.because);
  return { ...result.job.steps.at(-1) };
}

const broken = { name: 'Broken', message: 'It is broken.' };

describe('settle', () => {
  const done = { state: '$$complete', exit: 0, end: t0 + 5 };
  const cases: readonly [string, Outcome, object][] = [
    ['a result', { kind: 'done', result: { n: 1 } }, { ...done, result: { n: 1 } }],
    ['a result of null', { kind: 'done', result: null }, { ...done, result: null }],
    ['an end without a result', { kind: 'done' }, done],
    ['an exit of 0', { kind: 'done', exit: 0 }, { ...done, sets_exit: 0 }],
    [
      'an exit that says it failed',
      { kind: 'done', exit: 7, result: 1 },
      { state: '$$error', exit: 7, end: t0 + 5, failure: { name: 'ExitSet', step: 'a' } },
    ],
    [
      'an error',
      { kind: 'failed', failure: broken },
      { state: '$$error', exit: 2, end: t0 + 5, failure: { ...broken, step: 'a' } },
    ],
    [
      'an error with an exit',
      { kind: 'failed', failure: broken, exit: 9 },
      { state: '$$error', exit: 9 },
    ],
    [
      'an error that is not to be tried again',
      { kind: 'failed', failure: broken, retryable: false },
      { state: '$$error', failure: { ...broken, step: 'a', retryable: false } },
    ],
    [
      'a timeout',
      { kind: 'timeout', timeoutMs: 15_000 },
      {
        state: '$$timeout',
        exit: 1,
        failure: { name: 'StepTimeout', message: 'The attempt took longer than its 15000 ms.' },
      },
    ],
    [
      'a silence',
      { kind: 'silent', heartbeatMs: 900 },
      {
        state: '$$timeout',
        exit: 1,
        failure: {
          name: 'HeartbeatTimeout',
          message: 'The attempt gave no sign of life (heartbeat) for 900 ms.',
        },
      },
    ],
    [
      'a stop',
      { kind: 'cancelled' },
      { state: '$$cancelled', exit: 130, failure: { name: 'Cancelled' } },
    ],
    [
      'an attempt that is handed back',
      { kind: 'released' },
      { state: '$$cancelled', exit: 130, due: t0 + 5, failure: { name: 'Released', step: 'a' } },
    ],
  ];
  // Shows C-06, C-08, D-01.
  it.each(cases)('writes %s', (_title, outcome, expected) => {
    const told = running();
    const step = settled(told, outcome);
    expect(step).toMatchObject({ ...told.live, ...expected });
    if (!('due' in expected)) expect(step).not.toHaveProperty('due');
    if (!('result' in expected)) expect(step).not.toHaveProperty('result');
  });

  it('gives a failed attempt the time of the next one', () => {
    const told = running({ retry: { limit: 1, delay: 100 } });
    expect(settled(told, { kind: 'timeout', timeoutMs: 5 })).toMatchObject({ due: t0 + 105 });
    const wish: Outcome = { kind: 'failed', failure: broken, retryAfterMs: 33 };
    expect(settled(told, wish)).toMatchObject({ due: t0 + 38 });
  });

  it('keeps the exit that a handler sets', () => {
    const told = story({ steps: ['a'], flow: { error: 'h' } });
    told.go();
    told.fail();
    expect(settled(told, { kind: 'done', exit: 7 })).toMatchObject({
      state: '$$complete',
      exit: 0,
      sets_exit: 7,
    });
  });

  it('keeps what the attempt told, however it ended', () => {
    const told = running({ retry: 1 });
    const report = { details: { n: 1 }, progress: 'half', log: [{ at: t0, message: 'm' }] };
    const result = settle(
      told.job,
      {
        schema: unknownWorld.schema,
        claim: told.live.claim,
        outcome: { kind: 'silent', heartbeatMs: 9 },
        report,
      },
      t0,
    );
    expect(result).toMatchObject({ job: { steps: [{ ...report, state: '$$timeout', due: t0 }] } });
  });

  it('changes nothing else in the job', () => {
    const told = story({ steps: ['a', 'b'], job: { mine: [1] } });
    told.go();
    told.done();
    const result = settle(
      told.job,
      { schema: unknownWorld.schema, claim: told.live.claim, outcome: { kind: 'done' } },
      t0,
    );
    if (result.kind === 'fenced') throw new Error(result.because);
    const { steps, ...rest } = result.job;
    const { steps: before, ...same } = told.liveJob;
    expect(rest).toEqual(same);
    expect(steps[0]).toBe(before[0]);
  });
});

describe('settle drops an outcome', () => {
  const told = running();
  const { claim } = told.live;
  const after = (end: (told: Story) => unknown): Job => {
    const other = running({ retry: 1 });
    end(other);
    return other.job;
  };
  const cases: readonly [string, Job, string][] = [
    ['of a job that is final', finish(told.liveJob, { exit: 0 }, t0), claim],
    ['of a job that is new', newJob(), claim],
    ['of a claim that is not in the job', told.job, 'nobody:0'],
    [
      'of an attempt that was lost',
      after((o) => o.with({ id: 'other', dead: ['me'], nonce: 'n2' }).go()),
      claim,
    ],
    ['of an attempt that has ended', after((o) => o.with({ nonce: 'n2' }).fail()), claim],
  ];
  // Shows E-01.
  it.each(cases)('%s', (_title, job, of) => {
    expect(
      settle(
        job,
        { schema: unknownWorld.schema, claim: of, outcome: { kind: 'done', result: 'late' } },
        t0,
      ),
    ).toMatchObject({ kind: 'fenced' });
  });
});

describe('changes of the data of a job', () => {
  const outcomes: readonly [string, Outcome][] = [
    ['a failure', { kind: 'failed', failure: broken }],
    ['a timeout', { kind: 'timeout', timeoutMs: 1 }],
    ['an attempt that begins again', { kind: 'requeue', delayMs: 0 }],
    ['a job that begins anew', { kind: 'restart', delayMs: 0 }],
    ['a success', { kind: 'done' }],
  ];
  // Shows B-12.
  it.each(outcomes)('that are kept however the attempt ends are kept with %s', (_, outcome) => {
    const told = running();
    const report = { data: { n: 1, both: 'success' }, dataAnyhow: { kept: true, both: 'anyhow' } };
    const { schema } = unknownWorld;
    const result = settle(told.job, { schema, claim: told.live.claim, outcome, report }, t0 + 5);
    const isDone = outcome.kind === 'done';
    const data = isDone ? { kept: true, n: 1, both: 'success' } : { kept: true, both: 'anyhow' };
    expect(result).toMatchObject({ kind: 'settled', job: { data } });
    if (result.kind === 'settled') expect(result.job.data).toEqual(data);
  });
});
