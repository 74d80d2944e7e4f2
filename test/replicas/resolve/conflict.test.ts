import { describe, expect, it } from 'vitest';
import { readConsistent } from '../../../src/replicas/resolve/consistent-read.js';
import { resolveConflict, planResolution } from '../../../src/replicas/resolve/conflict.js';
import { winnerFirst, type LeafRevision } from '../../../src/replicas/resolve/leaf-revisions.js';
import { attempt, play, liveness, leaf, told } from './leaves.js';
import type { Step } from '../../../src/model/step.js';

const winner = leaf('4-b', ['0#1 $$active a']);
const loser = leaf('3-a', ['0#1 $$complete a']);
const nobody = liveness({});

describe('planResolution', () => {
  it('leaves alone what is not in conflict', () => {
    expect(planResolution([], nobody)).toBeUndefined();
    expect(planResolution([winner], nobody)).toBeUndefined();
  });

  it('brings all losing leaves into the winner, one after the other', () => {
    const other = leaf('2-c', ['0#1 $$active a', '1#1 $$complete c']);
    const resolution = planResolution([winner, loser, other], nobody);
    expect(resolution?.next && told(resolution.next)).toEqual([
      '0#1 $$complete a',
      '1#1 $$complete c',
    ]);
    expect(resolution?.drop).toEqual([loser, other]);
  });

  it('H2: is the same for every engine, in whatever order it reads the losing leaves', () => {
    const other = leaf('2-c', ['0#1 $$active a', '1#1 $$complete c']);
    const third = leaf('2-d', ['1#1 $$error d']);
    const one = planResolution(winnerFirst([third, other, loser, winner]), nobody);
    const two = planResolution(winnerFirst([loser, winner, third, other]), nobody);
    expect(one?.next).toBeDefined();
    expect(two).toEqual(one);
  });

  it('keeps a leaf with an attempt that may run elsewhere', () => {
    const busy = leaf('3-a', ['0#1 $$active b']);
    expect(planResolution([winner, busy], liveness({ a: 'runs' }))).toBeUndefined();
    expect(planResolution([winner, busy, loser], liveness({ a: 'runs' }))?.drop).toEqual([loser]);
  });

  it('takes claims of this engine that were given up out of the way of such a leaf', () => {
    const busy = leaf('3-a', ['0#1 $$active b']);
    const resolution = planResolution([winner, busy], liveness({ a: 'given_up' }));
    expect(resolution?.next && told(resolution.next)).toEqual(['0#1 $$cancelled a']);
    expect(resolution?.drop).toEqual([]);
  });
});

describe('healing', () => {
  it('H1: writes the winner first, then deletes the losing leaf, then looks again', () => {
    const { result, writes } = play(resolveConflict('j', nobody), [[winner, loser], [winner]]);
    expect(result).toEqual([winner]);
    expect(writes.map(({ _rev, _deleted }) => [_rev, _deleted])).toEqual([
      ['4-b', undefined],
      ['3-a', true],
    ]);
  });

  it.each(['unknown', 'conflict'] as const)(
    'deletes nothing when the write of the winner is %s',
    (kind) => {
      const { result, writes, rests } = play(
        resolveConflict('j', nobody),
        [[winner, loser], [winner]],
        [kind],
      );
      expect([writes.length, rests]).toEqual([1, 1]);
      expect(result).toEqual([winner]);
    },
  );

  it('gives up after some tries', () => {
    const { result, looks } = play(resolveConflict('j', nobody), [[winner, loser]]);
    expect(result).toEqual([winner, loser]);
    expect(looks).toBe(4);
  });

  it('leaves what the database refuses to mend', () => {
    const { result, looks } = play(resolveConflict('j', nobody), [[winner, loser]], ['refused']);
    expect(result).toEqual([winner, loser]);
    expect(looks).toBe(1);
  });

  it('ends with the engine', () => {
    expect(play(resolveConflict('j', nobody), [undefined]).result).toBeUndefined();
    expect(play(resolveConflict('j', nobody), [[winner, loser], undefined]).result).toBeUndefined();
  });
});

describe('what all copies agree on', () => {
  it('is the winner', () => {
    expect(play(readConsistent('j', [], nobody), [[winner]]).result).toEqual({
      leaf: winner,
      conflict: false,
    });
    expect(play(readConsistent('j', ['x'], nobody), [[]]).result).toEqual({
      leaf: undefined,
      conflict: false,
    });
    expect(play(readConsistent('j', [], nobody), [undefined]).result).toBeUndefined();
  });

  const rival = leaf('4-b', ['0#1 $$active b']);
  const mine = leaf('3-a', ['0#1 $$active a']);

  it('is waited for while an attempt that runs here cannot be brought into it', () => {
    const after = leaf('5-b', ['0#1 $$cancelled b', '0#2 $$active a']);
    const { result, rests } = play(readConsistent('j', ['a'], liveness({ a: 'runs' })), [
      [rival, mine],
      [rival, mine],
      [after],
    ]);
    expect(result).toEqual({ leaf: after, conflict: false });
    expect(rests).toBe(2);
  });

  it('is not waited for without end', () => {
    const { result, rests } = play(readConsistent('j', ['a'], liveness({ a: 'runs' })), [
      [rival, mine],
    ]);
    expect(result).toEqual({ leaf: rival, conflict: true });
    expect(rests).toBe(8);
  });

  it.each([
    ['has it', leaf('4-b', ['0#1 $$active a'])],
    ['is final', leaf('4-b', ['0#1 $$active b'], { state: '$$complete' })],
    ['has done the step', leaf('4-b', ['0#1 $$complete b', '1#1 $$active c'])],
  ])('is not waited for when the winner %s', (_title, first) => {
    const { rests } = play(readConsistent('j', ['a', 'x'], liveness({ a: 'runs' })), [
      [first, mine],
    ]);
    expect(rests).toBe(0);
  });
});

describe('the children of a leaf that is dropped', () => {
  const made = attempt('0#1 $$waiting', { child: 'c', start: 4 });
  const parent = leaf('3-a', [made]);
  const over = leaf('4-b', [], { state: '$$cancelled', end: 9 });

  it('H3: are asked to cancel before it is, when nobody waits for them any more', () => {
    const { abandoned, writes } = play(resolveConflict('j', nobody), [[over, parent], [over]]);
    expect(abandoned).toEqual(['c']);
    expect(writes.map(({ _deleted }) => _deleted)).toEqual([undefined, true]);
  });

  it('H3: are named in the winner when they cannot be cancelled', () => {
    const untold = [{ child: 'c', step: '0', id: 'request:c:parent:1', because: 'forbidden' }];
    const { writes } = play(resolveConflict('j', nobody), [[over, parent], [over]], [], untold);
    const refused = 'Child job c cannot be cancelled and may go on: forbidden';
    expect(writes).toMatchObject([
      { _rev: '4-b' },
      { _rev: '51-new', requests: [{ id: 'request:c:parent:1', at: 4, refused }] },
      { _rev: '3-a', _deleted: true },
    ]);
  });

  it('are left alone as long as the winner waits for them', () => {
    const again = attempt('0#2 $$waiting', { child: 'c', start: 4 });
    const gone = attempt('0#1 $$cancelled', { child: 'c' });
    const orphans = (steps: readonly Step[]) =>
      planResolution([leaf('4-b', steps, { start: 2 }), { ...parent, start: 1 }], nobody)?.orphans;
    expect(orphans([])).toEqual([]);
    expect(orphans([gone, again])).toEqual([]);
    expect(orphans([gone])).toMatchObject([
      { child: 'c', attempt: 1, run: 1, instead: { _id: 'c', parent: { job: 'j', start: 1 } } },
    ]);
  });

  it('are those that the winner waited for in an earlier run only', () => {
    const failed = attempt('0#1 $$error', { child: 'c', start: 4 });
    const again = attempt('0#2 $$waiting', { child: 'c', child_run: 2, start: 8 });
    const final = leaf('4-b', [failed], { state: '$$complete', end: 9 });
    expect(planResolution([final, leaf('3-a', [failed, again])], nobody)?.orphans).toMatchObject([
      { child: 'c', run: 2 },
    ]);
  });

  it('are those of the winner when the end of another one takes its place', () => {
    const done = attempt('0#1 $$complete', { child: 'c', start: 4 });
    const other = attempt('0#1 $$waiting', { child: 'c:1', start: 5 });
    expect(
      planResolution([leaf('4-b', [other]), leaf('3-a', [done])], nobody)?.orphans,
    ).toMatchObject([{ child: 'c:1' }]);
  });

  describe('and one that goes on in one leaf only', () => {
    const parentOf = { parent: { job: 'p', step: '0', start: 4 } };
    const ended = leaf('3-a', ['0#1 $$error a'], { ...parentOf, state: '$$complete', exit: 2 });
    const goesOn = leaf('4-b', ['0#1 $$error a'], { ...parentOf, run: 2 });
    const above = (state: string) =>
      leaf('9-p', [attempt(`0#2 ${state}`, { child: 'j' })], { _id: 'p', start: 4 });
    const askedBy = (parents: readonly LeafRevision[] | undefined) =>
      play(resolveConflict('j', nobody), [[goesOn, ended], parents, [goesOn]]).abandoned;

    it('H4: is given up when its parent does not wait for it', () => {
      expect(askedBy([above('$$cancelled')])).toEqual(['j']);
      expect(askedBy([above('$$waiting')])).toEqual([]);
      expect(askedBy([above('$$cancelled'), above('$$waiting')])).toEqual([]);
    });

    it('is left alone when the parent waits for the job that it goes on from', () => {
      const [one, other] = [goesOn, ended].map((of) => ({ ...of, continued_from: 'i' }));
      const leaves = [one, other] as readonly LeafRevision[];
      const first = leaf('9-p', [attempt('0#1 $$waiting', { child: 'i' })], { _id: 'p', start: 4 });
      expect(play(resolveConflict('j', nobody), [leaves, [first], [goesOn]]).abandoned).toEqual([]);
    });

    it('is left alone when a user had it go on, or its step failed with it', () => {
      const asked = { ...goesOn, requests: [{ id: 'r1', action: 'retry', at: 3 }] };
      const given = [above('$$cancelled')];
      expect(
        play(resolveConflict('j', nobody), [[asked, ended], given, [asked]]).abandoned,
      ).toEqual([]);
      const wished = { ...goesOn, requests: [{ id: 'retry:1', action: 'retry', at: 3 }] };
      expect(
        play(resolveConflict('j', nobody), [[wished, ended], given, [wished]]).abandoned,
      ).toEqual(['j']);
      expect(askedBy([above('$$error')])).toEqual([]);
    });

    it('is given up also when it refused a retry that a user asked for', () => {
      const refused = 'Job j has not ended; only a job that has ended can be retried.';
      const requests = [{ id: 'r1', action: 'retry', at: 3, refused }, null];
      const asked = { ...goesOn, requests };
      const looks = [[asked, ended], [above('$$cancelled')], [asked]];
      expect(play(resolveConflict('j', nobody), looks).abandoned).toEqual(['j']);
    });

    it('is left alone when its parent is gone, or another job', () => {
      expect(askedBy([])).toEqual([]);
      expect(askedBy(undefined)).toEqual([]);
      expect(askedBy([{ ...above('$$cancelled'), start: 5 }])).toEqual([]);
    });
  });

  it('are not asked when the winner could not be written', () => {
    const unknown = ['unknown', 'unknown', 'unknown'] as const;
    expect(play(resolveConflict('j', nobody), [[over, parent]], unknown).abandoned).toEqual([]);
  });
});
