import { expect, test } from 'vitest';

import type { Design } from '../../src/embedded/databases/design.js';
import { createViewIndexes, type ViewIndexes } from '../../src/embedded/views/view-indexes.js';
import { openKind } from './storages.js';

/** A view that emits the id of every document. */
const design = {
  signature: 'ids',
  includeDesign: false,
  map: (docs: readonly { readonly _id: string }[]) =>
    Promise.resolve(docs.map(({ _id }) => [[[_id, null]]])),
} as unknown as Design;

async function idsIn(indexes: ViewIndexes): Promise<readonly string[]> {
  const index = await indexes.of(design);
  await index.update(design);
  const ids: string[] = [];
  for await (const { id } of index.rows(0, {})) ids.push(id);
  return ids;
}

test('an index that lost what it had taken in is built anew when purges are forgotten', async () => {
  const store = await openKind('leveldb');
  const results = await store.write([{ _id: 'a' }, { _id: 'b' }], { newEdits: true });
  const revs = results.map((result) => ('rev' in result ? result.rev : ''));
  expect(await idsIn(createViewIndexes(store))).toEqual(['a', 'b']);
  await store.purge(new Map([['a', [String(revs[0])]]]));
  await store.purge(new Map([['b', [String(revs[1])]]]));
  await store.write([{ _id: 'c' }], { newEdits: true });
  // The power fails: the purges are on disk, the index is as it was.
  await store.forgetPurges(1);
  expect(await idsIn(createViewIndexes(store))).toEqual(['c']);
});
