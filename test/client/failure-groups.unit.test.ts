import { expect, it } from 'vitest';
import { failureGroups } from '../../src/client/failure-groups.js';
import type { Store } from '../../src/store/store.js';
import type { ViewQuery } from '../../src/store/views.js';

/** Failed jobs, the newest first, of these owners. */
function failedOf(...owners: readonly string[]): Store {
  const rows = owners.map((owner, n) => ({
    ...{ id: `j${n}`, key: ['status', 'failed', 1_000 - n] },
    value: ['f', owner, 'failed', 'Broken'],
  }));
  return {
    view: (_name: string, { limit = 0 }: ViewQuery) => Promise.resolve(rows.slice(0, limit)),
    getMany: () => Promise.resolve(new Map()),
  } as unknown as Store;
}

const jobs = ['other', 'other', 'mine', 'other', 'mine'];

it.each([
  ['all owners', undefined, 5, { looked: 5, more: false }],
  ['all owners, and there are older ones', undefined, 4, { looked: 4, more: true }],
  ['one owner', ['mine'], 5, { looked: 2, more: false }],
  [
    'one owner, also where the jobs of others are in between',
    ['mine'],
    4,
    { looked: 1, more: true },
  ],
  ['one owner of whose jobs none is among them', ['mine'], 2, { looked: 0, more: true }],
])('the limit of failure groups counts the failed jobs of all owners: %s', async (...row) => {
  const [, owners, most, found] = row;
  const { groups, ...rest } = await failureGroups(failedOf(...jobs), owners, most);
  expect(rest).toEqual(found);
  expect(groups.map(({ count }) => count)).toEqual(found.looked === 0 ? [] : [found.looked]);
});
