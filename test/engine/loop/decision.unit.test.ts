import { describe, expect, it } from 'vitest';
import { acquire, lookUp } from '../../../src/decide/queries.js';
import type { Intent } from '../../../src/decide/intent.js';
import { createDecider, type DeciderParts } from '../../../src/engine/loop/decision.js';
import type { World } from '../../../src/decide/world.js';
import { flow, newJob, t0, world } from '../../support/builders.js';

/** A decider with rules of its own, in a store without children and a library without flows. */
function decider(rule: DeciderParts['rule'], more: Partial<Record<string, unknown>> = {}) {
  const parts = {
    store: { get: async () => undefined, isDeleted: async () => false },
    library: {
      flow: () => ({ kind: 'unknown' }),
      task: () => ({ kind: 'unknown' }),
      find: async () => undefined,
      foundFlow: () => ({ kind: 'found', value: flow(['a']) }),
      foundTask: () => ({ kind: 'absent' }),
    },
    retry: async <T>(ask: () => Promise<T>) => ask(),
    life: new AbortController().signal,
    reserve: () => true,
    rates: { concerned: new Set() },
    worldFrom: (_standpoint: unknown, known: object, schema: unknown) => ({
      ...world(),
      ...known,
      schema,
    }),
    now: () => t0,
    rule,
    ...more,
  } as unknown as DeciderParts;
  return createDecider(parts)({ job: newJob(), seenAt: t0 });
}

const claim = { kind: 'claim', job: newJob(), steps: [], because: '' } as unknown as Intent;
const listing = (more: object): Intent =>
  ({ kind: 'write', job: { ...newJob(), ...more } }) as unknown as Intent;
const waitForSlot: Intent = { kind: 'wait', because: '', for: 'slot', rank: 0 };

describe('the decider', () => {
  it('gives a fault for a rule that throws', async () => {
    const decided = await decider(() => {
      throw new TypeError('steps is not a list');
    });
    expect(decided).toMatchObject({
      kind: 'fault',
      failure: {
        name: 'DecisionFault',
        message: expect.stringContaining('TypeError: steps is not a list') as string,
      },
    });
  });

  it('gives a fault for a rule that asks again for what it was answered', async () => {
    let rounds = 0;
    const decided = await decider(() => {
      rounds += 1;
      return lookUp({ children: ['c'] });
    });
    expect(rounds).toBe(2);
    expect(decided).toMatchObject({
      kind: 'fault',
      failure: { message: expect.stringContaining('it asks again for "children c"') as string },
    });
  });

  it('takes the slots of a claim in the turn in which it decides', async () => {
    let free = 1;
    const reserve = () => (free -= 1) >= 0;
    const rule = () => (free > 0 ? claim : waitForSlot);
    const both = await Promise.all([decider(rule, { reserve }), decider(rule, { reserve })]);
    expect(both.map(({ kind }) => kind)).toEqual(['claim', 'wait']);
  });

  it('gives a fault for a rule that claims again slots that are not there', async () => {
    let rounds = 0;
    const rule = () => ((rounds += 1), claim);
    const decided = await decider(rule, { reserve: () => false });
    expect(rounds).toBe(2);
    expect(decided).toMatchObject({ kind: 'fault' });
  });

  it('gives a fault for a rule that takes again what it has taken', async () => {
    const taken: unknown[] = [];
    const locks = { take: async (wish: unknown) => taken.push(wish) };
    const wish = { kind: 'target', id: 'lock:1', key: 'x' } as const;
    const decided = await decider(() => acquire({ locks: [wish] }), { locks });
    expect(taken).toEqual([wish]);
    expect(decided).toMatchObject({
      kind: 'fault',
      failure: { message: expect.stringContaining('it asks again for "locks lock:1"') as string },
    });
  });

  it('takes a permit, and decides again with it', async () => {
    const held = { kind: 'held', ids: ['lock:p'] } as const;
    const decided = await decider(
      (_job, _now, { permit }) => {
        const { kind } = permit('f::o');
        if (kind === 'unknown') return acquire({ permits: [{ id: 'f::o', wants: [] }] });
        return { kind: 'ignore', because: kind };
      },
      { locks: { permit: async () => held } },
    );
    expect(decided).toEqual({ kind: 'ignore', because: 'held' });
  });

  it.each<[string, Intent, readonly string[]]>([
    ['that waits for a slot', waitForSlot, ['lock:p', 'lock:q']],
    ['whose job lists one', listing({ locked: { permits: ['lock:p'] } }), ['lock:q']],
    ['whose step lists one', listing({ steps: [{ permits: ['lock:q'] }] }), ['lock:p']],
  ])('L8: gives back the permits that it took for a decision %s', async (_title, end, expected) => {
    const given: string[] = [];
    const anew = new Map([
      ['lock:p', 'n'],
      ['lock:q', 'm'],
    ]);
    const locks = {
      permit: async () => ({ kind: 'held', ids: ['lock:p', 'lock:q', 'lock:r'], anew }),
      giveBack: async (taken: ReadonlyMap<string, string>) => void given.push(...taken.keys()),
    };
    const rule = (_job: unknown, _now: unknown, { permit }: World) =>
      permit('x').kind === 'unknown' ? acquire({ permits: [{ id: 'x', wants: [] }] }) : end;
    await decider(rule, { locks });
    expect(given).toEqual(expected);
  });

  it('takes no grant of a rate while another one of the attempt looks full', async () => {
    const asked: string[] = [];
    const all = ['task', 'queue'].map((of) => ({
      ...{ id: `rate:${of}`, for: 'x', attempt: '0', of, limit: 1, perMs: 1_000 },
    }));
    const rates = {
      concerned: new Set(),
      isFull: async ({ of }: { of: string }) => of === 'queue',
      take: async ({ of }: { of: string }) => (asked.push(of), { kind: 'full', until: t0 + 1 }),
    };
    const decided = await decider(
      (_job, _now, { rate }) => {
        const kinds = all.map((one) => rate(one).kind);
        if (kinds.includes('unknown')) return acquire({ rates: all });
        return { kind: 'ignore', because: kinds.join() };
      },
      { rates },
    );
    expect([asked, decided]).toEqual([['queue'], { kind: 'ignore', because: 'full,full' }]);
  });

  it.each<[string, Intent & { readonly rule?: string }, readonly boolean[]]>([
    ['waits for a slot', waitForSlot, [false, true]],
    ['waits for its turn among engines', { ...waitForSlot, for: 'engine' }, [true, true]],
    ['lacks an answer', { kind: 'wait', because: '', rule: 'unanswered' }, [true, true]],
    ['is written', claim, [true, true]],
  ])(
    'R14: leaves the lines in which it did not ask a job that %s',
    async (_title, end, expected) => {
      const one = { for: 'x', attempt: '0', of: 'x', limit: 1, perMs: 1_000 };
      const asked = { ...one, id: 'rate:asked' };
      const lines = new Set(['rate:before x', 'rate:asked x']);
      const rates = {
        concerned: new Set([newJob()._id]),
        take: async () => ({ kind: 'full', until: t0 + 1 }),
        leaveOthers: (_id: string, keys: { readonly has: (key: string) => boolean }) => {
          for (const line of lines) if (!keys.has(line)) lines.delete(line);
        },
      };
      const rule = (_job: unknown, _now: unknown, { rate }: World) =>
        rate(asked).kind === 'unknown' ? acquire({ rates: [asked] }) : end;
      await decider(rule, { rates });
      expect(['rate:before x', 'rate:asked x'].map((line) => lines.has(line))).toEqual(expected);
    },
  );

  it('asks for all children of a job by one request', async () => {
    const ids = Array.from({ length: 1_000 }, (_, i) => `c${i}`);
    let requests = 0;
    let known: readonly string[] = [];
    const store = {
      getMany: async (wanted: readonly string[]) => {
        requests += 1;
        return new Map(wanted.map((_id) => [_id, { _id, _rev: '1-a', type: 'job' }]));
      },
      get: async () => {
        requests += 1;
        return undefined;
      },
      isDeleted: async () => false,
    };
    await decider(
      (_job, _now, { child }) => {
        known = ids.filter((id) => child(id).kind !== 'unknown');
        return known.length > 0 ? { kind: 'ignore', because: 'done' } : lookUp({ children: ids });
      },
      { store },
    );
    expect([requests, known.length]).toEqual([1, 1_000]);
  });

  it('gives a fault for a rule that asks for nothing', async () => {
    expect(await decider(() => lookUp({}))).toMatchObject({
      failure: { message: expect.stringContaining('it asks again for nothing') as string },
    });
  });

  it('keeps a definition that was found for the whole decision, whatever the library forgets', async () => {
    const rule = (_job: unknown, _now: unknown, { flow: find, task }: ReturnType<typeof world>) => {
      const found = find('f', 'o');
      if (found.kind === 'unknown') return lookUp({ flows: [{ name: 'f', owner: 'o' }] });
      const missing = task('t', 'o');
      if (missing.kind === 'unknown') return lookUp({ tasks: [{ name: 't', owner: 'o' }] });
      return { kind: 'ignore', because: `${found.kind} ${missing.kind}` } satisfies Intent;
    };
    expect(await decider(rule)).toEqual({ kind: 'ignore', because: 'found absent' });
  });

  it('decides nothing upon what it could not find out before the engine ended', async () => {
    const life = new AbortController();
    let rounds = 0;
    const decided = await decider(
      () => {
        rounds += 1;
        return rounds === 1 ? lookUp({ children: ['c'] }) : { kind: 'write', job: newJob() };
      },
      { life: life.signal, retry: async () => void life.abort() },
    );
    expect([rounds, decided.kind]).toEqual([1, 'ignore']);
  });
});
