import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { archivedJobs } from '../../src/client/archive/archived-jobs.js';
import { batchArchive } from '../../src/client/archive/batches.js';
import { purgeRemoved } from '../../src/client/retain-purge.js';
import { retainJobs } from '../../src/client/retain.js';
import { runRetention } from '../../src/client/retention.js';
import type { StoredDocument } from '../../src/model/document.js';
import { endedStatuses, type EndedStatus, type Retain } from '../../src/model/retain.js';
import { slotJobId } from '../../src/model/schedule.js';
import type { Store } from '../../src/store/store.js';
import { modelledDatabase, modelledObjects, type BeforeWrite } from './modelled-store.js';

/*
 * A day of retention on a virtual clock, at which each schedule has 50 slots. `TWS_RETENTION_DAY` says how many
 * schedules there are: 20 in the gate, 1,000 with 50,000 jobs in the long form (docs/development.md).
 */
const schedules = Number(process.env['TWS_RETENTION_DAY'] ?? 20);
const slotsEach = 50;
// Against hanging only: what is slow on a busy machine is no fault.
const longMs = 300_000 + schedules * 1_000;
const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);

const usual: Retain = {
  succeeded: { age: 'PT2H' },
  failed: { age: 'PT6H', count: 2 },
  cancelled: { count: 0 },
  archive: { folder: 'archive' },
};
const flows: readonly [name: string, retain?: Retain][] = [
  ['usual'],
  ['counted', { succeeded: { count: 3 }, failed: { age: 'PT1H' } }],
  ['kept', {}],
];

const flowOf = (schedule: number): string => flows[schedule % flows.length]?.[0] ?? '';
const statusAt = (schedule: number, slot: number): EndedStatus =>
  endedStatuses[(schedule + slot * 7) % 5 === 0 ? 1 : (schedule + slot) % 11 === 0 ? 2 : 0];

/** The day: its database, its archive, and what was made. */
function createDay() {
  const archived = new Set<string>();
  const unarchived: string[] = [];
  const made = new Map<string, number>();
  const onRemove = (doc: StoredDocument): void => {
    if (doc['type'] === 'removal') return;
    if (!archived.has(`${doc._rev} ${doc._id}`)) unarchived.push(doc._id);
  };
  const onMade = (id: string): void => void made.set(id, (made.get(id) ?? 0) + 1);
  const database = modelledDatabase(onRemove, onMade);
  const archive = modelledObjects((name, files) => {
    if (!name.endsWith('.index.json')) return;
    // From now on it is listed: what its data holds is archived.
    const { data } = JSON.parse(String(files.get(name))) as { data: string };
    for (const line of gunzipSync(files.get(data) ?? '')
      .toString()
      .trimEnd()
      .split('\n')) {
      const { documents } = JSON.parse(line) as { documents: readonly StoredDocument[] };
      for (const doc of documents) archived.add(`${doc._rev} ${doc._id}`);
    }
  });
  return { archived, unarchived, made, more: new Set<string>(), database, archive };
}
type Day = ReturnType<typeof createDay>;

/** Dies at one write, and then never again: once before it, once after it. */
function deathAt(write: number): { readonly before: BeforeWrite; readonly isOver: () => boolean } {
  let writes = 0;
  return {
    before: () => {
      writes += 1;
      if (writes !== write) return 'go';
      return write % 2 === 0 ? 'die' : 'die after';
    },
    isOver: () => writes < write,
  };
}

/** Runs something until it gets through, killed at its first write, then at its second, and so on. */
async function killedAtEveryWrite(run: (before: BeforeWrite, life: number) => Promise<unknown>) {
  for (let write = 1; ; write += 1) {
    const death = deathAt(write);
    try {
      await run(death.before, write);
      if (death.isOver()) return;
    } catch (error) {
      // It is of the death, unless nothing died.
      if (death.isOver()) throw error;
    }
  }
}

/** The jobs of some slots: a schedule names a slot, its job is made, and the name is cleared. */
async function startSlots({ database, archive }: Day, slot: number, at: number): Promise<void> {
  const openArchive = () => batchArchive(archive.objects());
  await killedAtEveryWrite(async (before) => {
    // Before the next engine takes over, retention looks at what the last one has left.
    const options = { usual, now: at + hour / 4, openArchive, isNoted: true };
    if (slot % 10 === 0) await retainJobs(database.store(), options);
    const store = database.store(before);
    for (let number = 0; number < schedules; number += 1) {
      await startSlot(store, { number, slot, at });
    }
  });
}

type Slot = {
  readonly number: number;
  readonly slot: number;
  readonly at: number;
};

async function startSlot(store: Store, { number, slot, at }: Slot): Promise<void> {
  const _id = `schedule:s${number}`;
  const doc = (await store.get(_id)) as StoredDocument;
  const { progress } = doc as unknown as { progress: { handled: number; starting?: number[] } };
  if (progress.handled >= at && progress.starting === undefined) return;
  const id = slotJobId(_id, at);
  const told = { ...progress, handled: at, starting: [at] };
  const named = await store.write({ ...doc, progress: told });
  if (named.kind !== 'written') throw new Error('conflict');
  if ((await store.get(id)) === undefined) {
    await store.write(jobOf(id, _id, number, slot, at));
  }
  const { starting: _starting, ...rest } = told;
  await store.write({ ...doc, _rev: named.rev, progress: rest });
}

function jobOf(_id: string, schedule: string, number: number, slot: number, at: number) {
  const status = statusAt(number, slot);
  const failed = { exit: 2, failure: { name: 'Failed', message: 'no' } };
  return {
    ...{ _id, type: 'job', flow: flowOf(number), owner: `o${number % 4}`, steps: [] },
    ...{ schedule: { id: schedule, name: schedule, slot: at, time: '' } },
    ...{ start: at, end: at + 1_000 + number, exit: 0 },
    ...{ state: status === 'cancelled' ? '$$cancelled' : '$$complete' },
    ...(status === 'failed' ? failed : {}),
  };
}

/** Of some jobs there is more: a child job, and what was left for them. */
async function leaveMore({ database, more }: Day, at: number): Promise<void> {
  const store = database.store();
  for (let number = 0; number < schedules; number += 5) {
    const job = slotJobId(`schedule:s${number}`, at);
    // Retention may have looked between two lives of an engine.
    if (!database.docs.has(job)) continue;
    more.add(job);
    const child = jobOf(`${job}:child`, '', number, 0, at);
    await store.write({ ...child, schedule: undefined, parent: { job, step: 's' } });
    await store.write({ _id: `lock:${job}`, type: 'lock', kind: 'permit', key: 'k', job, at });
    await store.write({ _id: `signal:${job}`, type: 'signal', job: child._id, name: 'go' });
  }
}

/** What a rule keeps, worked out anew from all jobs that were ever made. */
function keptAt(jobs: readonly StoredDocument[], now: number): ReadonlySet<string> {
  const groups = new Map<string, StoredDocument[]>();
  for (const job of jobs) {
    const status =
      job['exit'] === 2 ? 'failed' : job['state'] === '$$complete' ? 'succeeded' : 'cancelled';
    const key = [job['flow'], job['owner'], status].join();
    groups.set(key, [...(groups.get(key) ?? []), job]);
  }
  const kept = new Set<string>();
  for (const [key, group] of groups) {
    const [flow, , status] = key.split(',') as [string, string, EndedStatus];
    const rule = flows.find(([name]) => name === flow)?.[1] ?? usual;
    const { age, count = Infinity } = rule[status] ?? {};
    const hours = age === undefined ? Infinity : Number(/\d+/.exec(String(age))?.[0]);
    const newest = group.toSorted(
      (a, b) => Number(b['end']) - Number(a['end']) || (a._id < b._id ? 1 : -1),
    );
    newest.forEach(({ _id, end }, place) => {
      if (place < count && Number(end) >= now - hours * hour) kept.add(_id);
    });
  }
  return kept;
}

/** A removal of the day: the next day has purged what it names. */
const isDue = ({ type, at }: StoredDocument): boolean =>
  type === 'removal' && Number(at) < start + 25 * hour;

it(
  `U9, U10, U12, U31: a day of ${schedules} schedules, killed at every write, ends with what retain says and has archived the rest`,
  async () => {
    const day = createDay();
    const { database, archive, made } = day;
    const store = database.store();
    for (const [name, retain] of flows) {
      const flow = { _id: `flow:${name}`, type: 'flow', name, owner: 'DEFAULT', tasks: ['t'] };
      await store.write(retain === undefined ? flow : { ...flow, retain });
    }
    for (let number = 0; number < schedules; number += 1) {
      const progress = {
        edition: 1,
        timing: '',
        handled: 0,
        started: 0,
        skipped: 0,
        missed: 0,
        recent: [],
      };
      await store.write({ _id: `schedule:s${number}`, type: 'schedule', progress });
    }
    const jobs: StoredDocument[] = [];
    let now = start;
    const pass = async (): Promise<void> => {
      await killedAtEveryWrite(async (before, life) => {
        const options = { usual, everyMs: hour, atOnce: true, by: `engine:${life}` };
        const openArchive = () => batchArchive(archive.objects(before));
        const store = database.store(before);
        let result = await runRetention(store, { ...options, now, openArchive });
        // The claim of one that died holds for five minutes.
        if (result.kind === 'busy') now = result.next;
        if (result.kind === 'busy')
          result = await runRetention(store, { ...options, now, openArchive });
        if (result.kind !== 'done') throw new Error(result.kind);
        const [failure] = result.result.failures;
        if (failure !== undefined) throw new Error(failure.message);
      });
    };
    for (let slot = 0; slot < slotsEach; slot += 1) {
      const at = start + slot * 1_800_000;
      now = Math.max(now, at);
      await startSlots(day, slot, at);
      await leaveMore(day, at);
      for (let number = 0; number < schedules; number += 1) {
        const schedule = `schedule:s${number}`;
        const job = jobOf(slotJobId(schedule, at), schedule, number, slot, at);
        jobs.push(job as unknown as StoredDocument);
      }
      if (slot % 8 === 7) await pass();
    }
    now += hour;
    await pass();
    // What the day has removed is purged on the next one.
    const purging = { now: now + 24 * hour, mayGoOn: () => Promise.resolve(true) };
    await killedAtEveryWrite((before) => purgeRemoved(database.store(before), purging));
    expect(database.hidden.size).toBe(0);
    expect([...database.docs.values()].filter(isDue)).toEqual([]);
    expect(day.unarchived).toEqual([]);
    // A slot has one job, also where the engine died before it could say so.
    const ofSlots = jobs.map(({ _id }) => made.get(_id));
    expect(ofSlots.filter((times) => times !== 1)).toEqual([]);
    expect(ofSlots).toHaveLength(schedules * slotsEach);

    const kept = keptAt(jobs, now);
    const left = [...database.docs.keys()].filter((id) => !/^(flow|schedule|removal):/.test(id));
    const family = (id: string): readonly string[] =>
      day.more.has(id) ? [id, `${id}:child`, `lock:${id}`, `signal:${id}`] : [id];
    expect(left.sort()).toEqual(['retention', ...[...kept].flatMap(family)].sort());

    const surroundings = {
      root: '.',
      connection: store.connection,
      open: () => batchArchive(archive.objects()),
    };
    const listed = await archivedJobs([{ folder: 'archive' }], surroundings);
    const gone = jobs.filter(({ _id }) => !kept.has(_id)).map(({ _id }) => _id);
    expect(listed.map(({ job }) => job).sort()).toEqual(gone.sort());
    for (const { job, documents } of listed)
      expect([job, documents]).toEqual([job, family(job).length]);
  },
  longMs,
);
