import { describe, expect, it } from 'vitest';
import { createPermitLocks, type PermitParts } from '../../../src/engine/locks/permits.js';
import type { LockRequest, PermitWant } from '../../../src/decide/queries.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { createGiveBack } from '../../../src/engine/locks/give-back.js';
import type { Store } from '../../../src/store/store.js';
import { lockHolderOf } from '../../../src/replicas/lock-holder.js';

const job = (more: Record<string, unknown> = {}): StoredDocument => ({
  ...{ _id: 'a', _rev: '2-x', type: 'job', owner: 'me', state: '$$ready', ...more },
});
const permit = (more: Record<string, unknown> = {}): StoredDocument => ({
  ...{
    _id: 'lock:p',
    _rev: '1-l',
    kind: 'permit',
    key: 'k',
    job: 'a',
    rev: '1-x',
    at: 1,
    nonce: 'n',
    ...more,
  },
});
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const attempt = { path: '0', state: '$$active', permits: ['lock:p'] };

describe('a permit', () => {
  it.each<[string, StoredDocument, Record<string, unknown>, string | undefined]>([
    ['is held by a job that lists it', job({ locked: { permits: ['lock:p'] } }), {}, 'a'],
    ['is held by a job with the revision for which it was taken', job({ _rev: '1-x' }), {}, 'a'],
    ['is held by nobody when the job went on without it', job(), {}, undefined],
    ['is held by nobody when a new job was changed', job({ state: undefined }), {}, undefined],
    ['is held by nobody when the job has ended', job({ state: '$$complete' }), {}, undefined],
    ['is held by a step that runs', job({ steps: [attempt] }), { step: '0' }, 'a'],
    [
      'is held by a step that waits',
      job({ steps: [{ ...attempt, state: '$$waiting' }] }),
      ...([{ step: '0' }, 'a'] as const),
    ],
    [
      'is not held by an attempt that has ended',
      job({
        steps: [
          { ...attempt, state: '$$error', due: 9 },
          { path: '0', state: '$$active' },
        ],
      }),
      ...([{ step: '0' }, undefined] as const),
    ],
    ['is held by another step that lists it still', job({ steps: [attempt] }), { step: '1' }, 'a'],
    [
      'is not held by an attempt without it',
      job({ steps: [{ ...attempt, permits: [] }] }),
      ...([{ step: '0' }, undefined] as const),
    ],
    ['is not held where there are no steps', job({ steps: 5 }), { step: '0' }, undefined],
  ])('L7: %s', async (_title, doc, more, holder) => {
    const found = await lockHolderOf(async () => doc, permit(more));
    expect(found?.job).toBe(holder);
  });

  it('L7: is held by the job that continues its job, until that one has begun', async () => {
    const old = job({ state: '$$complete', locked: { permits: ['lock:p'] }, continued_to: 'b' });
    const held = async (next: Record<string, unknown>) =>
      lockHolderOf(
        async (id) => (id === 'a' ? old : job({ _id: 'b', _rev: '1-b', ...next })),
        permit(),
      );
    expect(await held({ state: undefined })).toMatchObject({ job: 'b', decided: false });
    expect(await held({ state: '$$ready' })).toBeUndefined();
    expect(await held({ locked: { permits: ['lock:p'] } })).toMatchObject({ job: 'b' });
  });

  it('tells that its job is being cancelled', async () => {
    const doc = job({ _rev: '1-x', cancel: { by: 'me' } });
    expect(await lockHolderOf(async () => doc, permit())).toMatchObject({ cancelling: true });
  });
});

/** Permits of which those in `locks` are taken, and those in `lost` are taken by somebody in between. */
function setting(
  locks: readonly StoredDocument[],
  jobs: readonly StoredDocument[],
  { lost, shared }: { readonly lost?: string; readonly shared?: string } = {},
) {
  const given: (readonly [id: string, nonce: string])[] = [];
  const log = { taken: [] as LockRequest[], given, touched: [] as string[], reminded: 0 };
  const all = new Map(jobs.map((one) => [one._id, one]));
  const clock = { now: 0 };
  const parts: PermitParts = {
    store: {
      view: (async () => locks.map((doc) => ({ doc }))) as unknown as PermitParts['store']['view'],
      get: async (id) => all.get(id),
      getMany: async () => all,
    },
    now: () => clock.now,
    take: async (request) => {
      if (request.key === lost) return { kind: 'taken', by: 'rival' };
      log.taken.push(request);
      if (request.key === shared) return { kind: 'held' };
      return { kind: 'held', nonce: `nonce ${request.key}` };
    },
    giveBack: async (taken) => void log.given.push(...taken),
    touch: async ({ _id, _rev }) => void log.touched.push(`${_id} ${_rev}`),
    queues: {
      place: () => {},
      before: () => [],
      heldBack: () => {},
      isEarlier: () => false,
      saw: () => {},
    },
    remind: () => void (log.reminded += 1),
  };
  return { ...{ log, clock }, permits: createPermitLocks(parts) };
}

const want = (key: string, more: Partial<PermitWant> = {}): PermitWant => ({
  ...{ key, most: 1, strategy: 'queue', ...more },
});
const asking = { _id: 'me', _rev: '1-x', type: 'job' };

describe('giving permits back', () => {
  const taken = permit({ job: 'me', nonce: 'mine' });
  const given = async (stored: StoredDocument): Promise<readonly string[]> => {
    const removed: string[] = [];
    const store = {
      getMany: async () => new Map([[stored._id, stored]]),
      remove: async (id: string, rev: string) => void removed.push(`${id} ${rev}`),
    } as unknown as Store;
    const giveBack = createGiveBack({ store, log: silent, copies: () => 1 }, () => undefined);
    await giveBack(new Map([['lock:p', 'mine']]), asking);
    return removed;
  };

  it('removes what was taken', async () => {
    expect(await given(taken)).toEqual(['lock:p 1-l']);
  });

  it('L9: removes nothing that another engine has written since for the same job', async () => {
    expect(await given({ ...taken, nonce: 'of another engine' })).toEqual([]);
  });
});

describe('several permits', () => {
  it('L8: are taken all, in one order for everybody', async () => {
    const { log, permits } = setting([], []);
    const answer = await permits.take({ id: 'x', wants: [want('b'), want('a')] }, asking);
    expect(log.taken.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(answer).toMatchObject({ kind: 'held', ids: [log.taken[1]?.id, log.taken[0]?.id] });
  });

  it('L8: are given back when somebody was faster with another one', async () => {
    const { log, permits } = setting([], [], { lost: 'b' });
    const answer = await permits.take({ id: 'x', wants: [want('a'), want('b')] }, asking);
    expect(answer).toMatchObject({ kind: 'full', key: 'b', by: [{ job: 'rival' }] });
    expect(log.given).toEqual(log.taken.map(({ id, key }) => [id, `nonce ${key}`]));
  });

  it('L9: stay where another engine took them for the same job', async () => {
    const { log, permits } = setting([], [], { lost: 'b', shared: 'a' });
    await permits.take({ id: 'x', wants: [want('a'), want('b')] }, asking);
    expect(log.taken).toHaveLength(1);
    expect(log.given).toEqual([]);
  });

  it('L8: are not taken when one is full; what was left of them is made void', async () => {
    const left = permit({ _id: 'lock:l', key: 'a', job: 'me', nonce: 'l' });
    const held = permit({ key: 'b' });
    const holder = job({ _rev: '1-x', state: undefined });
    const { log, clock, permits } = setting([left, held], [holder]);
    const request = { id: 'x', wants: [want('a'), want('b')] };
    expect(await permits.take(request, asking)).toMatchObject({ kind: 'full', key: 'b' });
    clock.now = 3_000;
    await permits.take(request, asking);
    expect(log).toEqual({ taken: [], given: [], touched: ['me 1-x'], reminded: 1 });
    // The lock is still there, but counts for nobody now that the job has another revision.
    for (const now of [6_000, 7_000]) {
      clock.now = now;
      await permits.take(request, { ...asking, _rev: '2-x' });
    }
    expect(log.touched).toEqual(['me 1-x', 'a 1-x', 'a 1-x']);
  });

  it('are not cancelled for, while another limit has none either', async () => {
    const locks = ['a', 'b'].map((key) => permit({ _id: `lock:${key}`, key }));
    const { permits } = setting(locks, [job({ _rev: '1-x' })]);
    const wants = [want('a', { strategy: 'cancel_oldest' }), want('b')];
    expect(await permits.take({ id: 'x', wants }, asking)).toMatchObject({ key: 'b' });
  });

  it('do not tell a job of another owner what one was answered', async () => {
    const { permits } = setting([permit({ key: 'a' })], [job({ _rev: '1-x' })]);
    const request = { id: 'x', wants: [want('a')] };
    const mine = await permits.take(request, { ...asking, owner: 'me' });
    expect(mine).not.toHaveProperty('by[0].foreign');
    expect(await permits.take(request, { ...asking, owner: 'other' })).toMatchObject({
      by: [{ job: 'a', foreign: true }],
    });
  });

  it('are cancelled for, where one limit says so, whatever the others say', async () => {
    const locks = ['a', 'b'].map((key) => permit({ _id: `lock:${key}`, key }));
    const { permits } = setting(locks, [job({ _rev: '1-x' })]);
    const wants = [want('a'), want('b', { strategy: 'cancel_newest' })];
    expect(await permits.take({ id: 'x', wants }, asking)).toMatchObject({ key: 'b' });
  });
});
