import { describe, expect, it } from 'vitest';
import {
  firstInLine,
  goesOn,
  headStart,
  hasNoShare,
  slotsFor,
  withTaken,
  type Claimant,
  type SlotUse,
} from '../../../src/decide/compete/fair-share.js';
import { partyOf } from '../../../src/reading/entries.js';

/** A job of owner `a`, in the order of their names. */
const job = (id: string, more: Partial<Claimant> = {}): Claimant => ({
  ...{ id, owner: 'a', root: id, priority: 500, begun: false },
  since: id.charCodeAt(0),
  ...more,
});

type Use = {
  readonly owners?: Readonly<Record<string, number>>;
  readonly roots?: Readonly<Record<string, number>>;
  readonly had?: Readonly<Record<string, number>>;
  readonly last?: Readonly<Record<string, number>>;
};

const use = ({ owners = {}, roots = {}, had = {}, last = {} }: Use = {}): SlotUse => ({
  ofOwner: new Map(Object.entries(owners)),
  ofRoot: new Map(Object.entries(roots)),
  had: (root) => had[root] ?? 0,
  lastOfOwner: (owner) => last[owner] ?? 0,
  lastOfRoot: (root) => last[root] ?? 0,
});

describe('whom the slots of a job count for', () => {
  it.each([
    ['a job of its own', { _id: 'j', owner: 'me' }, 'me', 'j'],
    ['a job without an owner', { _id: 'j' }, 'DEFAULT', 'j'],
    ['a spoilt owner', { _id: 'j', owner: 7 }, 'DEFAULT', 'j'],
    ['a child', { _id: 'c', owner: 'me', parent: { job: 'j' } }, 'me', 'j'],
    ['a child of a child', { _id: 'd', owner: 'me', parent: { job: 'c', root: 'j' } }, 'me', 'j'],
    ['a spoilt parent', { _id: 'd', owner: 'me', parent: { job: 1, root: null } }, 'me', 'd'],
    ['no parent', { _id: 'd', owner: 'me', parent: null }, 'me', 'd'],
  ])('%s', (_, doc, owner, top) => {
    expect(partyOf(doc)).toEqual({ owner, root: JSON.stringify([owner, top]) });
  });

  it('is never the root job of another owner', () => {
    const forged = partyOf({ _id: 'x', owner: 'b', parent: { job: 'j' } });
    expect(forged.root).not.toBe(partyOf({ _id: 'j', owner: 'a' }).root);
  });
});

describe('F1, F2, F3, F4: the next free slot goes', () => {
  const a = job('a');
  const b = job('b');
  const wide = job('w', { begun: true });
  const other = job('o', { owner: 'b' });
  const cases: readonly [string, readonly Claimant[], Use, string | undefined][] = [
    ['to nobody when nobody waits', [], {}, undefined],
    ['to the only one that waits, whatever it has', [wide], { roots: { w: 9 } }, 'w'],
    ['to the owner that has fewer', [a, other], { owners: { a: 2, b: 1 } }, 'o'],
    [
      'to the owner that has fewer, whatever the priorities',
      [job('a', { priority: 0 }), other],
      { owners: { a: 2, b: 1 } },
      'o',
    ],
    [
      'to the owner that got its last one earlier, when both have as many',
      [a, other],
      { owners: { a: 1, b: 1 }, last: { a: 8, b: 7 } },
      'o',
    ],
    ['to the owner that has had none', [a, other], { last: { a: 1 } }, 'o'],
    [
      'by priority when no owner has had one',
      [a, job('o', { owner: 'b', priority: 499 })],
      {},
      'o',
    ],
    [
      'to the better priority of an owner, whatever its root has',
      [job('w', { priority: 1 }), a],
      { roots: { w: 9 } },
      'w',
    ],
    ['to the root that has fewer', [wide, b], { roots: { w: 2, b: 1 } }, 'b'],
    ['to a new job when a root has some', [wide, b], { roots: { w: 1 } }, 'b'],
    [
      'to a new job when children of a root have some',
      [job('c', { root: 'w', begun: true }), b],
      { roots: { w: 1 } },
      'b',
    ],
    ['to a job that has begun', [a, wide], {}, 'w'],
    [
      'to a job that has begun, up to its head start',
      [a, wide],
      { had: { w: headStart - 1 } },
      'w',
    ],
    ['to what waits longer after that', [a, wide], { had: { w: headStart } }, 'a'],
    [
      'to the long one again when it has waited longer',
      [b, job('w', { begun: true, since: 0 })],
      { had: { w: 99 } },
      'w',
    ],
    ['to the job that has waited longest', [b, a], {}, 'a'],
    [
      'to the root that has had no slot for longest',
      [job('c', { root: 'w', since: 1 }), b],
      { last: { w: 1_000 } },
      'b',
    ],
    [
      'to the first of the jobs of a root',
      [job('d', { root: 'w' }), job('c', { root: 'w' })],
      { last: { w: 1_000 } },
      'c',
    ],
    [
      'to the job that just goes on',
      [job('x', { begun: true }), job('y', { begun: true, since: -Infinity })],
      {},
      'y',
    ],
    [
      'to the first one named of equals',
      [job('x', { since: Infinity }), job('y', { since: Infinity })],
      {},
      'x',
    ],
  ];
  it.each(cases)('%s', (_, waiting, used, first) => {
    expect(firstInLine(waiting, use(used))?.id).toBe(first);
  });
});

describe('F5: how many of the free slots a job may claim', () => {
  const wide = job('w', { begun: true });
  const news = (count: number, more: Partial<Claimant> = {}) =>
    Array.from({ length: count }, (_, n) => job(`n${n}`, { since: n, ...more }));
  const cases: readonly [string, Claimant, readonly Claimant[], Use, number, number][] = [
    ['all while nobody else waits', wide, [], { roots: { w: 5 } }, 10, 10],
    ['none when none is free', wide, news(3), {}, 0, 0],
    ['what the others leave', wide, news(3), { roots: { w: 5 } }, 10, 7],
    ['none when more wait that have fewer', wide, news(12), { roots: { w: 5 } }, 5, 0],
    ['one that it goes on with', wide, news(12), {}, 5, 1],
    ['none for a newcomer behind them', job('z', { since: Infinity }), news(12), {}, 5, 0],
    ['all for a better priority', job('w', { priority: 1 }), news(12), { roots: { w: 5 } }, 5, 5],
    ['as many as another wide job', wide, news(8, { root: 'v' }), { roots: { w: 1, v: 1 } }, 8, 4],
    [
      'what makes owners equal',
      wide,
      news(8, { owner: 'b' }),
      { owners: { a: 4, b: 1 }, roots: { w: 4 } },
      5,
      1,
    ],
  ];
  it.each(cases)('%s', (_, one, others, used, free, most) => {
    for (const wanted of [0, 1, 3, free]) {
      const got = slotsFor(one, others, use(used), { free, wanted });
      expect(got).toBe(Math.min(wanted, most));
    }
  });
});

describe('slots that are taken', () => {
  it('count for owner and root', () => {
    const given = use({ owners: { a: 1 }, roots: { w: 1 }, had: { w: 4 } });
    const taken = withTaken(given, [job('w'), job('c', { root: 'w' }), job('o', { owner: 'b' })]);
    expect(['a', 'b'].map((owner) => taken.ofOwner.get(owner))).toEqual([3, 1]);
    expect(['w', 'o'].map((root) => taken.ofRoot.get(root))).toEqual([3, 1]);
    const back = withTaken(taken, [job('w'), job('o', { owner: 'b' })], -1);
    expect(['a', 'b'].map((owner) => back.ofOwner.get(owner))).toEqual([2, 0]);
    expect(['w', 'o'].map((root) => back.ofRoot.get(root))).toEqual([2, 0]);
    expect([taken.ofOwner.get('c'), taken.ofRoot.get('c')]).toEqual([0, 0]);
    expect(taken.had('w')).toBe(4);
    expect(withTaken(given, [])).toBe(given);
  });
});

describe('a head start', () => {
  it('F4: is for jobs that have begun, until their root has had its slots', () => {
    const had = use({ had: { long: headStart, short: headStart - 1 } });
    const goes = (root: string, begun: boolean) => goesOn({ root, begun }, had);
    expect([goes('short', true), goes('short', false), goes('long', true)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('only priority, having begun and the time of waiting count', () => {
  const cases: readonly [string, Partial<Claimant>, Use, boolean][] = [
    ['for a new job', {}, {}, true],
    ['not while its root has a slot', {}, { roots: { w: 1 } }, false],
    ['for a new job of a root that had one before', { since: 7 }, { last: { w: 6 } }, true],
    ['not when its root had one since', { since: 7 }, { last: { w: 8 } }, false],
    ['for a begun job', { begun: true, since: 7 }, { last: { w: 8 }, had: { w: 1 } }, true],
    ['not after its head start', { begun: true }, { had: { w: headStart } }, false],
  ];
  it.each(cases)('%s', (_, more, used, plain) => {
    expect(hasNoShare(job('w', more), use(used))).toBe(plain);
  });
});
