import { expect, it } from 'vitest';
import { childrenLeftBy } from '../../../src/engine/children/cancel-children.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Store } from '../../../src/store/store.js';

it('all children of a job are found, also where one is removed between two pages', async () => {
  const ids = Array.from({ length: 1_200 }, (_, n) => `c${String(n).padStart(4, '0')}`);
  const store = {
    view: (_name: string, query: Readonly<Record<string, unknown>>) => {
      const { startKeyDocId: from = '', skip = 0, limit } = query;
      const begin = ids.findIndex((id) => id >= String(from)) + Number(skip);
      const page = ids.slice(begin, begin + Number(limit));
      // The last one of a page is removed before the next is read.
      if (page.length === Number(limit)) ids.splice(begin + page.length - 1, 1);
      return Promise.resolve(
        page.map((id) => ({
          id,
          key: 'p',
          value: { state: id === 'c0003' ? '$$complete' : 'a-0' },
        })),
      );
    },
    getMany: (wanted: readonly string[]) =>
      Promise.resolve(
        new Map(
          wanted.map((_id): [string, StoredDocument] => [
            _id,
            {
              _id,
              _rev: '1-a',
              type: 'job',
              state: 'a-0',
              parent: { job: 'p', step: 'm', start: 1 },
            },
          ]),
        ),
      ),
  } as unknown as Store;
  const retry = <T>(run: () => Promise<T>): Promise<T> => run();
  const parts = { store, retry } as unknown as Parameters<typeof childrenLeftBy>[0];
  const parent = { _id: 'p', _rev: '1-a', type: 'job', state: 'broken', start: 1 };
  const found = await childrenLeftBy(parts, parent);
  expect(new Set(found.map(({ child }) => child)).size).toBe(1_199);
  expect(found).toHaveLength(1_199);
});
