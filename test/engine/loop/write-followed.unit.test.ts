import { expect, it } from 'vitest';
import { resolveLeaves, unclear } from '../../../src/engine/loop/write-followed.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { WriteResult } from '../../../src/store/batch.js';

const rule = { flow: 'f', owner: 'me', entry: 0, by: 'batch', period: 1_000, size: 9 };
const leaf = (rev: string, event: string): StoredDocument => ({
  ...{ _id: 'gathering:f:me:1', _rev: rev, type: 'gathering', ...rule, next_due: 1_001 },
  events: [{ id: event, at: 1 }],
});

/** Resolves two revisions that name different events; `write`: what the store says to the one made of both. */
async function resolved(write: () => WriteResult, leaves = [leaf('1-b', 'e1'), leaf('1-a', 'e2')]) {
  const asked: string[] = [];
  const logged: string[] = [];
  const parts = {
    store: {
      leaves: async () => leaves,
      write: async () => {
        asked.push('write');
        return write();
      },
      remove: async (_id: string, rev: string) => {
        asked.push(`remove ${rev}`);
        return { kind: 'written', rev: '2-x' };
      },
    },
    retry: async <T>(ask: () => Promise<T>) => ask(),
    replicas: { many: true, count: 3 },
    life: new AbortController(),
    documentLimit: { bytes: 100 },
    once: { log: (_level: string, _id: string, text: string) => logged.push(text) },
  } as unknown as Parameters<typeof resolveLeaves>[0];
  return { found: await resolveLeaves(parts, leaf('', '')._id), asked, logged };
}

it('revisions that cannot be stored as one are tried once, told, and left as they are', async () => {
  const { found, asked, logged } = await resolved(() => ({ kind: 'refused', reason: 'too large' }));
  expect([found, asked]).toEqual([unclear, ['write']]);
  expect(logged).toEqual([expect.stringContaining('cannot be made one: too large')]);
});

it('revisions that others change again and again are not taken for a document that is missing', async () => {
  const { found, asked } = await resolved(() => ({ kind: 'conflict' }));
  expect(found).toBe(unclear);
  expect([...new Set(asked)]).toEqual(['write']);
  expect((await resolved(() => ({ kind: 'conflict' }), [])).found).toBeUndefined();
});
