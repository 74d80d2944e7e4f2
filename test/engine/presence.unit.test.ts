import { describe, expect, it } from 'vitest';
import { createPresence } from '../../src/engine/presence.js';
import type { StoredDocument } from '../../src/model/parse.js';
import type { Store } from '../../src/store/store.js';
import type { WriteResult } from '../../src/store/batch.js';

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
  return { store, now: () => current };
}

describe('the document of an engine', () => {
  it('is stored when renew resolves, also over that of a former life', async () => {
    const former = { _id: 'engine:a', _rev: '7-x', type: 'engine', beat: 40 };
    const document = oneDocument(former);
    await createPresence(document.store, facts, () => 5).renew();
    expect(document.now()).toMatchObject({ _rev: '8-x', beat: 41, started: 5, state: 'running' });
  });

  it('is not written twice when only the answer was lost', async () => {
    const document = oneDocument(undefined, ['lost']);
    await createPresence(document.store, facts, () => 5).renew();
    expect(document.now()).toMatchObject({ _rev: '1-x', beat: 1 });
  });

  it('is not renewed silently in vain', async () => {
    const refusals = Array.from({ length: 9 }, () => ({ kind: 'refused', reason: 'no' }) as const);
    const { store } = oneDocument(undefined, refusals);
    await expect(createPresence(store, facts, () => 5).renew()).rejects.toThrow('not stored');
  });

  it('moves with every renewal', async () => {
    const document = oneDocument();
    const presence = createPresence(document.store, facts, () => 5);
    await presence.renew();
    await presence.renew();
    await presence.drain();
    expect(document.now()).toMatchObject({ beat: 3, state: 'draining' });
  });
});
