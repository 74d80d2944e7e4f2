import { expect, it } from 'vitest';
import { mostLooked, readEvents } from '../../src/store/events.js';
import type { Store } from '../../src/store/store.js';

it('looks at the latest events, however many there are of the same type and key', async () => {
  const all = Array.from({ length: 25_000 }, (_, n) => ({
    id: `e${String(n).padStart(5, '0')}`,
    // The latest ones are in the middle of the ids.
    at: n === 12_000 ? 100_000 : n === 10_000 ? 99_999 : n,
  }));
  const store = {
    view: (_name: string, query: Readonly<Record<string, unknown>>) => {
      const { startKeyDocId: from = '', skip = 0, limit } = query;
      const begin = all.findIndex(({ id }) => id >= String(from)) + Number(skip);
      const rows = all.slice(begin, begin + Number(limit));
      // The last one of a page is removed before the next is read.
      if (from === '' && rows.length > mostLooked) all.splice(rows.length - 1, 1);
      return Promise.resolve(rows.map(({ id, at }) => ({ id, key: [], value: [at, null] })));
    },
    getMany: (ids: readonly string[]) =>
      Promise.resolve(
        new Map(
          ids.map((id) => {
            const at = all.find((one) => one.id === id)?.at;
            return [id, { _id: id, _rev: '1-a', type: 'event', event: 'x', key: 'k', at }];
          }),
        ),
      ),
  } as unknown as Store;
  const found = await readEvents(store, { type: 'x', key: 'k' }, { now: 200_000 });
  expect(found).toHaveLength(mostLooked);
  expect(found[0]?.id).toBe('e12000');
  expect(found[1]?.id).toBe('e10000');
  expect(found[2]?.id).toBe('e24999');
});
