import { describe, expect, it } from 'vitest';
import { createLocks } from '../../../src/engine/locks/locks.js';
import type { PermitRequest, PermitWant } from '../../../src/decide/queries.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { isOpen, type Step } from '../../../src/model/step.js';
import { isObject } from '../../../src/model/object.js';
import { FakeStore } from '../loop/write-parts.js';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ended = { path: '0', state: '$$complete' };

/** An engine's locks upon a store in memory, whose view `locks` has all permits. */
function setting(docs: readonly StoredDocument[], earlier: readonly string[] = []) {
  const store = new FakeStore(docs, 1);
  const removed: string[] = [];
  const clock = { now: 0 };
  const own = {
    getMany: async (ids: readonly string[]) =>
      new Map(ids.flatMap((id) => store.docs.get(id) ?? []).map((doc) => [doc._id, doc])),
    view: async () =>
      [...store.docs.values()].filter(({ kind }) => kind === 'permit').map((doc) => ({ doc })),
    remove: async (id: string) => void (store.docs.delete(id), removed.push(id)),
  };
  const locks = createLocks({
    ...{ store: Object.assign(store, own) as never, log: silent, now: () => clock.now },
    retry: async (ask) => ask(),
    life: new AbortController().signal,
    copies: () => 1,
    run: () => Promise.reject(new Error('There is one copy.')),
    queues: {
      place: () => {},
      before: () => [],
      heldBack: () => {},
      isEarlier: (one, other) => earlier.includes(`${one} ${other}`),
      saw: () => {},
    },
    remind: () => {},
  });
  const permits = (): readonly StoredDocument[] =>
    [...store.docs.values()].filter(({ kind }) => kind === 'permit');
  return { locks, store, permits, removed, clock };
}

const want = (more: Partial<PermitWant> = {}): PermitWant => ({
  ...{ key: 'k', most: 1, strategy: 'cancel_newest', ...more },
});
const asks = (step: string, more: Partial<PermitRequest> = {}): PermitRequest => ({
  ...{ id: `${step} k`, step, wants: [want()], ...more },
});
const job = (more: object = {}): StoredDocument => ({
  ...{ _id: 'j', _rev: '1-j', type: 'job', owner: 'me', state: '$$ready', ...more },
});

/** The job as it is after its first step took a permit and began. */
async function withFirstStep(most = 1) {
  const of = setting([job()]);
  const taken = await of.locks.permit(asks('0', { wants: [want({ most })] }), job());
  const permits = taken.kind === 'held' ? taken.ids : [];
  const stored = job({ _rev: '2-j', steps: [{ ...ended, state: '$$active', permits }] });
  of.store.docs.set('j', stored);
  /** It has ended, as decided, but not in the store. */
  const decided = { ...stored, steps: [{ ...ended, permits }] };
  return { ...of, decided, over: [...permits] };
}

describe('the next step of a job', () => {
  it('goes on with the permit of the one that has ended, whose end is not stored yet', async () => {
    const { locks, permits, decided, over } = await withFirstStep();
    const answer = await locks.permit(asks('1', { over }), decided);
    expect(answer).toEqual({ kind: 'held', ids: over });
    expect(permits()).toMatchObject([{ _id: over[0], step: '1', rev: '2-j' }]);
  });

  it('keeps its permit where the end was not stored after all', async () => {
    const { locks, decided, over } = await withFirstStep();
    await locks.permit(asks('1', { over }), decided);
    const other = { ...job(), _id: 'other' };
    expect(await locks.permit(asks('0'), other)).toMatchObject({
      kind: 'full',
      by: [{ job: 'j' }],
    });
  });

  it('shares it with no other step that begins at the same time', async () => {
    const { locks, permits, decided, over } = await withFirstStep();
    await locks.permit(asks('1.0', { over }), decided);
    const second = await locks.permit(asks('1.1', { over }), decided);
    expect(second).toMatchObject({ kind: 'full', by: [{ job: 'j', step: '1.0' }] });
    expect(permits()).toHaveLength(1);
  });

  it('takes no permit more than there are', async () => {
    const { locks, permits, decided, over } = await withFirstStep(2);
    const request = (step: string) => asks(step, { over, wants: [want({ most: 2 })] });
    const answers = [];
    for (const step of ['1.0', '1.1', '1.2']) {
      answers.push(await locks.permit(request(step), decided));
    }
    expect(answers.map(({ kind }) => kind)).toEqual(['held', 'held', 'full']);
    expect(permits()).toHaveLength(2);
  });

  it('has none of a step that goes on', async () => {
    const { locks, store } = await withFirstStep();
    const stored = store.docs.get('j') as StoredDocument;
    const isRunning = (stored['steps'] as readonly Step[]).every(
      (one) => isObject(one) && isOpen(one),
    );
    expect(isRunning).toBe(true);
    expect(await locks.permit(asks('1'), stored)).toMatchObject({ kind: 'full' });
  });
});

describe('a job that has the oldest holder cancelled (cancel_oldest)', () => {
  const oldest = { step: '0', wants: [want({ strategy: 'cancel_oldest' })] };
  /** The holder of the only permit, as the job that asks knows it. */
  const seen = async (
    asker: StoredDocument,
    more: {
      readonly holder?: object;
      readonly docs?: readonly StoredDocument[];
      readonly lock?: object;
    } = {},
    earlier: readonly string[] = [],
  ) => {
    const { locks, store, permits } = setting([job(more.holder), ...(more.docs ?? [])], earlier);
    await locks.permit(asks('0'), job(more.holder));
    const [lock] = permits();
    const steps = [{ ...ended, state: '$$active', permits: [lock?._id] }];
    store.docs.set('j', job({ ...more.holder, _rev: '2-j', steps }));
    store.docs.set(String(lock?._id), { ...lock, ...more.lock } as StoredDocument);
    const answer = await locks.permit({ id: 'x', ...oldest }, asker);
    return answer.kind === 'full' ? answer.by[0] : answer;
  };
  const asker = (more: object = {}): StoredDocument => ({ ...job(), _id: 'new', ...more });
  const made = (_id: string, by?: string): StoredDocument => ({
    ...job({ ...(by === undefined ? {} : { parent: { job: by, step: '0' } }) }),
    _id,
  });

  it('L6: knows all jobs that it was made for, and slices of the same map', async () => {
    const child = { parent: { job: 'b', step: '0' } };
    expect(await seen(asker(child), { docs: [made('b', 'j')] })).toMatchObject({ kin: true });
    const slice = { slice: { path: '0' }, parent: { job: 'whole', step: '0.slice.0' } };
    expect(await seen(asker(slice), { holder: slice })).toMatchObject({ kin: true });
    expect(await seen(asker(child), { docs: [made('b', 'x')] })).not.toHaveProperty('kin');
  });

  it('L6: knows who came later, and who belongs to another owner', async () => {
    expect(await seen(asker(), {}, ['new j'])).toMatchObject({ job: 'j', newer: true });
    expect(await seen(asker({ owner: 'other' }))).toMatchObject({ job: 'j', foreign: true });
    const plain = await seen(asker());
    for (const one of ['newer', 'foreign', 'kin', 'undecided', 'wantedBy']) {
      expect(plain).not.toHaveProperty(one);
    }
  });

  it('L5: does not count what was asked for a job that has ended since', async () => {
    const over = { ...made('gone'), state: '$$complete' };
    const of = (wanted: string) => seen(asker(), { docs: [over], lock: { wanted_by: wanted } });
    expect(await of('gone 0')).not.toHaveProperty('wantedBy');
    expect(await of('never there')).not.toHaveProperty('wantedBy');
    expect(await of('j')).toMatchObject({ wantedBy: 'j' });
  });
});

describe('the holder of a permit', () => {
  const asking = job({ _id: 'other', _rev: '1-o' });
  const displaced = async (stored: readonly StoredDocument[]) => {
    const { locks, store, permits } = setting([job(), ...stored]);
    await locks.permit(asks('0'), job());
    const [lock] = permits();
    await locks.displace(
      {
        ...{ lock: String(lock?._id), nonce: String(lock?.['nonce']), wantedBy: 'other 0' },
        request: {
          _id: 'request:cancel:j:n',
          type: 'request',
          job: 'j',
          action: 'cancel',
        } as never,
      },
      asking,
    );
    return { asked: store.docs.has('request:cancel:j:n'), wantedBy: permits()[0]?.['wanted_by'] };
  };

  it('L5: is asked to cancel for a job that is as it was', async () => {
    expect(await displaced([asking])).toEqual({ asked: true, wantedBy: 'other 0' });
  });

  it('is not asked for one that has gone on since, or is gone', async () => {
    const none = { asked: false, wantedBy: undefined };
    expect(await displaced([{ ...asking, _rev: '2-o', state: '$$complete' }])).toEqual(none);
    expect(await displaced([])).toEqual(none);
  });
});
