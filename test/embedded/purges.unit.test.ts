import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Absent, type Doc, type DocumentStore } from '../../src/embedded/storage/storage.js';
import { runs } from '../support/properties.js';
import { kinds, openKind, testDirectory } from './storages.js';

/** One thing that happens to one of a few documents. */
type Step =
  | { readonly do: 'write' | 'delete'; readonly doc: number; readonly file: boolean }
  | { readonly do: 'fork'; readonly doc: number; readonly letter: string }
  | { readonly do: 'purge'; readonly doc: number; readonly leaf: number }
  | { readonly do: 'reopen' };

const doc = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('write' as const, 'delete' as const), doc, file: fc.boolean() }),
  fc.record({ do: fc.constant('fork' as const), doc, letter: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ do: fc.constant('purge' as const), doc, leaf: fc.nat({ max: 3 }) }),
  fc.record({ do: fc.constant('reopen' as const) }),
);

const idOf = (n: number): string => `doc-${n}`;

async function leavesOf(store: DocumentStore, id: string): Promise<readonly Doc[]> {
  const open = await store.openRevs(id, 'all', { revs: true, attachments: true });
  return open.flatMap((leaf) => ('ok' in leaf ? leaf.ok : []));
}

async function edit(store: DocumentStore, one: Step & { doc: number }, n: number): Promise<void> {
  const id = idOf(one.doc);
  if (one.do === 'fork') {
    const name = one.letter.repeat(32);
    const rev = { _rev: `2-${name}`, _revisions: { start: 2, ids: [name, 'e'.repeat(32)] } };
    await store.write([{ _id: id, n, ...rev }], { newEdits: false });
    return;
  }
  const current = await store.get(id);
  const rev = current instanceof Absent ? {} : { _rev: String(current._rev) };
  if (one.do === 'delete' && current instanceof Absent) return;
  const data = Buffer.from(`file ${one.doc % 2}`).toString('base64');
  const file = { a: { content_type: 'text/plain', data } };
  const isFile = 'file' in one && one.file && one.do === 'write';
  const body = one.do === 'delete' ? { _deleted: true } : { n };
  const written = { _id: id, ...rev, ...body, ...(isFile ? { _attachments: file } : {}) };
  await store.write([written], { newEdits: true });
}

/** Everything that a store shows but its sequences. */
async function shownOf(store: DocumentStore, ids: readonly string[]): Promise<object> {
  const { docCount, deletedCount } = await store.info();
  const changes = await store.changes({ since: 0, limit: 100 });
  const docs = await Promise.all(
    ids.map((id) => store.get(id, { conflicts: true, deletedConflicts: true, attachments: true })),
  );
  return {
    ...{ docCount, deletedCount },
    changes: changes
      .map(({ id, deleted, leaves }) => [id, deleted, [...leaves].toSorted()])
      .toSorted(),
    live: (await store.range({})).map(({ id, rev }) => [id, rev]),
    docs: docs.map(withSortedConflicts),
  };
}

function withSortedConflicts(found: Doc | Absent): object {
  if (found instanceof Absent) return found;
  const sorted = (name: string): object =>
    Array.isArray(found[name]) ? { [name]: (found[name] as string[]).toSorted() } : {};
  return { ...found, ...sorted('_conflicts'), ...sorted('_deleted_conflicts') };
}

describe.each(kinds)('purges of the storage %s', (kind) => {
  test('leave what a store has that got the other leaves only', async () => {
    const ids = [0, 1, 2].map(idOf);
    const story = fc.array(step, { minLength: 4, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        const dir = await testDirectory();
        let store = await openKind(kind, dir);
        let purges = 0;
        for (const [n, one] of steps.entries()) {
          if (one.do === 'reopen') {
            await store.close();
            store = await openKind(kind, dir);
          } else if (one.do === 'purge') {
            const id = idOf(one.doc);
            const revs = (await leavesOf(store, id)).map(({ _rev }) => String(_rev)).toSorted();
            const asked = revs.filter((_, i) => i === one.leaf % 4 || one.leaf === 3);
            const before = await store.updateSeq();
            const taken = await store.purge(new Map([[id, [...asked, `9-${'f'.repeat(32)}`]]]));
            expect(taken).toEqual(new Map([[id, asked]]));
            if (asked.length > 0) purges += 1;
            const isChanged = asked.length > 0 && asked.length < revs.length;
            expect(await store.updateSeq()).toBe(before + Number(isChanged));
            expect(await store.purgeSeq()).toBe(purges);
          } else await edit(store, one, n);
        }
        expect((await store.purges(0)).map(({ seq }) => seq)).toEqual(
          Array.from({ length: purges }, (_, i) => i + 1),
        );
        const other = await openKind(kind);
        for (const id of ids) await other.write(await leavesOf(store, id), { newEdits: false });
        expect(await shownOf(store, ids)).toEqual(await shownOf(other, ids));
        await store.close();
        await other.close();
      }),
      runs(15),
    );
  });

  test('are remembered until they are forgotten', async () => {
    const store = await openKind(kind);
    const [result] = await store.write([{ _id: 'a' }], { newEdits: true });
    const rev = result !== undefined && 'rev' in result ? result.rev : '';
    await store.purge(new Map([['a', [rev]]]));
    expect(await store.purges(0)).toEqual([{ seq: 1, id: 'a', revs: [rev] }]);
    await store.forgetPurges(1);
    expect(await store.purges(0)).toEqual([]);
    expect(await store.purgeSeq()).toBe(1);
  });
});
