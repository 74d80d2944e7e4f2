import { describe, expect, it } from 'vitest';
import type { Blockers, LockAnswer } from '../../../src/decide/world.js';
import { mayLock } from '../../../src/decide/compete/locks.js';
import { peer, t0, task } from '../../support/builders.js';
import { story, type Setting } from '../story.js';

const params = { 'a-0': { x: 1 } };
const targetId = 'lock:["target",{"owner":"DEFAULT"},"db",{"a-0":{"x":1}}]';
const formerId = 'lock:["target","db",{"a-0":{"x":1}}]';
const patternId = 'lock:["pattern","j"]';
const taken = { kind: 'taken', by: 'other' } as const;
const unknown: LockAnswer = { kind: 'unknown' };

const locker = (setting: Partial<Setting> = {}) =>
  story({ steps: ['a'], job: { target: 'db', locks: '^db', params }, ...setting });

describe('a job with a target and locks', () => {
  it('L2, L4: takes its locks one after the other, then asks for the patterns of others, before it begins', () => {
    const told = locker({ world: { locks: { [targetId]: unknown } } });
    expect(told.decide()).toMatchObject({
      kind: 'acquire',
      rule: 'begin',
      locks: [{ kind: 'target', id: targetId, formerId, key: 'db', scope: 'owner' }],
    });
    told.with({ locks: { [patternId]: unknown } });
    expect(told.decide()).toMatchObject({
      kind: 'acquire',
      locks: [{ kind: 'pattern', id: patternId, key: '^db', scope: 'owner' }],
    });
    told.with({ locks: {}, blockers: { db: { kind: 'unknown' } } });
    expect(told.decide()).toMatchObject({ kind: 'look_up', targets: ['db'] });
    told.with({ blockers: {} });
    expect(told.go()).toMatchObject({
      kind: 'claim',
      job: { locked: { target: targetId, pattern: patternId } },
    });
  });

  it('needs them to begin at all: one that waits for a slot has them, too', () => {
    const told = locker({ world: { freeSlots: 0 } });
    expect(told.decide()).toMatchObject({
      kind: 'write',
      job: { state: '$$ready', locked: { target: targetId, pattern: patternId } },
    });
    expect(story({ steps: ['a'], world: { freeSlots: 0 } }).decide().kind).toBe('wait');
  });

  it.each([
    [
      'the same parameters in another order',
      { 'a-0': { y: 1, x: 2 } },
      { 'a-0': { x: 2, y: 1 } },
      true,
    ],
    ['no parameters and empty ones', undefined, {}, true],
    ['other parameters', { 'a-0': { x: 1 } }, { 'a-0': { x: 2 } }, false],
  ])('has the lock of %s, compared with another one: %j %j %s', (_title, one, other, same) => {
    const idOf = (given: Record<string, unknown> | undefined): unknown => {
      const told = story({
        steps: ['a'],
        job: { target: 'db', ...(given === undefined ? {} : { params: given }) },
      });
      told.go();
      return told.liveJob.locked?.target;
    };
    expect(idOf(one) === idOf(other)).toBe(same);
  });

  it.each([
    ['nothing', {}],
    ['empty texts', { target: '', locks: '' }],
  ])('asks for nothing when it has %s', (_title, job) => {
    const told = story({ steps: ['a'], job, world: { locks: { [targetId]: taken } } });
    expect(told.go().kind).toBe('claim');
    expect(told.job).not.toHaveProperty('locked');
    expect(mayLock(told.liveJob)).toBe(false);
  });

  it('asks for locks of the whole database where it says so', () => {
    const scope = 'database' as const;
    const job = { target: { name: 'db', scope }, locks: { pattern: '^db', scope }, params };
    const id = 'lock:["target",{"scope":"database"},"db",{"a-0":{"x":1}}]';
    const told = story({ steps: ['a'], job, world: { locks: { [id]: unknown } } });
    expect(told.decide()).toMatchObject({ locks: [{ kind: 'target', id, key: 'db', scope }] });
    told.with({ locks: { [patternId]: unknown } });
    expect(told.decide()).toMatchObject({ locks: [{ kind: 'pattern', key: '^db', scope }] });
    told.with({ locks: {} }).go();
    expect(told.job).toMatchObject({ locked: { target: id, pattern: patternId } });
  });

  it('asks for locks only when the job can begin', () => {
    const told = locker({ steps: ['a'], tasks: [], flow: { enabled: false } });
    told.with({ locks: { [targetId]: unknown } }).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'FlowDisabled' });
  });

  it.each([
    ['job other', {}],
    ['a job of another owner', { foreign: true as const }],
  ])('waits while %s, which has not begun, may get the same lock', (who, more) => {
    const told = locker({
      world: { locks: { [targetId]: { ...taken, kind: 'contested', ...more } } },
    });
    expect(told.go()).toMatchObject({
      kind: 'wait',
      because: expect.stringMatching(new RegExp(`^${who}, which has not begun`, 'i')) as string,
      until: told.now + 200,
    });
    expect(told.with({ locks: {} }).go().kind).toBe('claim');
  });

  it('forgets locks that a copy of another job brings', () => {
    const told = locker({ job: { locked: { target: 'lock:old' }, relock: true } });
    expect(told.go()).toMatchObject({ kind: 'claim' });
    expect(told.job).not.toHaveProperty('locked');
    expect(told.job).not.toHaveProperty('relock');
  });
});

describe('a job that is refused', () => {
  const cases: readonly [string, Setting['world'], number, string, RegExp, object][] = [
    [
      'its target is taken',
      { locks: { [targetId]: taken } },
      5,
      'TargetTaken',
      /^Job other with the same target "db" and the same parameters has not ended/,
      {},
    ],
    [
      'its target is locked',
      { blockers: { db: { kind: 'known', all: [{ job: 'other', at: 1, decided: true }] } } },
      5,
      'TargetLocked',
      /^Job target is currently locked by job other/,
      { target: targetId, pattern: patternId },
    ],
    [
      'its target is taken by a job of another owner',
      { locks: { [targetId]: { ...taken, foreign: true } } },
      5,
      'TargetTaken',
      /^A job of another owner with the same target "db"/,
      {},
    ],
    [
      'its target is locked by a job of another owner',
      {
        blockers: {
          db: { kind: 'known', all: [{ job: 'other', at: 1, decided: true, foreign: true }] },
        },
      },
      5,
      'TargetLocked',
      /^Job target is currently locked by a job of another owner/,
      { target: targetId, pattern: patternId },
    ],
    [
      'its pattern is none',
      { locks: { [patternId]: { kind: 'invalid', reason: 'missing )' } } },
      3,
      'LocksInvalid',
      /"locks" of the job are no regular expression that RE2 knows: missing \)\.$/,
      { target: targetId },
    ],
    [
      'the store refuses its lock',
      { locks: { [targetId]: { kind: 'refused', reason: 'It is full.' } } },
      3,
      'StoreRefused',
      /It is full\.$/,
      {},
    ],
  ];
  it.each(cases)(
    'ends because %s, with what it has to give back',
    (_title, around, exit, name, message, locked) => {
      const told = locker();
      if (around !== undefined) told.with(around);
      expect(told.go().kind).toBe('write');
      expect(told.job).toMatchObject({
        state: '$$complete',
        exit,
        steps: [],
        failure: { name, message: expect.stringMatching(message) as string },
      });
      expect((told.job as { locked?: unknown }).locked ?? {}).toEqual(locked);
    },
  );
});

describe('L3: two jobs whose patterns match each other while neither has begun', () => {
  const blockers = (at: number, decided: boolean, own?: number, job = 'k'): Blockers => ({
    kind: 'known',
    ...(own === undefined ? {} : { own }),
    all: [{ job, at, decided }],
  });
  it.each([
    ['the one that was stored first', blockers(1, false, 2)],
    ['of two stored at the same time, the one whose id comes first', blockers(2, false, 2, 'i')],
    ['the one that has begun', blockers(3, true, 2)],
  ])('are decided for %s', (_title, found) => {
    const told = locker({ world: { blockers: { db: found } } });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 5, failure: 'TargetLocked' });
  });

  it.each([
    ['comes first', blockers(3, false, 2)],
    ['was stored at the same time and has the smaller id', blockers(2, false, 2)],
    ['has no pattern itself, so that nobody waits for it', blockers(1, false)],
  ])('wait for the other where this one %s', (_title, found) => {
    const told = locker({ world: { blockers: { db: found } } });
    expect(told.decide()).toEqual({
      rule: 'begin',
      kind: 'wait',
      because: 'Job k, whose "locks" match the target, has not begun yet.',
      until: t0 + 200,
    });
    expect(told.with({ blockers: {} }).go().kind).toBe('claim');
  });
});

describe('engines that could all take a lock', () => {
  it('ask for it one after the other', () => {
    const ids = ['e0', 'e1', 'e2'];
    const kinds = ids.map((id) => {
      const peers = ids.filter((other) => other !== id).map((other) => peer(['a'], [], other));
      const told = locker({
        world: { id, peers, seenAt: t0, locks: { [targetId]: unknown } },
      });
      return told.decide().kind;
    });
    expect(kinds.toSorted()).toEqual(['acquire', 'wait', 'wait']);
  });
});

describe('a job that is retried', () => {
  const failed = (job: Record<string, unknown> = {}) => {
    const told = locker({ job: { target: 'db', locks: '^db', params, ...job } });
    told.go();
    told.fail();
    expect(told.ending).toMatchObject({ exit: 2 });
    return told.edit({ retry: true });
  };
  it('takes its locks again before it goes on, the same ones', () => {
    const told = failed();
    told.with({ locks: { [targetId]: unknown } });
    expect(told.go()).toMatchObject({ kind: 'write', job: { relock: true } });
    expect(told.decide()).toMatchObject({ kind: 'acquire', locks: [{ id: targetId }] });
    told.with({ locks: {} });
    expect(told.go().kind).toBe('claim');
    expect(told.job).toMatchObject({ locked: { target: targetId, pattern: patternId } });
    expect(told.job).not.toHaveProperty('relock');
  });

  it('ends again when somebody has its target meanwhile, and may be retried later', () => {
    const told = failed();
    told.with({ locks: { [targetId]: taken } }).go();
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 5, failure: 'TargetTaken' });
    expect(told.job).toMatchObject({ locked: { target: targetId, pattern: patternId } });
    expect(told.job).not.toHaveProperty('relock');
    told.with({ locks: {} }).edit({ retry: true }).go();
    expect(told.go().kind).toBe('claim');
  });

  it('ends as cancelled before it asks for them', () => {
    const told = failed();
    told.with({ locks: { [targetId]: taken } }).go();
    told.edit({ cancel: true }).go();
    expect(told.ending).toMatchObject({ state: '$$cancelled' });
    expect(told.job).not.toHaveProperty('relock');
  });

  it('asks for none when it has none', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.fail();
    told.edit({ retry: true }).go();
    expect(told.job).not.toHaveProperty('relock');
  });

  it('begins from nothing when it was refused before it began', () => {
    const told = locker({ world: { locks: { [targetId]: taken } } });
    told.go();
    told.with({ locks: {} }).edit({ retry: true }).go();
    expect(told.go()).toMatchObject({ kind: 'claim', job: { locked: { target: targetId } } });
  });
});

describe('a job that goes on as a new one', () => {
  it('hands its locks, its queue and its priority on to it', () => {
    const told = story({
      steps: [{ decider: 'd' }],
      tasks: [task('d')],
      job: { target: 'db', locks: '^db', queue: 'default', priority: 3, params },
    });
    told.with({ plugins: ['d'] }).go();
    told.done([{ continue_as_new: { n: 2 } }]);
    expect(told.children).toMatchObject([
      {
        _id: 'j~2',
        continued_from: 'j',
        target: 'db',
        locks: '^db',
        locked: { target: targetId, pattern: patternId },
        queue: 'default',
        priority: 3,
      },
    ]);
  });

  it('runs as the version of its flow that the first one asked for', () => {
    const told = story({ steps: [{ decider: 'd' }], tasks: [task('d')] });
    told.with({ plugins: ['d'] }).go();
    told.edit({ flow_version: '2', flow_pinned: true });
    told.done([{ continue_as_new: { n: 2 } }]);
    expect(told.children).toMatchObject([{ _id: 'j~2', flow_version: '2' }]);
  });

  it('asks for the locks of the job that it continues', () => {
    const inherited = { target: 'lock:of-the-first', pattern: 'lock:of-the-pattern', odd: 7 };
    const told = locker({
      job: { target: 'db', locks: '^db', params, continued_from: 'i', locked: inherited },
      world: { locks: { 'lock:of-the-pattern': unknown } },
    });
    expect(told.decide()).toMatchObject({ locks: [{ id: 'lock:of-the-pattern' }] });
    told.with({ locks: {} }).go();
    expect(told.job).toMatchObject({
      locked: { target: 'lock:of-the-first', pattern: 'lock:of-the-pattern' },
    });
  });

  it('asks for its own when what it was given is none', () => {
    const told = locker({
      job: { target: 'db', params, continued_from: 'i', locked: { target: 5 } },
    });
    told.go();
    expect(told.liveJob.locked).toEqual({ target: targetId });
  });
});
