import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/decide/decide.js';
import { quickCheck } from '../../../src/decide/compete/quick-check.js';
import { flow, liveJob, newJob, peer, t0, tasksOf, world } from '../../support/builders.js';

const defined = flow(['a', { sequence: ['b', 'c'] }]);
const tasks = tasksOf(defined);
const plugins = ['a', 'b', 'c'];
const worldOf = (more: Parameters<typeof world>[0] = {}) =>
  world({ flows: [defined], tasks, seenAt: t0, ...more });
const attempt = { index: 0, path: '0', name: 'a', task: 'a', attempt: 1, run: 1, phase: 'main' };
const running = (engine: string) => ({ ...attempt, state: '$$active', engine, claim: 'n:0' });
const jobOn = (...engines: readonly string[]) => ({
  ...liveJob(defined),
  state: 'a-0',
  steps: engines.map(running),
});

const whole = { exit: 0, steps: [] };

describe('the quick check of a job', () => {
  it.each([
    {},
    { exit: '0', steps: [] },
    { exit: 0 },
    { exit: 0, steps: 'x', failure: null },
    { exit: 0, steps: [{ path: '9', state: '$$ready' }] },
  ])('has one read that is final and that no engine has ended: %j', (fields) => {
    const job = { _id: 'j', state: '$$complete', ...fields };
    expect(quickCheck(job, t0, worldOf())).toEqual({ kind: 'unclear' });
  });

  it.each(['$$complete', '$$cancelled'])('knows that one in %s is final', (state) => {
    expect(quickCheck({ _id: 'j', state, ...whole }, t0, worldOf())).toEqual({ kind: 'final' });
  });

  it.each([
    [false, 'final'],
    [{}, 'unclear'],
  ])('knows that a final one whose `retry` is %j is %s', (retry, kind) => {
    expect(quickCheck({ _id: 'j', state: '$$complete', ...whole, retry }, t0, worldOf())).toEqual({
      kind,
    });
  });

  it.each([
    ['a pause', '$$cancelled', { paused: true }, 'unclear'],
    ['a cancel', '$$complete', { cancel: {} }, 'unclear'],
    ['the cancel that ended it', '$$cancelled', { cancel: {} }, 'final'],
  ])('looks in a final one for %s', (_title, state, wish, kind) => {
    expect(quickCheck({ _id: 'j', state, ...whole, ...wish }, t0, worldOf())).toEqual({ kind });
  });

  it.each([{ paused: true }, { cancel: true }, { retry: true }, { requests: [] }])(
    'has one read that somebody asked something of: %j',
    (wish) => {
      const peers = [peer(plugins, [], 'other')];
      expect(quickCheck({ ...jobOn('other'), ...wish }, t0, worldOf({ peers })).kind).toBe(
        'unclear',
      );
    },
  );

  it.each([
    ['one after the other', 'sequence', 'elsewhere'],
    ['beside each other', 'parallel', 'unclear'],
  ])('looks at the steps for a cancel, too: %s', (_title, structure, kind) => {
    const peers = [peer(plugins, [], 'other')];
    const cancel = { structure, [structure]: [{ task: 'a' }, { task: 'b' }] };
    const job = { ...jobOn('other'), flow_definition: { cancel } };
    expect(quickCheck(job, t0, worldOf({ peers })).kind).toBe(kind);
  });

  it('knows that an attempt runs on another engine that is alive', () => {
    const peers = [peer(plugins, [], 'other'), peer(plugins, [], 'third')];
    const seen = quickCheck(jobOn('other', 'third'), t0, worldOf({ peers }));
    expect(seen).toEqual({ kind: 'elsewhere', engine: 'other' });
  });

  const sleeper = { ...attempt, state: '$$error', end: t0, due: t0 + 60_000 };
  it.each([
    ['runs here', jobOn('me')],
    ['runs here as well', jobOn('other', 'me')],
    ['runs on an engine that is not alive', jobOn('dead')],
    ['is claimed by nobody', { ...jobOn(), steps: [{ state: '$$ready' }] }],
    ['has nothing that runs', { ...jobOn(), steps: [sleeper, null] }],
    ['has steps that are no list', { ...jobOn('other'), steps: 'none' }],
    ['has no tasks', { ...jobOn('other'), tasks: undefined }],
    ['has steps that may run beside each other', { ...jobOn('other'), tasks: { parallel: ['a'] } }],
    [
      'has such steps further down',
      {
        ...jobOn('other'),
        tasks: { structure: 'sequence', sequence: [{ structure: 'parallel' }] },
      },
    ],
    ['must be ended at a time', { ...jobOn('other'), flow_definition: { timeout_mode: 'hard' } }],
  ])('does not judge one that %s', (_title, job) => {
    const peers = [peer(plugins, [], 'other')];
    expect(quickCheck(job, t0, worldOf({ peers }))).toEqual({ kind: 'unclear' });
  });

  const complete = { ...attempt, state: '$$complete' };
  const failed = { ...attempt, state: '$$error' };
  it.each([
    ['is all that is left', 'here', { steps: [complete, running('me')] }],
    ['runs beside what has failed', 'unclear', { steps: [failed, running('me')] }],
    ['runs beside what is no step', 'unclear', { steps: [null, running('me')] }],
    ['runs after a pause that has ended', 'unclear', { paused: false, steps: [running('me')] }],
    ['runs beside another one', 'unclear', { steps: [running('me'), running('other')] }],
    ['is not the one that was claimed', 'unclear', { steps: [{ ...running('me'), claim: 'x:0' }] }],
    ['runs in a pause', 'unclear', { state: '$$paused', steps: [running('me')] }],
    [
      'has many before it',
      'unclear',
      { steps: [...Array.from({ length: 5_001 }, () => complete), running('me')] },
    ],
  ])('knows of an attempt in this process that it %s: %s', (_title, kind, change) => {
    const peers = [peer(plugins, [], 'other')];
    const seen = quickCheck({ ...jobOn(), ...change }, t0, worldOf({ peers, running: ['n:0'] }));
    expect(seen).toEqual(kind === 'here' ? { kind, claim: 'n:0' } : { kind });
  });

  it('takes an attempt for running elsewhere though the flow is not described', () => {
    const peers = [peer(plugins, [], 'other')];
    const job = { ...jobOn('other'), flow_definition: null };
    expect(quickCheck(job, t0, worldOf({ peers })).kind).toBe('elsewhere');
  });
});

describe('the quick check of a new job', () => {
  const names = ['e0', 'e1', 'e2'];
  const jobs = Array.from({ length: 40 }, (_, i) =>
    newJob({ _id: `job-${i}`, flow: defined.name, owner: defined.owner }),
  );
  const worldFor = (me: string, able: readonly string[] = plugins, labels: string[] = []) =>
    worldOf({
      id: me,
      plugins,
      labels,
      peers: names.filter((name) => name !== me).map((name) => peer(able, [], name)),
    });

  it('leaves it to the engine that decides to claim it, until the turn comes', () => {
    for (const job of jobs) {
      for (const me of names) {
        const intent = decide(job, t0, worldFor(me));
        const seen = quickCheck(job, t0, worldFor(me));
        if (intent.kind === 'claim') expect(seen).toEqual({ kind: 'unclear' });
        else expect(seen).toEqual({ kind: 'later', until: intent.kind === 'wait' && intent.until });
        expect(quickCheck(job, t0 + 400, worldFor(me))).toEqual({ kind: 'unclear' });
      }
    }
  });

  it('waits for a slot of its own when another engine goes first', () => {
    for (const job of jobs) {
      for (const me of names) {
        const [free, full] = [1, 0].map((freeSlots) => {
          const around = worldFor(me);
          return quickCheck(job, t0, { ...around, me: { ...around.me, freeSlots } });
        });
        if (free?.kind === 'unclear') expect(full).toEqual(free);
        else expect(full).toEqual({ kind: 'no_slot', rank: expect.any(Number) as number });
      }
    }
  });

  it('leaves none to engines that may not be able to take it', () => {
    for (const job of jobs) {
      for (const me of names) {
        expect(quickCheck(job, t0, worldFor(me, ['a', 'b'])).kind).toBe('unclear');
        expect(quickCheck(job, t0, worldFor(me, plugins, ['gpu'])).kind).toBe('unclear');
      }
    }
  });

  it('needs no others', () => {
    expect(quickCheck({ _id: 'j' }, t0, worldOf({ peers: [] })).kind).toBe('unclear');
  });
});
