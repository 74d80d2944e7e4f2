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
  for (const _id of idsUpTo(count)) {
    const made = await store.write({ _id, type: 'job' });
    if (made.kind === 'written') await store.remove(_id, made.rev);
  }
  await noteRemoval(store, new Map(database.tombstones), 0);
  return database;
}

const jobsIn = (ids: Iterable<string>): readonly string[] =>
  [...ids].filter((id) => id.startsWith('job-'));

/** Makes a job again, as somebody who submits it with the same id does. */
async function makeAgain(store: Store, _id: string): Promise<void> {
  await store.write({ _id, type: 'job', again: true });
}

describe('Tombstones of retention', () => {
  it('U40: stay for a day', async () => {
    const count = 2 * mostPurged + 1;
    const database = await removed(count);
    const store = database.store();
    expect(await purgeRemoved(store, { now: day - 1, mayGoOn: go })).toBe(0);
    expect([database.tombstones.size, database.docs.size]).toEqual([count, 1]);
    expect(await purgeRemoved(store, { now: day, mayGoOn: go })).toBe(count);
    expect(jobsIn(database.tombstones.keys())).toEqual([]);
  });

  it('of what is written down for them are purged a day later, and that is all', async () => {
    const database = await removed(3);
    const store = database.store();
    for (const [now, purged, tombstones, docs] of [
      [day, 3, 1, 1],
      [2 * day, 1, 1, 0],
      [3 * day, 0, 1, 0],
    ] as const) {
      expect(await purgeRemoved(store, { now, mayGoOn: go })).toBe(purged);
      expect([database.tombstones.size, database.docs.size]).toEqual([tombstones, docs]);
    }
  });

  it('U40: of a document that was removed again since then stay', async () => {
    const database = await removed(2);
    const store = database.store();
    await makeAgain(store, 'job-1');
    await store.remove('job-1', String(database.docs.get('job-1')?._rev));
    expect(await purgeRemoved(store, { now: day, mayGoOn: go })).toBe(1);
    expect(jobsIn(database.tombstones.keys())).toEqual(['job-1']);
  });

  it('are purged by the next pass when one is broken off, or the server refuses', async () => {
    const database = await removed(3 * mostPurged);
    const store = database.store();
    let asked = 0;
    const mayGoOn = () => Promise.resolve((asked += 1) < 3);
    expect(await purgeRemoved(store, { now: day, mayGoOn })).toBe(2 * mostPurged);
    const refusing = { ...store, purge: () => Promise.resolve(undefined) };
    expect(await purgeRemoved(refusing, { now: day, mayGoOn: go })).toBe(0);
    expect(await purgeRemoved(store, { now: day, mayGoOn: go })).toBe(mostPurged);
    expect(jobsIn(database.tombstones.keys())).toEqual([]);
  });

  it('are not those that a document of a person names, which is left as it is', async () => {
    const database = await removed(1);
    const store = database.store();
    const tombstones = Object.fromEntries(database.tombstones);
    const mine = { type: 'removal', at: 0, tombstones };
    await store.write({ ...mine, _id: 'removal:mine' });
    await purgeRemoved(store, { now: day, mayGoOn: go });
    expect(database.docs.get('removal:mine')).toMatchObject(mine);
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
        expect(jobsIn(database.tombstones.keys())).toEqual([]);
      }
    }
  });
});
