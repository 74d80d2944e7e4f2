import { describe, expect, it } from 'vitest';
import type { Archive } from '../../src/client/archive/archive.js';
import { retainJobs } from '../../src/client/retain.js';
import type { Store } from '../../src/store/store.js';
import { modelledDatabase } from './modelled-store.js';

const now = Date.UTC(2026, 0, 31);
const day = 86_400_000;

/** An archive in memory that refuses what holds one of these jobs. */
function archiveWithout(refused: readonly string[]) {
  const asked: string[][] = [];
  const taken: string[] = [];
  const archive: Archive = {
    name: 'memory',
    store: (families) => {
      const jobs = families.map(({ facts }) => facts.job);
      asked.push(jobs);
      if (jobs.some((job) => refused.includes(job))) return Promise.reject(new Error('too large'));
      taken.push(...jobs);
      return Promise.resolve();
    },
    entries: () => {
      throw new Error('nobody reads it');
    },
    close: () => Promise.resolve(),
  };
  return { archive, asked, taken };
}

/** Makes a pass over ended jobs, the first one the newest; `store` may be changed. */
async function passOver(
  ids: readonly string[],
  archive: Archive,
  changed: (store: Store) => Partial<Store> = () => ({}),
) {
  const database = modelledDatabase(
    () => undefined,
    () => undefined,
  );
  const store = database.store();
  for (const [i, _id] of ids.entries()) {
    const end = now - 40 * day - i * 60_000;
    const job = {
      flow: 'f',
      owner: 'me',
      state: '$$complete',
      exit: 0,
      steps: [],
      start: end,
      end,
    };
    await store.write({ _id, type: 'job', ...job });
  }
  const usual = { succeeded: { age: 'P1D' }, archive: { folder: 'old' } };
  const result = await retainJobs(
    { ...store, ...changed(store) },
    { now, usual, openArchive: () => archive },
  );
  return { ...result, left: [...database.docs.keys()].sort() };
}

describe('an archive that refuses a job', () => {
  it('takes the others of the batch, also where that comes first', async () => {
    const { archive, taken } = archiveWithout(['bad']);
    const result = await passOver(['bad', 'a', 'b'], archive);
    expect(taken.sort()).toEqual(['a', 'b']);
    expect(result).toMatchObject({ archived: 2, left: ['bad'] });
    expect(result.kept).toEqual([{ id: 'bad', because: 'archive', job: 'bad' }]);
    expect(result.failures).toEqual([{ archive: 'folder old', job: 'bad', message: 'too large' }]);
  });

  it('is given up after three in a row', async () => {
    const ids = Array.from({ length: 150 }, (_, i) => `j${i}`);
    const { archive, asked } = archiveWithout(ids);
    const result = await passOver(ids, archive);
    expect(asked.map(({ length }) => length)).toEqual([100, 1, 1, 1]);
    expect(result).toMatchObject({ archived: 0, rows: [{ removed: 0, kept: 150 }] });
    expect(result.failures).toMatchObject([{ job: 'j0', message: 'too large' }]);
  });
});

describe('a job that is to be archived', () => {
  it('stays when it cannot be read, and the others go', async () => {
    const { archive } = archiveWithout([]);
    const result = await passOver(['bad', 'a', 'b'], archive, ({ copy }) => ({
      copy: (id, rev) => (id === 'bad' ? Promise.reject(new Error('no')) : copy(id, rev)),
    }));
    expect(result.left).toEqual(['bad']);
    expect(result.failures).toEqual([{ archive: 'folder old', job: 'bad', message: 'no' }]);
  });

  it('stays when it is too large to be held in memory', async () => {
    const { archive, taken } = archiveWithout([]);
    const result = await passOver(['bad', 'a'], archive, ({ copy }) => ({
      copy: async (id, rev) => {
        const doc = await copy(id, rev);
        const large = id === 'bad' ? { large: 'x'.repeat(256_000_000) } : {};
        return doc && { ...doc, ...large };
      },
    }));
    expect(result).toMatchObject({ left: ['bad'], kept: [{ because: 'large' }], failures: [] });
    expect(taken).toEqual(['a']);
  });
});
