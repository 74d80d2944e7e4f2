import { describe, expect, it } from 'vitest';
import { createReplicas, type ReplicasParts } from '../../src/replicas/replicas.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { LiveStep } from '../../src/model/step.js';
import { attempt, leaf } from './resolve/leaves.js';

type Setting = {
  readonly leaves?: readonly StoredDocument[];
  /** Claims of attempts that run here. */
  readonly running?: readonly string[];
  readonly dead?: readonly string[];
  readonly answers?: readonly ('written' | 'conflict')[];
};

const ignore = (): void => undefined;

/** Copies of engine `me` with a store that always shows the same. */
function copiesOf({ leaves = [], running = [], dead = [], answers = [] }: Setting) {
  const said: string[] = [];
  const put: string[] = [];
  const writes: Record<string, unknown>[] = [];
  let looks = 0;
  const say = (_about: object, message: string): void => void said.push(message);
  const parts: ReplicasParts = {
    me: 'me',
    store: {
      write: async (doc) => {
        writes.push(doc);
        const kind = answers[writes.length - 1] ?? 'written';
        return kind === 'written' ? { kind, rev: `${writes.length + 8}-w` } : { kind };
      },
      get: async () => leaves[0],
      leaves: async () => {
        looks += 1;
        return leaves;
      },
      attachment: async () => undefined,
    },
    retry: (ask) => ask(),
    log: { debug: say, info: say },
    once: { said: new Map(), log: ignore, stored: ignore },
    life: new AbortController().signal,
    patienceMs: 60_000,
    giveUp: async () => [],
    claimsOf: () => running,
    onRead: ({ _rev }) => void put.push(_rev),
    lease: (engine) => (dead.includes(engine) ? 'dead' : 'alive'),
  };
  return { copies: createReplicas(parts), said, put, writes, looks: () => looks };
}

const running = leaf('3-a', ['0#1 $$active a']);
const rival = leaf('2-b', ['0#1 $$active a', '1#1 $$active b']);

describe('the copies of a database', () => {
  it('are one until it says more, which is told once', () => {
    const { copies, said } = copiesOf({});
    expect(copies.many).toBe(false);
    for (const n of [1, 3, 3, 1, 3]) copies.setCount(n);
    expect(copies.many).toBe(true);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain('keeps 3 copies');
  });

  it('agree at no cost where there is nothing to doubt', async () => {
    const { copies, looks } = copiesOf({ leaves: [running], running: ['a'] });
    copies.suspect('j');
    expect(await copies.readConsistent(running)).toBe(running);
    copies.setCount(3);
    expect(await copies.readConsistent(running)).toBe(running);
    expect(looks()).toBe(0);
  });

  it('are asked when one of them does not know a running attempt', async () => {
    const { copies, put } = copiesOf({ leaves: [running], running: ['a'] });
    copies.setCount(3);
    expect(await copies.readConsistent(leaf('3-b', []))).toEqual(running);
    expect(put).toEqual(['3-a']);
  });

  it('are asked as long as the job is suspected of a conflict', async () => {
    const { copies, looks } = copiesOf({ leaves: [running, rival] });
    copies.setCount(3);
    copies.suspect('j');
    expect(copies.suspects.has('j')).toBe(true);
    expect(await copies.readConsistent(running)).toEqual(running);
    expect(copies.suspects.has('j')).toBe(true);
    expect(looks()).toBe(1);
    copies.setCount(1);
    expect(copies.suspects.has('j')).toBe(false);
  });

  it('are asked no more about a job that is gone', () => {
    const { copies } = copiesOf({});
    copies.setCount(3);
    copies.suspect('j');
    copies.clear('j');
    expect(copies.suspects.has('j')).toBe(false);
  });

  it('are asked whether a job is gone', async () => {
    const { copies } = copiesOf({ leaves: [] });
    copies.setCount(3);
    copies.suspect('j');
    expect(await copies.readConsistent(running)).toBeUndefined();
    expect(copies.suspects.has('j')).toBe(false);
  });

  it('keep the attempt of a dead engine, for its loss to be told', async () => {
    const { copies, writes } = copiesOf({ leaves: [running, rival], dead: ['b'] });
    copies.setCount(3);
    copies.suspect('j');
    await copies.readConsistent(running);
    expect(writes[0]).toMatchObject({ steps: [{ claim: 'a' }, { claim: 'b', state: '$$active' }] });
  });
});

describe('a claim', () => {
  const claim = attempt('1#1 $$active m') as LiveStep;
  const job = leaf('3-a', ['0#1 $$complete a', claim]);

  it('that was given up is remembered', async () => {
    const { copies } = copiesOf({ leaves: [leaf('4-a', [])] });
    copies.setCount(3);
    expect(await copies.commit({ job, claims: [claim] })).toEqual({ kind: 'lost' });
    expect(copies.unbegun.has('m')).toBe(true);
    expect(copies.ended.has('m')).toBe(false);
  });

  it('that was given up is forgotten when many others were', async () => {
    const { copies } = copiesOf({ leaves: [leaf('4-a', [])] });
    copies.setCount(3);
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
    const mine = leaf('3-a', [attempt('0#1 $$active a', { engine: 'me' })]);
    const { copies, looks } = copiesOf({ leaves: [mine] });
    copies.setCount(3);
    const ending = { job: leaf('3-a', ['0#1 $$complete a']), claims: [], ended: ['a'] };
    expect(await copies.commit(ending)).toMatchObject({ kind: 'written' });
    expect(copies.ended.has('a')).toBe(true);
    await copies.readConsistent(mine);
    expect(looks()).toBe(2);
  });
});
