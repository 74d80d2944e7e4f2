import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import { createSharedReader } from '../../src/store/shared-reader.js';

const leaf = (id: string): StoredDocument => ({ _id: id, _rev: '1-a' });
const ids = (count: number, prefix = 'j') => Array.from({ length: count }, (_, i) => prefix + i);

/** A database that answers when it is told to, and writes down what it was asked for. */
function opened(many: 'answers' | 'fails' | 'is too long' = 'answers') {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const answered = (): Promise<void> => new Promise((resolve) => held.push(resolve));
  const read = createSharedReader({
    readOne: async (id, copies) => {
      asked.push(`${id} r=${copies}`);
      await answered();
      if (id === 'bad') throw new Error('unreadable');
      return [leaf(id)];
    },
    readMany: async (all, copies) => {
      asked.push(`${all.length} r=${copies}`);
      await answered();
      if (many === 'fails') throw new Error('one of them is unreadable');
      return many === 'is too long' ? undefined : all.map((id) => [leaf(id)]);
    },
  });
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const answerAll = async (): Promise<void> => {
    for (await turns(); held.length > 0; await turns()) held.splice(0).forEach((go) => go());
  };
  return { asked, read, turns, answerAll };
}

describe('leaf revisions', () => {
  it('of one document are read by its own request', async () => {
    const { asked, read, answerAll } = opened();
    const found = read('a', 3);
    await answerAll();
    expect(await found).toEqual([leaf('a')]);
    expect(asked).toEqual(['a r=3']);
  });

  it('that are asked for at the same time are read together, each answer to its question', async () => {
    const { asked, read, answerAll } = opened();
    const found = Promise.all(ids(150).map((id) => read(id, 3)));
    await answerAll();
    expect(await found).toEqual(ids(150).map((id) => [leaf(id)]));
    expect(asked).toEqual(['100 r=3', '50 r=3']);
  });

  it('T11: are never taken from a request that had begun before', async () => {
    const { asked, read, turns, answerAll } = opened();
    const first = Promise.all(ids(2).map((id) => read(id, 3)));
    await turns();
    const later = Promise.all(ids(2).map((id) => read(id, 3)));
    await turns();
    expect(asked).toEqual(['2 r=3', '2 r=3']);
    await answerAll();
    expect([await first, await later]).toHaveLength(2);
  });

  it('wait while three requests are under way, and go together then', async () => {
    const { asked, read, turns, answerAll } = opened();
    const all: Promise<unknown>[] = [];
    for (const id of ids(3)) {
      all.push(read(id, 3));
      await turns();
    }
    for (const id of ids(5, 'k')) {
      all.push(read(id, 3));
      await turns();
    }
    expect(asked).toEqual(['j0 r=3', 'j1 r=3', 'j2 r=3']);
    await answerAll();
    await Promise.all(all);
    expect(asked.slice(3)).toEqual(['5 r=3']);
  });

  it('by different numbers of copies are not read together', async () => {
    const { asked, read, answerAll } = opened();
    const found = Promise.all([read('a', 3), read('b', 3), read('c', 1)]);
    await answerAll();
    await found;
    expect(asked).toEqual(['2 r=3', 'c r=1']);
  });

  it.each(['fails', 'is too long'] as const)(
    'T12: are read alone when the answer %s',
    async (how) => {
      const { asked, read, answerAll } = opened(how);
      const found = Promise.allSettled(['a', 'bad', 'c'].map((id) => read(id, 3)));
      await answerAll();
      expect((await found).map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(asked).toEqual(['3 r=3', 'a r=3', 'bad r=3', 'c r=3']);
    },
  );
});
