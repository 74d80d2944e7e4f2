import { describe, expect, it } from 'vitest';
import { createPresence } from '../../../src/engine/peers/presence.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Store } from '../../../src/store/store.js';
import type { WriteResult } from '../../../src/store/batch.js';

const facts = { id: 'engine:a', pid: 1, version: '0', plugins: [], labels: [], slots: 1 };

/** One document with real compare-and-set; `answers` replace what the next writes are told. */
function oneDocument(stored?: StoredDocument, answers: (WriteResult | 'lost')[] = []) {
  let current = stored;
  const store = {
    get: () => Promise.resolve(current),
    write: (doc: StoredDocument): Promise<WriteResult> => {
      const answer = answers.shift();
      if (answer !== undefined && answer !== 'lost') return Promise.resolve(answer);
      if (doc._rev !== current?._rev) return Promise.resolve({ kind: 'conflict' });
      const rev = `${Number.parseInt(current?._rev ?? '0', 10) + 1}-x`;
      current = { ...doc, _rev: rev };
      if (answer === 'lost') return Promise.resolve({ kind: 'unknown', cause: 'no answer' });
      return Promise.resolve({ kind: 'written', rev });
    },
  } as unknown as Store;
  const remove = (): void => {
    current = undefined;
  };
  return { store, now: () => current, remove };
}

describe('the document of an engine', () => {
  it('is stored when begin resolves, also in the place of a dead one', async () => {
    const former = { _id: 'engine:a', _rev: '7-x', type: 'engine', beat: 40 };
    const document = oneDocument(former);
    await createPresence(document.store, facts, () => 5).begin(former);
    expect(document.now()).toMatchObject({ _rev: '8-x', beat: 41, started: 5, state: 'running' });
  });

  it('is not written twice when only the answer was lost', async () => {
    const document = oneDocument(undefined, ['lost']);
    await createPresence(document.store, facts, () => 5).renew();
    expect(document.now()).toMatchObject({ _rev: '1-x', beat: 1 });
  });

  it.each([
    ['the one that it was to replace lives after all', { started: 1, beat: 41 }, true],
    ['another one began at the same time', { started: 4, beat: 1 }, false],
    ['another process began in the same moment', { pid: 2, beat: 1 }, false],
  ])('is not stored where %s', async (_title, more, replaces) => {
    const other = { _id: 'engine:a', _rev: '8-x', type: 'engine', host: 'h', started: 5, pid: 1 };
    const { store, now } = oneDocument({ ...other, ...more });
    const former = replaces ? { ...other, _rev: '7-x', started: 1, beat: 40 } : undefined;
    await expect(createPresence(store, facts, () => 5).begin(former)).rejects.toMatchObject({
      code: 'engine_name_taken',
      exit: 73,
    });
    expect(now()).toMatchObject({ _rev: '8-x' });
  });

  it('tells when another engine has taken its place', async () => {
    const document = oneDocument();
    const [first, second] = [3, 5].map((at) => createPresence(document.store, facts, () => at));
    await first?.begin(undefined);
    await second?.begin(document.now());
    await expect(first?.renew()).rejects.toThrow(
      /An engine named "a" is running already: process 1 on /,
    );
  });

  it('is stored again when somebody removed it', async () => {
    const document = oneDocument();
    const presence = createPresence(document.store, facts, () => 5);
    await presence.begin(undefined);
    document.remove();
    await presence.renew();
    expect(document.now()).toMatchObject({ started: 5 });
  });

  it('is not renewed silently in vain', async () => {
    const refusals = Array.from({ length: 9 }, () => ({ kind: 'refused', reason: 'no' }) as const);
    const { store } = oneDocument(undefined, refusals);
    await expect(createPresence(store, facts, () => 5).renew()).rejects.toThrow('not stored');
  });

  // Shows J-03.
  it('moves with every renewal', async () => {
    const document = oneDocument();
    const presence = createPresence(document.store, facts, () => 5);
    await presence.renew();
    await presence.renew();
    await presence.drain();
    expect(document.now()).toMatchObject({ beat: 3, state: 'draining' });
  });
});
