import { describe, expect, it } from 'vitest';
import { createCopies, type CopiesParts } from '../../src/engine/copies.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { LiveStep } from '../../src/model/step.js';
import { attempt, tip } from '../decide/copies/tips.js';

type Setting = {
  readonly tips?: readonly StoredDocument[];
  /** Claims of attempts that run here. */
  readonly running?: readonly string[];
  readonly dead?: readonly string[];
  readonly answers?: readonly ('written' | 'conflict')[];
};

const ignore = (): void => undefined;

/** Copies of engine `me` with a store that always shows the same. */
function copiesOf({ tips = [], running = [], dead = [], answers = [] }: Setting) {
  const said: string[] = [];
  const put: string[] = [];
  const writes: Record<string, unknown>[] = [];
  let looks = 0;
  const say = (_about: object, message: string): void => void said.push(message);
  const parts: CopiesParts = {
    me: 'me',
    store: {
      write: async (doc) => {
        writes.push(doc);
        const kind = answers[writes.length - 1] ?? 'written';
        return kind === 'written' ? { kind, rev: `${writes.length + 8}-w` } : { kind };
      },
      get: async () => tips[0],
      tips: async () => {
        looks += 1;
        return tips;
      },
      attachment: async () => undefined,
    },
    retry: (ask) => ask(),
    log: { debug: say, info: say, warn: say, error: say },
    once: { tell: ignore, stored: ignore },
    life: new AbortController().signal,
    patienceMs: 60_000,
    hands: { of: () => running },
    desk: {
      put: ({ _rev }) => {
        put.push(_rev);
        return 'news';
      },
    },
    lease: (engine) => (dead.includes(engine) ? 'dead' : 'alive'),
  };
  return { copies: createCopies(parts), said, put, writes, looks: () => looks };
}

const running = tip('3-a', ['0#1 $$active a']);
const rival = tip('2-b', ['0#1 $$active a', '1#1 $$active b']);

describe('the copies of a database', () => {
  it('are one until it says more, which is told once', () => {
    const { copies, said } = copiesOf({});
    expect(copies.many).toBe(false);
    for (const n of [1, 3, 3, 1, 3]) copies.learn(n);
    expect(copies.many).toBe(true);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain('keeps 3 copies');
  });

  it('agree at no cost where there is nothing to doubt', async () => {
    const { copies, looks } = copiesOf({ tips: [running], running: ['a'] });
    copies.suspect('j');
    expect(await copies.agreed(running)).toBe(running);
    copies.learn(3);
    expect(await copies.agreed(running)).toBe(running);
    expect(looks()).toBe(0);
  });

  it('are asked when one of them does not know a running attempt', async () => {
    const { copies, put } = copiesOf({ tips: [running], running: ['a'] });
    copies.learn(3);
    expect(await copies.agreed(tip('3-b', []))).toEqual(running);
    expect(put).toEqual(['3-a']);
  });

  it('are asked as long as the job is suspected of a conflict', async () => {
    const { copies, looks } = copiesOf({ tips: [running, rival] });
    copies.learn(3);
    copies.suspect('j');
    expect(copies.isSuspect('j')).toBe(true);
    expect(await copies.agreed(running)).toEqual(running);
    expect(copies.isSuspect('j')).toBe(true);
    expect(looks()).toBe(1);
    copies.learn(1);
    expect(copies.isSuspect('j')).toBe(false);
  });

  it('are asked no more about a job that is gone', () => {
    const { copies } = copiesOf({});
    copies.learn(3);
    copies.suspect('j');
    copies.acquit('j');
    expect(copies.isSuspect('j')).toBe(false);
  });

  it('are asked whether a job is gone', async () => {
    const { copies } = copiesOf({ tips: [] });
    copies.learn(3);
    copies.suspect('j');
    expect(await copies.agreed(running)).toBeUndefined();
    expect(copies.isSuspect('j')).toBe(false);
  });

  it('keep the attempt of a dead engine, for its loss to be told', async () => {
    const { copies, writes } = copiesOf({ tips: [running, rival], dead: ['b'] });
    copies.learn(3);
    copies.suspect('j');
    await copies.agreed(running);
    expect(writes[0]).toMatchObject({ steps: [{ claim: 'a' }, { claim: 'b', state: '$$active' }] });
  });
});

describe('a claim', () => {
  const claim = attempt('1#1 $$active m') as LiveStep;
  const job = tip('3-a', ['0#1 $$complete a', claim]);

  it('that was given up is remembered', async () => {
    const { copies } = copiesOf({ tips: [tip('4-a', [])] });
    copies.learn(3);
    expect(await copies.commit({ job, claims: [claim] })).toEqual({ kind: 'lost' });
    expect(copies.unbegun.has('m')).toBe(true);
    expect(copies.ended.has('m')).toBe(false);
  });

  it('that was given up is forgotten when many others were', async () => {
    const { copies } = copiesOf({ tips: [tip('4-a', [])] });
    copies.learn(3);
    const many = Array.from({ length: 10_001 }, (_, i) => attempt(`1#1 $$active m${i}`));
    await copies.commit({ job, claims: many as LiveStep[] });
    expect([copies.unbegun.has('m0'), copies.unbegun.has('m1')]).toEqual([false, true]);
  });

  it('is written once where there is one copy', async () => {
    const { copies, writes } = copiesOf({});
    expect(await copies.commit({ job, claims: [claim], ended: ['a'] })).toMatchObject({
      kind: 'written',
    });
    expect(writes).toHaveLength(1);
    expect(copies.unbegun.has('m')).toBe(false);
    expect(copies.ended.has('a')).toBe(false);
  });

  it('whose end is stored is known to have ended, whatever a copy says', async () => {
    const mine = tip('3-a', [attempt('0#1 $$active a', { engine: 'me' })]);
    const { copies, looks } = copiesOf({ tips: [mine] });
    copies.learn(3);
    const ending = { job: tip('3-a', ['0#1 $$complete a']), claims: [], ended: ['a'] };
    expect(await copies.commit(ending)).toMatchObject({ kind: 'written' });
    expect(copies.ended.has('a')).toBe(true);
    await copies.agreed(mine);
    expect(looks()).toBe(2);
  });
});
