import { describe, expect, it } from 'vitest';
import { removeJob } from '../../src/client/remove-job.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { Store } from '../../src/store/store.js';

/** A store of ended jobs, by id with the job that each was made for. */
function family(parents: Readonly<Record<string, string | undefined>>) {
  const docs = new Map(
    Object.keys(parents).map((id): [string, StoredDocument] => [
      id,
      { _id: id, _rev: '1-x', type: 'job', state: '$$complete' },
    ]),
  );
  const store = {
    get: (id: string) => Promise.resolve(docs.get(id)),
    getMany: (ids: readonly string[]) =>
      Promise.resolve(new Map(ids.map((id) => [id, docs.get(id)]))),
    view: (_name: string, { startKey }: { startKey: string }) =>
      Promise.resolve(
        Object.entries(parents).flatMap(([id, parent]) => (parent === startKey ? [{ id }] : [])),
      ),
    remove: (id: string) => {
      docs.delete(id);
      return Promise.resolve({ kind: 'written', rev: '2-x' });
    },
  } as unknown as Store;
  return { store, left: () => [...docs.keys()] };
}

const tree = { a: undefined, b: 'a', c: 'a', d: 'b', other: undefined };

describe('removeJob', () => {
  it('removes a family that is as large as it may be, children first', async () => {
    const { store, left } = family(tree);
    expect(await removeJob(store, 'a', { children: true, most: 4 })).toEqual(['a', 'b', 'c', 'd']);
    expect(left()).toEqual(['other']);
  });

  it('removes nothing of a family that is too large, and says so', async () => {
    const { store, left } = family(tree);
    await expect(removeJob(store, 'a', { children: true, most: 3 })).rejects.toMatchObject({
      code: 'job_family_large',
      message:
        'Job a and the child jobs below it are more than 3 jobs, which one request cannot remove; nothing was removed.',
    });
    expect(left()).toEqual(['a', 'b', 'c', 'd', 'other']);
    expect(await removeJob(store, 'a', { most: 3 })).toEqual(['a']);
  });
});
