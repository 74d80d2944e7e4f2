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
function setting(docs: readonly StoredDocument[]) {
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
    queues: { place: () => {}, before: () => [], heldBack: () => {}, saw: () => {} },
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
