import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.js';
import { cursorOf, positionIn } from '../../src/client/cursor.js';
import type { Store } from '../../src/store/store.js';
import { openWorkspace } from '../support/workspace.js';

/** `count` jobs that began one after another; what each is besides depends on its number. */
async function many(count: number, more: (n: number) => object) {
  const workspace = await openWorkspace();
  const docs = Array.from({ length: count }, (_, n) => ({
    _id: `j${String(n).padStart(5, '0')}`,
    type: 'job',
    flow: 'f',
    state: '$$complete',
    exit: 0,
    start: 1_000 + n,
    end: 2_000 + n,
    steps: [],
    ...more(n),
  }));
  await workspace.put(...docs);
  let documents = 0;
  let views = 0;
  const store: Store = {
    ...workspace.store,
    getMany: (ids) => {
      documents += ids.length;
      return workspace.store.getMany(ids);
    },
    view: (...asked) => {
      views += 1;
      return workspace.store.view(...asked);
    },
  };
  return { ...workspace, client: createClient({ store }), read: () => ({ documents, views }) };
}

const now = 1e12;

describe('jobs that are several things', () => {
  it('are found without reading those that are only some of them', async () => {
    const { client, read } = await many(2_000, (n) => ({
      tags: [n % 2 === 0 ? 'even' : 'odd', ...(n % 3 === 0 ? ['third'] : []), 'all'],
      keys: { region: n < 1_000 ? 'eu' : 'us' },
    }));
    const ids = async (search: Parameters<typeof client.search>[0], limit: number) =>
      (await client.search(search, { limit, now })).jobs.map(({ _id }) => Number(_id.slice(1)));
    expect(await ids({ tags: ['even', 'odd'] }, 10)).toEqual([]);
    expect(read().documents).toBe(0);
    expect(await ids({ tags: ['all', 'third', 'even'] }, 3)).toEqual([1998, 1992, 1986]);
    const key = { name: 'region', value: 'eu' };
    expect(await ids({ tags: ['odd', 'third'], key }, 2)).toEqual([999, 993]);
    expect(read().documents).toBeLessThan(20);
  });

  it('are found where one thing is rare, page by page', async () => {
    const { client, read } = await many(3_000, (n) => ({
      tags: ['usual', ...(n % 40 === 7 ? ['rare'] : [])],
    }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.search({ tags: ['usual', 'rare'] }, { limit: 9, cursor, now });
      seen.push(...page.jobs.map(({ _id }) => _id));
      ({ cursor } = page);
    } while (cursor !== undefined);
    const numbers = Array.from({ length: 3_000 }, (_, n) => n).filter((n) => n % 40 === 7);
    expect(seen).toEqual(numbers.toReversed().map((n) => `j${String(n).padStart(5, '0')}`));
    expect(read().documents).toBeLessThan(200);
  });
});

describe('a cursor', () => {
  const connection = { url: 'http://h:1', database: 'd', user: 'u', password: 'p', app: 'tws' };

  it('says nothing to whoever has it, and serves every process of the database', () => {
    const cursor = cursorOf(connection, { when: 77, id: 'somebody-elses-job' });
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('somebody');
    expect(positionIn({ ...connection }, cursor)).toEqual({ when: 77, id: 'somebody-elses-job' });
  });

  it('is refused when it was made up, changed or is of another database', () => {
    const cursor = cursorOf(connection, { when: 77, id: 'x' });
    const own = Buffer.from(JSON.stringify([1, 'x'])).toString('base64url');
    const changed = `${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const wrong of ['', 'x', own, changed, cursor.slice(0, 30)]) {
      expect(() => positionIn(connection, wrong)).toThrow('cursor');
    }
    expect(() => positionIn({ ...connection, password: 'other' }, cursor)).toThrow('cursor');
  });
});
