import { describe, expect, it } from 'vitest';
import {
  grantRate,
  isNewWindow,
  longestWindow,
  mostGrants,
  unitedGrants,
  type RateAsk,
} from '../../../src/decide/compete/rates.js';
import type { Grant } from '../../../src/model/rate.js';

const now = 100_000;
const ask = (whose: string, more: Partial<RateAsk> = {}): RateAsk => ({
  ...{ for: whose, limit: 2, perMs: 1_000, isAsking: true, ...more },
});
const view = (seen: Readonly<Record<number, number>> = {}) => ({
  ...{ now, gen: 9, by: 'w9', perMs: 1_000 },
  seenAt: (gen: number) => seen[gen],
});
const grant = (at: number, more: Partial<Grant> = {}): Grant => ({ at, gen: 1, ...more });

describe('a rate limit', () => {
  it('R14: gives what is free in the order of the asks, and tells the others when', () => {
    const given = grantRate(
      [],
      ['a', 'b', 'c', 'd', 'e'].map((one) => ask(one)),
      view(),
    );
    expect([...given.held]).toEqual(['a', 'b']);
    expect(given.grants).toEqual(
      ['a', 'b'].map((one) => grant(now, { gen: 9, by: 'w9', for: one })),
    );
    expect([...given.until]).toEqual([
      ['c', now + 1_100],
      ['d', now + 1_100],
      ['e', now + 2_200],
    ]);
  });

  it.each<[string, Grant, Readonly<Record<number, number>>, number | undefined]>([
    ['as long as it was first seen in its window', grant(now - 600), { 1: now - 500 }, now + 600],
    ['until 2 s after its window by its stamp', grant(now - 500), {}, now + 1_100],
    ['not when it was seen a window ago', grant(now + 900), { 1: now - 1_100 }, undefined],
    ['not 2 s after its window', grant(now - 3_100), { 1: now - 200 }, undefined],
    ['not long when its stamp is older', grant(now - 2_900), { 1: now }, now + 200],
  ])('R12: counts a grant %s', (_title, one, seen, until) => {
    const given = grantRate([one], [ask('a', { limit: 1 })], view(seen));
    expect(given.until.get('a')).toBe(until);
  });

  it('R12: stamps no grant earlier than the newest', () => {
    const given = grantRate([grant(now + 1_500)], [ask('a')], view());
    expect(given.grants.at(-1)).toMatchObject({ at: now + 1_500, for: 'a' });
  });

  it('R13: gives who asks again the same place, with a new stamp', () => {
    const before = [grant(now - 10, { for: 'a' }), grant(now - 5, { for: 'b' })];
    const given = grantRate(before, [ask('a')], view());
    expect(given.grants).toEqual([before[1], grant(now, { gen: 9, by: 'w9', for: 'a' })]);
    expect([given.held.has('a'), given.fresh.size]).toEqual([true, 0]);
  });

  it('R13: offers a grant that nobody used in time to who has the attempt in line', () => {
    const before = [grant(now - 99, { for: 'a' }), grant(now - 99, { for: 'b', grace: 700 })];
    const waiting = ['a', 'b', 'c'].map((one) => ask(one, { isAsking: false }));
    const readyAfter = (ms: number) => grantRate(before, waiting, view({ 1: now - ms })).ready;
    expect([99, 100, 700].map(readyAfter)).toEqual([[], ['a'], ['a', 'b']]);
    expect(grantRate(before, waiting, view()).ready).toEqual([]);
  });

  it('R13: keeps the time in which the one that took a grant before may use it', () => {
    const before = [grant(now - 10, { for: 'a', grace: 700 })];
    const given = grantRate(before, [ask('a')], view());
    expect(given.grants).toEqual([grant(now, { gen: 9, by: 'w9', for: 'a', grace: 700 })]);
  });

  it('R15: counts the last grant of an attempt that several copies hold', () => {
    const first = grant(now - 10, { for: 'a', grace: 700 });
    const last = grant(now, { for: 'a', gen: 2 });
    const one = [{ ...last, grace: 700 }];
    expect(unitedGrants([[first], [last]])).toEqual(one);
    expect(unitedGrants([[last], [first]])).toEqual(one);
  });

  it('R14: keeps a free place for one that waits before, for half a second', () => {
    const waits = ask('a', { isAsking: false, limit: 1 });
    const given = grantRate([], [waits, ask('b', { limit: 1 })], view());
    expect(given.ready).toEqual(['a']);
    expect([...given.until]).toEqual([['b', now + 500]]);
    expect(given.isChanged).toBe(false);
  });

  it('leaves out of the line who has a grant already', () => {
    const before = [grant(now, { for: 'a' })];
    const given = grantRate(before, [ask('a', { isAsking: false })], view());
    expect([given.ready, given.until.size, given.grants]).toEqual([[], 0, before]);
  });

  it('R15: lets nobody use a grant while more than the limit stand there', () => {
    const before = ['a', 'b', 'c'].map((one) => grant(now, { for: one }));
    const given = grantRate(before, [ask('a')], view());
    expect([given.held.size, given.until.get('a')]).toEqual([0, now + 1_100]);
    expect(unitedGrants([before, before.slice(1), [grant(7)]])).toEqual([...before, grant(7)]);
  });

  it('counts merged grants by their number', () => {
    const given = grantRate([grant(now, { n: 2 })], [ask('a')], view());
    expect([...given.until]).toEqual([['a', now + 1_100]]);
  });

  it('counts a grant only for the asks whose window it is in', () => {
    const asks = [ask('a', { perMs: 100, limit: 1 }), ask('b', { limit: 1 })];
    const given = grantRate([grant(now - 500)], asks, view({ 1: now - 500 }));
    expect([...given.held, ...given.until.keys()]).toEqual(['a', 'b']);
  });

  it('R13: counts a grant longer whose write took longer than usual', () => {
    const given = grantRate([], [ask('a', { graceMs: 700 }), ask('b'), ask('c')], view());
    expect(given.grants[0]).toMatchObject({ for: 'a', grace: 700 });
    expect([...given.until]).toEqual([['c', now + 1_100]]);
    const before = [grant(now, { grace: 700 })];
    expect(grantRate(before, [ask('b', { limit: 1 })], view()).until.get('b')).toBe(now + 1_700);
  });

  it('R14: counts those that wait before and are not listed', () => {
    const full = grantRate([grant(now)], [ask('a', { limit: 1, skipped: 2 })], view());
    expect(full.until.get('a')).toBe(now + 3 * 1_100);
    const free = grantRate([], [ask('a', { skipped: 1 }), ask('b')], view());
    expect([...free.held, ...free.until]).toEqual(['a', ['b', now + 500]]);
  });

  it('R12: asks for a new place for one whose grant counts in its window no more', () => {
    const old = grant(now - 5_000, { for: 'x' });
    const before = [old, grant(now - 10), grant(now - 5)];
    const long = { ...view({ 1: now - 100 }), perMs: 3_600_000 };
    const full = grantRate(before, [ask('x')], long);
    expect([full.held.size, full.until.has('x')]).toEqual([0, true]);
    const free = grantRate(before.slice(0, 2), [ask('x')], long);
    expect([free.fresh.has('x'), free.grants.length]).toEqual([true, 2]);
  });

  it.each([
    ['of those that ask, where it is the longest', 9_000, { perMs: 1_000, at: now - 5 }, 9_000],
    ['that is stored while somebody asks for it', 1_000, { perMs: 9_000, at: now - 18_000 }, 9_000],
    ['of those that ask when nobody else does', 1_000, { perMs: 9_000, at: now - 20_000 }, 1_000],
  ])('R12: keeps grants in the window %s', (_title, perMs, stored, longest) => {
    expect(longestWindow([{ perMs }], stored, now).perMs).toBe(longest);
  });

  it('R12: has others learn of a longer window, and once in its length that it is in use', () => {
    const stored = { perMs: 1_000, at: now };
    expect(isNewWindow({ perMs: 9_000, at: now }, stored)).toBe(true);
    expect(isNewWindow({ perMs: 1_000, at: now + 999 }, stored)).toBe(false);
    expect(isNewWindow({ perMs: 1_000, at: now + 1_000 }, stored)).toBe(true);
  });

  it('merges old grants of a long list, which count none the less', () => {
    const longer = { grace: 900 };
    const before = Array.from({ length: mostGrants }, (_, n) =>
      grant(now - 1_000 + n / 2, n === 0 ? longer : {}),
    );
    const many = ask('a', { limit: 100_000 });
    const { grants } = grantRate(before, [many], view());
    expect(grants.length).toBeLessThan(mostGrants);
    expect(grants.reduce((sum, { n = 1 }) => sum + n, 0)).toBe(mostGrants + 1);
    expect(grants.filter(({ grace }) => grace !== undefined)).toMatchObject([longer]);
    expect(grants.reduce((last, { at }) => Math.max(last, at), 0)).toBe(now);
  });
});
