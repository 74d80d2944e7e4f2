import { describe, expect, it } from 'vitest';
import { noteRemoval, purgeRemoved } from '../../src/client/retain-purge.js';
import { mostPurged } from '../../src/store/purge.js';
import type { Store } from '../../src/store/store.js';
import { modelledDatabase, type BeforeWrite, type ModelledDatabase } from './modelled-store.js';

const day = 86_400_000;
const go = () => Promise.resolve(true);
const idsUpTo = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `job-${i}`);

/** A database in which retention has removed jobs at time 0. */
async function removed(count: number): Promise<ModelledDatabase> {
  const database = modelledDatabase(
    () => undefined,
    () => undefined,
  );
  const store = database.store();
  const ids = idsUpTo(count);
  await noteRemoval(store, ids, 0);
  for (const _id of ids) {
    const made = await store.write({ _id, type: 'job' });
    if (made.kind === 'written') await store.remove(_id, made.rev);
  }
  return database;
}

/** Makes a job again, as somebody who submits it with the same id does. */
async function makeAgain(store: Store, _id: string): Promise<void> {
  await store.write({ _id, type: 'job', again: true });
}

describe('Tombstones of retention', () => {
  it('U40: stay for a day, and are gone then with what named them', async () => {
    const count = 2 * mostPurged + 1;
    const database = await removed(count);
    const store = database.store();
    expect(await purgeRemoved(store, { now: day - 1, mayGoOn: go })).toBe(0);
    expect([database.tombstones.size, database.docs.size]).toEqual([count, 1]);
    expect(await purgeRemoved(store, { now: day, mayGoOn: go })).toBe(count);
    expect([database.tombstones.size, database.docs.size]).toEqual([0, 0]);
  });

  it('are purged by the next pass when one is broken off', async () => {
    const database = await removed(3 * mostPurged);
    const store = database.store();
    let asked = 0;
    const mayGoOn = () => Promise.resolve((asked += 1) < 3);
    expect(await purgeRemoved(store, { now: day, mayGoOn })).toBe(2 * mostPurged);
    expect(await purgeRemoved(store, { now: day, mayGoOn: go })).toBe(mostPurged);
    expect([database.tombstones.size, database.docs.size]).toEqual([0, 0]);
  });

  it('leave a document alone that has been made again', async () => {
    const database = await removed(3);
    const store = database.store();
    await makeAgain(store, 'job-1');
    const { _rev: rev } = database.docs.get('job-1') ?? {};
    expect(await purgeRemoved(store, { now: day, mayGoOn: go })).toBe(2);
    expect(database.docs.get('job-1')?._rev).toBe(rev);
  });

  it('U41: no document is hidden from views, wherever a pass dies and whenever one is made again', async () => {
    const count = mostPurged + 2;
    // The job is made again before each of the writes of a pass, which dies at each one of them.
    for (let again = 1; again < 8; again += 1) {
      for (let death = 1; death < 8; death += 1) {
        const database = await removed(count);
        const remake = (): void => {
          for (const id of ['job-0', `job-${count - 1}`]) {
            const rev = database.tombstones.get(id);
            if (rev !== undefined || !database.docs.has(id)) void makeAgain(database.store(), id);
          }
        };
        let writes = 0;
        const before: BeforeWrite = () => {
          writes += 1;
          if (writes === again) remake();
          if (writes !== death) return 'go';
          return death % 2 === 0 ? 'die' : 'die after';
        };
        const options = { now: day, mayGoOn: go };
        await purgeRemoved(database.store(before), options).catch(() => undefined);
        await purgeRemoved(database.store(), options);
        expect([again, death, [...database.hidden]]).toEqual([again, death, []]);
        expect([...database.docs.keys()].filter((id) => id.startsWith('removal:'))).toEqual([]);
        const left = [...database.tombstones.keys()];
        expect(left.filter((id) => id.startsWith('job'))).toEqual([]);
      }
    }
  });
});
