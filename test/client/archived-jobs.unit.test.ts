import { expect, it } from 'vitest';
import type { Archive, ArchiveEntry } from '../../src/client/archive/archive.js';
import { archivedJob, archivedJobs } from '../../src/client/archive/archived-jobs.js';

const places = [{ folder: 'first' }, { folder: 'second' }];
const facts = { flow: 'f', owner: 'me', status: 'succeeded', start: 1, end: 2 } as const;

const entry = (job: string, at: number, ids: readonly string[]): ArchiveEntry => ({
  facts: { ...facts, job, documents: ids.length },
  at,
  read: () => Promise.resolve(ids.map((_id) => ({ _id, _rev: '1-a', archivedAt: at }))),
});

/** Two archives; how often each was read. */
function archives(entriesOf: Readonly<Record<string, readonly ArchiveEntry[]>>) {
  const reads: string[] = [];
  const open = ({ folder = '' }: { readonly folder?: string }): Archive => ({
    name: folder,
    store: () => Promise.resolve(),
    async *entries() {
      reads.push(folder);
      yield* entriesOf[folder] ?? [];
    },
    close: () => Promise.resolve(),
  });
  const connection = { url: '', database: '', app: '' };
  return { reads, surroundings: { root: '.', connection, open } };
}

it('shows each document of a job as it was archived last, whichever archive that is in', async () => {
  const { reads, surroundings } = archives({
    first: [entry('a', 20, ['a', 'b']), entry('other', 40, ['other'])],
    second: [entry('a', 10, ['a', 'b', 'c']), entry('a', 30, ['b'])],
  });
  const found = await archivedJob(places, surroundings, { job: 'a' });
  expect(found).toMatchObject({ job: 'a', archive: 'second', at: 30, documents: 3 });
  expect(found?.docs.map(({ _id, archivedAt }) => [_id, archivedAt])).toEqual([
    ['a', 20],
    ['b', 30],
    ['c', 10],
  ]);
  expect(reads).toEqual(['first', 'second']);
  const listed = await archivedJobs(places, surroundings);
  expect(listed.map(({ job, archive, at }) => [job, archive, at])).toEqual([
    ['a', 'second', 30],
    ['other', 'first', 40],
  ]);
});
