import { describe, expect, it } from 'vitest';
import type { Liveness } from '../../../src/replicas/resolve/attempt-merge.js';
import { mergeRevision } from '../../../src/replicas/resolve/merge.js';
import { stepOf, type LeafRevision } from '../../../src/replicas/resolve/leaf-revisions.js';
import type { FailedStep, Step } from '../../../src/model/step.js';
import { endings, story } from '../../decide/story.js';
import { attempt, called, liveness, leaf, told } from './leaves.js';

const lost = (text: string): Step => attempt(text, { ...called('EngineLost'), exit: 4 });
const handedBack = (text: string): Step => attempt(text, { ...called('Released'), exit: 130 });
const takenBack = (text: string): Step => {
  const { start: _start, ...step } = handedBack(text) as Step & { readonly start?: number };
  return step as Step;
};

type Steps = readonly (string | Step)[];
type Case = readonly [
  title: string,
  winner: Steps,
  loser: Steps,
  of: Readonly<Record<string, Liveness>>,
  /** What the winner tells then; undefined: the losing leaf stays. */
  expected: readonly string[] | undefined,
];

const runs = { a: 'runs' } as const;
const dead = { a: 'lost' } as const;
const givenUp = { a: 'given_up' } as const;

const claims: readonly Case[] = [
  ['a claim that has begun nothing is fenced', [], ['0#1 $$ready a'], {}, []],
  ['an attempt that was never started is fenced', [], ['0#1 $$active a'], givenUp, []],
  ['one that runs here is carried', [], ['0#1 $$active a'], runs, ['0#1 $$active a']],
  ['one of a dead engine is carried', [], ['0#1 $$active a'], dead, ['0#1 $$active a']],
  ['one that may run elsewhere stays', [], ['0#1 $$active a'], {}, undefined],
  [
    'one that the winner has as well is no reason to wait',
    ['0#1 $$active a'],
    ['0#1 $$active a'],
    {},
    ['0#1 $$active a'],
  ],
  [
    'one that has begun there has begun',
    ['0#1 $$ready a'],
    ['0#1 $$active a'],
    {},
    ['0#1 $$active a'],
  ],
  [
    'one that has ended in the winner has ended',
    ['0#1 $$complete a'],
    ['0#1 $$active a'],
    {},
    ['0#1 $$complete a'],
  ],
  [
    'one that runs here beside a step that is done stays until it is stopped',
    ['0#1 $$complete b'],
    ['0#1 $$active a'],
    runs,
    undefined,
  ],
  [
    'one of a dead engine beside a step that is done is only noted',
    ['0#1 $$complete b'],
    ['0#1 $$active a'],
    dead,
    ['0#1 $$complete b'],
  ],
];

const rivals: readonly Case[] = [
  [
    'a claim that has begun nothing makes room',
    ['0#1 $$ready b'],
    ['0#1 $$active a'],
    runs,
    ['0#1 $$cancelled b', '0#1 $$active a'],
  ],
  [
    'an attempt that was given up makes room',
    ['0#1 $$active b'],
    ['0#1 $$complete a'],
    { b: 'given_up' },
    ['0#1 $$cancelled b', '0#1 $$complete a'],
  ],
  [
    'an attempt of a dead engine makes room',
    ['0#1 $$active b'],
    ['0#1 $$complete a'],
    { b: 'lost' },
    ['0#1 $$error b', '0#1 $$complete a'],
  ],
  ['one that may run makes none', ['0#1 $$active b'], ['0#1 $$complete a'], {}, undefined],
  [
    'one that runs here makes none',
    ['0#1 $$active b'],
    ['0#1 $$complete a'],
    { b: 'runs' },
    undefined,
  ],
  [
    'one that has ended where the job went on has ended',
    ['0#1 $$active b'],
    [lost('0#1 $$error b'), '0#2 $$complete a'],
    {},
    ['0#1 $$error b', '0#2 $$complete a'],
  ],
  [
    'one that both have goes on',
    ['0#1 $$active b'],
    ['0#1 $$active b', '1#1 $$complete a'],
    {},
    ['0#1 $$active b', '1#1 $$complete a'],
  ],
];

const ends: readonly Case[] = [
  [
    'an outcome ends the attempt',
    ['0#1 $$active a'],
    ['0#1 $$complete a'],
    {},
    ['0#1 $$complete a'],
  ],
  ['a failure is one', ['0#1 $$active a'], ['0#1 $$error a'], {}, ['0#1 $$error a']],
  [
    'what its engine handed back has ended',
    ['0#1 $$active a'],
    [handedBack('0#1 $$cancelled a')],
    {},
    ['0#1 $$cancelled a'],
  ],
  [
    'what others took back has not',
    ['0#1 $$ready a'],
    [takenBack('0#1 $$cancelled a')],
    {},
    ['0#1 $$ready a'],
  ],
  [
    'what others called lost has not',
    ['0#1 $$active a'],
    [lost('0#1 $$error a')],
    {},
    ['0#1 $$active a'],
  ],
  [
    'what was given up as poison has not',
    ['0#1 $$active a'],
    [attempt('0#1 $$error a', called('CrashLimit'))],
    {},
    ['0#1 $$active a'],
  ],
  [
    'an attempt that was believed lost has completed after all',
    [lost('0#1 $$error a')],
    ['0#1 $$complete a'],
    {},
    ['0#1 $$error a', '0#1 $$complete a'],
  ],
  [
    'and is not told twice',
    [lost('0#1 $$error a'), '0#1 $$complete a'],
    ['0#1 $$complete a'],
    {},
    ['0#1 $$error a', '0#1 $$complete a'],
  ],
  [
    'nor when the step was done by another attempt',
    [lost('0#1 $$error a'), '0#2 $$complete b'],
    ['0#1 $$complete a'],
    {},
    ['0#1 $$error a', '0#2 $$complete b'],
  ],
  [
    'a whole history is carried in its order',
    ['0#1 $$active a'],
    ['0#1 $$complete a', '1#1 $$skipped', '2#1 $$error c', '2#2 $$ready d'],
    {},
    ['0#1 $$complete a', '1#1 $$skipped', '2#1 $$error c'],
  ],
  ['what needed no engine alone is not worth it', [], ['0#1 $$skipped'], {}, []],
  [
    'what both have is not told twice',
    ['0#1 $$skipped', '1#1 $$active a'],
    ['0#1 $$skipped', '1#1 $$complete a'],
    {},
    ['0#1 $$skipped', '1#1 $$complete a'],
  ],
  [
    'a step that is done here is not skipped again',
    ['0#1 $$complete b', '1#1 $$active a'],
    ['0#1 $$skipped', '1#1 $$complete a'],
    {},
    ['0#1 $$complete b', '1#1 $$complete a'],
  ],
  [
    'the end of a child job ends the wait for it',
    [attempt('0#1 $$waiting', { child: 'c' })],
    ['0#1 $$complete', '1#1 $$complete a'],
    {},
    ['0#1 $$complete', '1#1 $$complete a'],
  ],
  [
    'a second completion is told',
    ['0#1 $$complete b'],
    ['0#1 $$complete a'],
    {},
    ['0#1 $$complete b', '0#1 $$complete a'],
  ],
  [
    'a failure beside a step that is done is noted',
    ['0#1 $$complete b'],
    ['0#1 $$error a'],
    {},
    ['0#1 $$complete b'],
  ],
  ['a claim that was taken back unbegun is nothing', [], [takenBack('0#1 $$cancelled a')], {}, []],
];

describe.each([
  ['of claims', claims],
  ['of rivals', rivals],
  ['of ends', ends],
] as const)('M1, M2, M3: what is carried %s:', (_group, cases) => {
  it.each(cases)('%s', (_title, winner, loser, of, expected) => {
    const next = mergeRevision(leaf('3-b', winner), leaf('3-a', loser), liveness(of));
    expect(next && told(next)).toEqual(expected);
    if (next !== undefined) expect(next._rev).toBe('3-b');
  });
});

describe('a final winner', () => {
  const final = { state: '$$complete', exit: 0 };
  const winner = leaf('9-b', ['0#1 $$complete b'], final);
  const carried = (loser: LeafRevision, of = {}): LeafRevision | undefined =>
    mergeRevision(winner, loser, liveness(of));

  it('takes in what ended elsewhere, and stays as it is', () => {
    const loser = leaf('8-a', ['0#1 $$complete b', '0#2 $$error a', '1#1 $$ready c'], {
      cancel: true,
    });
    const next = carried(loser) as LeafRevision;
    expect(told(next)).toEqual(['0#1 $$complete b', '0#2 $$error a']);
    expect(next).toMatchObject(final);
    expect(next).not.toHaveProperty('cancel');
  });

  it('takes in an outcome in place of a loss, and nothing twice', () => {
    const called = leaf('9-b', [lost('0#1 $$error a')], final);
    const loser = leaf('8-a', ['0#1 $$complete a']);
    const next = mergeRevision(called, loser, liveness({})) as LeafRevision;
    expect(told(next)).toEqual(['0#1 $$error a', '0#1 $$complete a']);
    expect(mergeRevision(next, loser, liveness({}))).toBe(next);
  });

  it('takes over large results with the attempts that have them', () => {
    const name = 'result-1-1.json';
    const step = { ...attempt('1#1 $$complete a'), result: { $attachment: name, bytes: 70_000 } };
    const loser = { ...leaf('8-a', ['0#1 $$complete b', step]), _attachments: { [name]: {} } };
    const borrowed = { [name]: { from: '8-a' } };
    expect(carried(loser)).toMatchObject({ _attachments: borrowed });
    const open = leaf('9-b', ['0#1 $$complete b']);
    expect(mergeRevision(open, loser, liveness({}))).toMatchObject({ _attachments: borrowed });
  });

  it('waits for attempts that still run', () => {
    const loser = leaf('8-a', ['0#2 $$active a']);
    expect(carried(loser)).toBeUndefined();
    expect(carried(loser, runs)).toBeUndefined();
    expect(carried(loser, dead)).toBe(winner);
    expect(carried(loser, givenUp)).toBe(winner);
    expect(carried(leaf('8-a', ['0#1 $$active b', '1#1 $$ready c', '2#1 $$skipped']))).toBe(winner);
  });
});

describe('the rest of the job', () => {
  it('is the winner’s where nothing is carried', () => {
    const winner = leaf('3-b', ['0#1 $$active a']);
    expect(mergeRevision(winner, leaf('3-a', ['0#1 $$active a']), liveness({}))).toBe(winner);
    const fresh = { _id: 'j', _rev: '2-b', type: 'job', flow: 'f' };
    expect(mergeRevision(fresh, { ...fresh, _rev: '2-a' }, liveness({}))).toBe(fresh);
  });

  it('tells where the job is, and sleeps no more', () => {
    const winner = leaf('3-b', [], { next_due: 7, note: 1, held_ms: 5 });
    const next = mergeRevision(
      winner,
      leaf('3-a', ['2#1 $$active a'], { note: 2 }),
      liveness(runs),
    );
    expect(next).toMatchObject({ state: 't2-2', run: 1, held_ms: 5, note: 1 });
    expect(next).not.toHaveProperty('next_due');
  });

  it('stays paused', () => {
    const winner = leaf('3-b', [], { state: '$$paused', held_since: 3 });
    const next = mergeRevision(winner, leaf('3-a', ['0#1 $$active a']), liveness(runs));
    expect(next).toMatchObject({ state: '$$paused', held_since: 3 });
  });

  it('is in the later run', () => {
    const winner = leaf('3-b', [], { resume_at: 4 });
    const loser = leaf('3-a', ['0#1 $$active a'], { run: 2, resume_at: 8, held_ms: 6 });
    expect(mergeRevision(winner, loser, liveness(runs))).toMatchObject({
      run: 2,
      resume_at: 8,
      held_ms: 6,
    });
  });

  it('is the losing one’s when nobody has begun the winner', () => {
    const winner = { _id: 'j', _rev: '3-b', type: 'job', flow: 'f', cancel: true };
    const loser = leaf('3-a', ['0#1 $$active a'], { _attachments: { x: {} }, definitions: {} });
    const next = mergeRevision(winner, loser, liveness(runs));
    expect(next).toMatchObject({ _rev: '3-b', state: 't0-0', definitions: {}, cancel: true });
    expect(next).not.toHaveProperty('_attachments');
    const attached = { ...winner, _attachments: { y: { stub: true } } };
    expect(mergeRevision(attached, loser, liveness(runs))).toMatchObject({
      _attachments: { y: { stub: true } },
    });
  });

  it('takes a failed step that somebody has written without a failure for ended', () => {
    const { failure: _failure, ...spoilt } = attempt('0#1 $$error a') as FailedStep;
    const next = mergeRevision(
      leaf('3-b', ['0#1 $$active a']),
      leaf('3-a', [spoilt as Step]),
      liveness({}),
    );
    expect(told(next as LeafRevision)).toEqual(['0#1 $$error a']);
  });

  it('names the engine that is lost, and when the step may begin again', () => {
    const winner = leaf('3-b', ['0#1 $$active b']);
    const next = mergeRevision(
      winner,
      leaf('3-a', ['0#2 $$complete a']),
      liveness({ b: 'lost' }),
    ) as LeafRevision;
    expect(stepOf(next, 'b')).toMatchObject({
      exit: 4,
      end: 5,
      due: 5,
      failure: { name: 'EngineLost', step: 's0' },
    });
  });
});

describe('M5: a step that waits for a job of its own', () => {
  const spawn = (text: string, more = {}): Step =>
    attempt(text, { child: 'c', accepted: 3, start: 4, ...more });
  const { start: _start, ...unmade } = spawn('0#1 $$waiting') as Step & { readonly start?: number };
  const made = spawn('0#1 $$waiting');
  const nobody = liveness({});
  const carried = (winner: Steps, loser: Steps, more = {}): LeafRevision | undefined =>
    mergeRevision(
      leaf('4-b', winner, { start: 1, ...more }),
      leaf('3-a', loser, { start: 2 }),
      nobody,
    );

  it('is carried with the start of its job once the job may have been made', () => {
    expect(carried([], [made])).toMatchObject({ start: 2, steps: [made], state: 't0-0' });
    expect(carried([unmade as Step], [made])).toMatchObject({ start: 2, steps: [made] });
  });

  it('is fenced when nobody has made the job', () => {
    expect(carried([], [unmade as Step])).toMatchObject({ start: 1, steps: [] });
    expect(carried([made], [unmade as Step])).toMatchObject({ start: 1, steps: [made] });
  });

  const ended = { path: '0', state: '$$cancelled', child: 'c', end: 4, exit: 130 };
  const what = 'Attempt 1 of step s0 made job c as well.';
  const why = 'The step does not need that job, which is cancelled unless it has ended.';
  const problems = [{ path: 'steps', message: `${what} ${why}` }];
  const done = spawn('0#1 $$complete');
  const failed = spawn('0#1 $$error');
  const renamed = spawn('0#1 $$waiting', { child: 'c:1' });

  it('is what the winner says when both tell of it', () => {
    expect(carried([done], [made])).toMatchObject({ start: 1, steps: [done] });
    expect(carried([made], [made])).toMatchObject({ start: 1, steps: [made] });
  });

  it('is carried with its end and the start of its job', () => {
    expect(carried([], [done])).toMatchObject({ start: 2, steps: [done], state: 't0-0' });
    expect(carried([unmade as Step], [done])).toMatchObject({ start: 2, steps: [done] });
    expect(carried([unmade as Step], [failed])).toMatchObject({ start: 2, steps: [failed] });
    expect(carried([made], [done])).toMatchObject({ start: 1, steps: [done] });
  });

  it('is not needed where the winner waits for another job', () => {
    expect(carried([renamed], [made])).toMatchObject({ start: 1, steps: [renamed], problems });
  });

  it('takes the place of one that waits for another job when it has ended', () => {
    const given = { ...ended, child: 'c:1' };
    expect(carried([renamed], [done])).toMatchObject({ start: 1, steps: [given, done] });
    expect(carried([renamed], [failed])).toMatchObject({ start: 1, steps: [given, failed] });
  });

  it('M1, M6: leaves everything that has ended in the winner where it is', () => {
    const after = attempt('1#1 $$complete x');
    const given = { ...ended, child: 'c:1' };
    expect(carried([renamed, after], [done])).toMatchObject({ steps: [given, after, done] });
    expect(carried([renamed, after], [made])).toMatchObject({ steps: [renamed, after], problems });
  });

  it('M6: ends what the winner waits for at its path in another run', () => {
    const early = { ...unmade, run: 1, accepted: 3 } as Step;
    const late = { ...made, run: 2 } as Step;
    const given = { ...early, state: '$$cancelled', end: 3, exit: 130 };
    expect(carried([early], [late])).toMatchObject({ steps: [given, late] });
    const wait = attempt('0#1 $$waiting', { signal: 'go' });
    expect(carried([wait], [late])?.['steps']).toMatchObject([{ state: '$$cancelled' }, late]);
    expect(carried([{ ...late, child: 'c:1' }], [{ ...made, run: 1 }])).toMatchObject({
      steps: [{ child: 'c:1', state: '$$waiting' }],
      problems,
    });
  });

  it('is known by both starts when both leaves may have had it made', () => {
    expect(carried([made], [made])).toMatchObject({ start: 1, steps: [made], also_started: [2] });
    expect(carried([made], [made], { also_started: [0, 2] })).toMatchObject({
      also_started: [0, 2],
    });
    expect(carried([made], [done], { also_started: [0] })).toMatchObject({ also_started: [0, 2] });
    const early = leaf('3-a', [made], { start: 3, also_started: [2] });
    const winner = leaf('4-b', [made], { start: 1, also_started: [3] });
    expect(mergeRevision(winner, early, nobody)).toMatchObject({ also_started: [2, 3] });
    const text = leaf('3-a', [made], { start: '2026-01-01T00:00:00Z' });
    expect(mergeRevision(winner, text, nobody)).toMatchObject({ also_started: [3] });
    expect(carried([], [made])).not.toHaveProperty('also_started');
    expect(carried([made], ['1#1 $$complete x'])).not.toHaveProperty('also_started');
  });

  it('leaves a wait open beside an attempt that failed without one', () => {
    const failed = attempt('0#1 $$error b');
    const wait = attempt('0#1 $$waiting c');
    expect(carried([wait], [failed])?.['steps']).toMatchObject([wait, failed]);
  });

  it('is told once, however often it is met', () => {
    const once = carried([renamed], [made]) as LeafRevision;
    const again = mergeRevision(once, leaf('3-a', [made], { start: 2 }), nobody);
    expect(again?.['problems']).toEqual(once['problems']);
  });

  it('is told beside what the winner has completed', () => {
    const other = spawn('0#1 $$complete', { child: 'c:1' });
    expect(carried([other], [done])).toMatchObject({ steps: [other, done] });
    expect(carried([other], [failed])).toMatchObject({ steps: [other], problems });
    const over = { state: '$$complete', end: 9 };
    expect(carried([other], [done], over)).toMatchObject({ steps: [other, done] });
    expect(carried([other], [failed], over)).toMatchObject({ steps: [other], problems });
  });

  it('follows one that was believed lost', () => {
    const gone = { ...renamed, ...lost('0#1 $$error'), child: 'c:1' } as Step;
    const given = { ...made, ...lost('0#1 $$error') };
    expect(carried([gone], [done])).toMatchObject({ steps: [gone, done] });
    expect(carried([renamed], [given])).toMatchObject({ steps: [renamed], problems });
  });

  it('keeps the start of the winner when jobs were made for that', () => {
    const other = spawn('1#1 $$waiting', { child: 'd' });
    expect(carried([other], [made])).toMatchObject({ start: 1, steps: [other, made] });
  });

  it('ends where it is not needed any more', () => {
    const skipped = attempt('0#1 $$skipped', { attempt: 2 });
    expect(carried([skipped], [made])).toMatchObject({ steps: [skipped], problems });
    const over = { state: '$$cancelled', end: 9 };
    expect(carried([], [made], over)).toMatchObject({ steps: [], problems });
    const told = spawn('0#1 $$cancelled');
    expect(carried([told], [made], over)?.['steps']).toEqual([told]);
  });
});

it('F8: a flow that a losing leaf has finished ends, and begins nothing more', () => {
  const told = story({
    steps: [{ parallel: ['a', ['b', { finish: { result: 1 } }]] }, 'c'],
    world: { freeSlots: 2 },
  });
  told.go();
  told.did('a');
  const before = told.job;
  const winner = { ...before, _rev: '4-b', data: 1 } as unknown as LeafRevision;
  told.did('b');
  const loser = { ...told.job, _rev: '4-a' } as unknown as LeafRevision;
  const merged = mergeRevision(winner, loser, liveness({})) as unknown as Record<string, unknown>;
  told.write(merged).go();
  expect(told.ending).toEqual(endings.well);
  expect(told.job).toMatchObject({ result: 1 });
  expect(told.trail.join()).not.toContain('c#1');
});
