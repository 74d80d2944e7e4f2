import { expect, it, vi } from 'vitest';
import { problem } from '../../src/errors.js';
import { createHookRefusals } from '../../src/http/plumbing/hook-refusals.js';
import type { StoredDocument } from '../../src/model/document.js';

const quiet = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

it('writes how many deliveries were refused and the latest, once for many, beside what others write', async () => {
  const docs = new Map<string, StoredDocument>([
    ['h', { _id: 'h', _rev: '1-a', type: 'hook', refused: { count: 2, at: 5, status: 413 } }],
    ['odd', { _id: 'odd', _rev: '1-a', type: 'hook', refused: 'many' }],
    ['flow', { _id: 'flow', _rev: '1-a', type: 'flow' }],
  ]);
  const written: StoredDocument[] = [];
  let conflicts = 1;
  const client = {
    get: async (id: string) => docs.get(id),
    write: async (doc: object) => {
      const { _id: id } = doc as StoredDocument;
      if (id === 'h' && conflicts-- > 0) throw problem('document_conflict', { id });
      written.push(doc as StoredDocument);
      return '2-b';
    },
  };
  let now = 10;
  const refusals = createHookRefusals({ client, log: quiet, now: () => now++, everyMs: 1 });
  for (let i = 0; i < 1_000; i += 1) refusals.note('h', 401);
  for (const id of ['odd', 'flow', 'gone']) refusals.note(id, 413);
  await expect.poll(() => written.length).toBe(2);
  await refusals.end();
  expect(written).toEqual([
    { ...docs.get('odd'), refused: { count: 1, at: 1_010, status: 413 } },
    { ...docs.get('h'), refused: { count: 1_002, at: 1_009, status: 401 } },
  ]);
  refusals.note('h', 401);
  await refusals.end();
  expect(written).toHaveLength(3);
  expect(quiet.error).not.toHaveBeenCalled();
});
