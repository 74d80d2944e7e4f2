import { describe, expect, it } from 'vitest';
import {
  isAmongFirst,
  leftToOthersMs,
  mostFirst,
  mostForMessage,
  placeOf,
  rankAmong,
  staggerMs,
  sweepPace,
  sweepsIn,
  turnMs,
} from '../../../src/decide/compete/ranks.js';
import { rankFor } from '../../../src/decide/compete/stagger.js';
import { newJob, peer, task, world } from '../../support/builders.js';

const able = peer(['a']);
/** Engines that can all do the same. */
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...able, id: `engine:e${i}` }));
const others = (all: ReturnType<typeof many>, me: string) => all.filter(({ id }) => id !== me);
const ranks = (all: ReturnType<typeof many>, id: string) =>
  all.map((me) => rankAmong(id, others(all, me.id), me.id));

describe('the order of engines', () => {
  const engines = many(100);

  it('I6: is the same for all of them', () => {
    for (let i = 0; i < 20; i += 1) {
      const sorted = ranks(engines, `job-${i}`).sort((a, b) => a - b);
      expect(sorted).toEqual(engines.map((_, rank) => rank));
    }
  });

  it('I6: gives each about as many documents', () => {
    const first = new Map<number, number>();
    for (let i = 0; i < 5_000; i += 1) {
      const winner = ranks(many(10), `job-${i}`).indexOf(0);
      first.set(winner, (first.get(winner) ?? 0) + 1);
    }
    for (const count of first.values()) expect(count).toBeGreaterThan(400);
    expect(first.size).toBe(10);
  });

  it('I6: moves no two others when one ends', () => {
    const left = engines.slice(1);
    const inOrder = (all: ReturnType<typeof many>) => {
      const of = ranks(all, 'job-1');
      return [...all].sort((a, b) => Number(of[all.indexOf(a)]) - Number(of[all.indexOf(b)]));
    };
    expect(inOrder(left)).toEqual(inOrder(engines).filter(({ id }) => id !== 'engine:e0'));
  });

  it('is that of their ids where the places are the same', () => {
    expect(placeOf(7, 9)).toBe(placeOf(7, 9));
    const twin = { ...able, id: 'engine:e1' };
    expect(rankAmong('job-1', [twin], 'engine:e1')).toBe(0);
  });
});

describe('a document that others changed', () => {
  const engines = many(40);
  const leftTo = (me: (typeof engines)[number], id: string, rev: string) =>
    leftToOthersMs({ id, rev }, me, others(engines, me.id));

  it('I7: is looked at by the first engines, one after the other', () => {
    for (let i = 0; i < 20; i += 1) {
      const waits = engines.map((me) => leftTo(me, `job-${i}`, '1-x')).sort((a, b) => a - b);
      const looking = waits.filter((ms) => ms < Infinity);
      expect(looking).toEqual(Array.from({ length: mostFirst }, (_, rank) => rank * staggerMs));
    }
  });

  it.each([
    ['signal:job-1:s', mostForMessage],
    ['request:job-1:r', mostForMessage],
    ['signals', mostFirst],
  ])('I11: is looked at by many, each in its turn, when it is a message: %s', (id, count) => {
    const crowd = many(100);
    const waits = crowd.map((me) => leftToOthersMs({ id, rev: '1-x' }, me, others(crowd, me.id)));
    const looking = waits.filter((ms) => ms < Infinity).sort((a, b) => a - b);
    expect(looking).toEqual(Array.from({ length: count }, (_, rank) => turnMs(rank)));
  });

  it.each([
    ['2-x', mostFirst],
    ['20-x', 20],
    ['5000-x', 40],
    ['', mostFirst],
  ])('I7: is looked at by as many as it was written times: %s', (rev, count) => {
    const looking = engines.filter((me) => leftTo(me, 'job-1', rev) < Infinity);
    expect(looking).toHaveLength(count);
  });

  it('is left to the same engines that decide before this one', () => {
    const few = engines.slice(0, 5);
    const job = newJob({ _id: 'job-1' });
    for (const me of few) {
      const peers = others(few, me.id);
      const rank = rankFor(job, task('a'), world({ id: me.id, peers }));
      expect(leftToOthersMs({ id: 'job-1', rev: '1-x' }, me, peers)).toBe(turnMs(rank));
    }
  });

  it.each([
    ['plugin', { plugins: new Set(['a', 'b']) }],
    ['label', { labels: new Set(['gpu']) }],
    ['queue', { queues: new Set(['default', 'slow']) }],
  ])('I8: is left to no engine that lacks a %s of this one', (_what, more) => {
    for (let i = 0; i < 20; i += 1) {
      const seen = { id: `j${i}`, rev: '1-x' };
      expect(leftToOthersMs(seen, { ...able, ...more }, engines)).toBe(0);
    }
  });

  it('I8: is judged anew for another list of engines, and for other abilities', () => {
    const list = [peer(['a'], [], 'engine:x')];
    const able = (plugins: string[]) => sweepPace(peer(plugins), list);
    expect([able(['a']), able(['b']), able(['a'])]).toEqual([1, 1, 1]);
    const ranked = (plugins: string[]) =>
      ['j1', 'j2', 'j3', 'j4', 'j5', 'j6'].map((id) =>
        leftToOthersMs({ id, rev: '1-x' }, peer(plugins, [], 'engine:y'), list),
      );
    expect(new Set(ranked(['a']))).toEqual(new Set([0, staggerMs]));
    expect(new Set(ranked(['b']))).toEqual(new Set([0]));
  });

  it('is woken from its sleep by the first engines', () => {
    const waking = engines.filter((me) => isAmongFirst('job-1', me, others(engines, me.id)));
    expect(waking).toHaveLength(mostFirst);
  });
});

it('engines after the first ones follow each other closely', () => {
  expect([0, 1, 8, 9, 108].map(turnMs)).toEqual([0, 200, 1_600, 1_620, 3_600]);
});

describe('what the feed did not bring', () => {
  it.each([1, 5, 8, 9, 40, 100])('is looked for in turn by %i engines', (count) => {
    const engines = many(count);
    const rounds = Array.from({ length: 60 }, (_, round) =>
      engines.filter((me) => sweepsIn(round, me, others(engines, me.id))),
    );
    for (const sweeping of rounds) {
      expect(sweeping.length).toBeGreaterThanOrEqual(Math.min(count, mostFirst / 2));
      expect(sweeping.length).toBeLessThanOrEqual(mostFirst);
    }
    expect(new Set(rounds.flat())).toHaveLength(count);
  });
});
