import { describe, expect, it } from 'vitest';
import { grantOpen } from '../../src/client/rates.js';
import type { Store } from '../../src/store/store.js';

const now = 100_000;
const request = {
  ...{ id: 'rate:1', for: 'x', attempt: '0', of: 'task "a"' },
  ...{ limit: 2, perMs: 1_000 },
};

describe('a rate limit that somebody looks at', () => {
  it.each([
    ['is open while there is room', [{ at: now }], undefined],
    ['is full until the first place comes free', [{ at: now - 300 }, { at: now }], now + 800],
    ['counts merged grants by their number', [{ at: now - 300, n: 3 }, { at: now }], now + 800],
    [
      'counts a number that no memory holds',
      [{ at: now, n: Number.MAX_SAFE_INTEGER }],
      now + 1_100,
    ],
    ['counts no grant whose window is over', [{ at: 0, n: 9 }, { at: now }], undefined],
  ])('%s', async (_title, grants, until) => {
    const doc = {
      ...{ _id: 'rate:1', _rev: '1-a', type: 'rate', of: 'task "a"', per: 1_000 },
      ...{ grants: grants.map((grant) => ({ gen: 1, ...grant })), born: 'b', nonce: 'n' },
    };
    const store = { get: () => Promise.resolve(doc) } as unknown as Store;
    const answer = await grantOpen(store, request, now);
    expect(answer).toEqual(until === undefined ? { kind: 'held' } : { kind: 'full', until });
  });
});
