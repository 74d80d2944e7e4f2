import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSchedules } from '../../../src/engine/schedules/schedules.js';
import { calendarOf } from '../../../src/evaluate/calendar.js';
import type { StoredDocument } from '../../../src/model/document.js';
import {
  overlapPolicies,
  slotJobId,
  slotJobPrefix,
  type Schedule,
  type ScheduleProgress,
} from '../../../src/model/schedule.js';
import { runs } from '../../support/properties.js';
import { enginesByChance, type Chances } from './engines-by-chance.js';
import type { SimulatedEngine } from './slot-world.js';

const id = 'schedule:me:s';
const sweepMs = 30_000;

/** How a run of engines goes: by chance, and the same again for the same numbers. */
type Run = Chances & {
  readonly timing: Partial<Schedule>;
  readonly overlap: (typeof overlapPolicies)[number];
  readonly start: number;
  readonly forMs: number;
  /** No engine runs for so long in the middle of it, ms. */
  readonly outageMs: number;
};

/** Four engines, up to 2 s apart, that are killed and started at random. */
function simulation(run: Run) {
  const state = { now: run.start, made: [] as string[], together: 0 };
  const skew = [0, 1_000, -1_000, 500];
  const live = new Map<string, number>();
  const all = enginesByChance(run, {
    create: createSchedules,
    time: () => state.now,
    skew: (name) => skew[Number(name.split(':')[1])] ?? 0,
    onWrite: ({ _id }, { kind }) => {
      if (kind === 'conflict' || !_id.startsWith(slotJobPrefix(id)) || live.has(_id)) return;
      if ([...live.values()].some((end) => end > state.now)) state.together += 1;
      state.made.push(_id);
      live.set(_id, state.now + 1_000 + Math.floor(all.chance() * 20_000));
    },
  });
  const { cluster, engines, chance, pick } = all;
  const begin = (number: number): void => {
    const engine = all.begin(`engine:${number}`);
    if (engine !== undefined) sweep(engine);
  };
  const sweep = ({ schedules }: SimulatedEngine): void => {
    const doc = cluster.get(id);
    const conflicted = cluster.leaves(id).length > 1 ? (true as const) : undefined;
    if (doc !== undefined) schedules.take(doc, { conflicted });
  };
  const endJobs = (): void => {
    for (const [job, end] of live) {
      const doc = cluster.get(job);
      const isAsked = cluster.get(`request:cancel:${job}`) !== undefined;
      if (doc === undefined || doc['state'] !== undefined || (end > state.now && !isAsked))
        continue;
      live.set(job, state.now);
      cluster.sync();
      const { _id, _rev } = cluster.get(job) as StoredDocument;
      while (cluster.write({ ...doc, _id, _rev, state: '$$complete' }).kind === 'conflict');
      cluster.sync();
      const [engine] = [...engines.values()].slice(pick(Math.max(1, engines.size)));
      if (chance() < 0.8) engine?.schedules.jobEnded(doc);
    }
  };
  return { ...all, state, begin, sweep, endJobs };
}

type Simulation = ReturnType<typeof simulation>;

/** Lets everything happen that can, in an order by chance. */
async function settle(it: Simulation, mayKill: boolean): Promise<void> {
  for (let steps = 0; steps < 2_000; steps += 1) {
    // What was answered goes on in the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    const next = it.takePending();
    if (next === undefined) return;
    next.happen();
    if (it.chance() < 0.3) it.cluster.sync();
    if (mayKill && it.chance() < 0.05) it.kill(`engine:${it.pick(4)}`);
  }
  throw new Error('It does not come to rest.');
}

/** Goes to the next moment at which something happens, and has it happen. */
async function advance(it: Simulation, to: number, mayKill: boolean): Promise<void> {
  const { state, timers } = it;
  while (state.now < to) {
    const due = Math.min(...[...timers].map(({ at }) => at), state.now + 5_000, to);
    state.now = Math.max(due, state.now + 1);
    for (const timer of [...timers]) {
      if (timer.at > state.now || !timers.delete(timer)) continue;
      timer.fire();
    }
    it.endJobs();
    if (Math.floor(state.now / sweepMs) !== Math.floor((state.now - 5_000) / sweepMs)) {
      for (const engine of it.engines.values()) it.sweep(engine);
    }
    await settle(it, mayKill);
    if (mayKill && it.chance() < 0.3) it.begin(it.pick(4));
  }
}

async function outcome(run: Run) {
  const it = simulation(run);
  const doc = {
    _id: id,
    type: 'schedule',
    name: 's',
    owner: 'me',
    flow: 'f',
    overlap: run.overlap,
  };
  const stored: Record<string, unknown> & { readonly _id: string } = { ...doc, ...run.timing };
  while (it.cluster.write(stored).kind === 'conflict');
  it.cluster.sync();
  for (let number = 0; number < 4; number += 1) it.begin(number);
  await settle(it, false);
  const first = it.cluster.get(id);
  const taken = (first?.['progress'] as ScheduleProgress).handled;
  await advance(it, run.start + run.forMs, true);
  if (run.outageMs > 0) {
    for (const name of [...it.engines.keys()]) it.kill(name);
    it.cluster.sync();
    await advance(it, it.state.now + run.outageMs, false);
    for (let number = 0; number < 4; number += 1) it.begin(number);
    await settle(it, false);
    await advance(it, it.state.now + run.forMs, true);
  }
  for (let number = 0; number < 4; number += 1) it.begin(number);
  await advance(it, it.state.now + 3 * sweepMs, false);
  for (const name of it.engines.keys()) it.kill(name);
  it.cluster.sync();
  const schedule = it.cluster.get(id) as unknown as Schedule;
  const progress = schedule.progress as ScheduleProgress;
  return { ...it.state, taken, schedule, progress, jobs: jobsIn(it) };
}

function jobsIn({ cluster }: Simulation): readonly string[] {
  return cluster
    .ids()
    .filter((one) => one.startsWith(slotJobPrefix(id)) && cluster.get(one) !== undefined)
    .sort();
}

/** The slots of a schedule after one moment, up to another. */
function slotsIn(schedule: Schedule, after: number, upTo: number): readonly number[] {
  const read = calendarOf(schedule);
  const slots: number[] = [];
  if (!read.ok) return slots;
  for (let slot = read.calendar.next(after); slot !== undefined && slot <= upTo;) {
    slots.push(slot);
    slot = read.calendar.next(slot);
  }
  return slots;
}

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const;
/** Both changes of daylight saving of each zone, about a minute before. */
const changes = {
  'Europe/Berlin': [Date.UTC(2026, 2, 29, 0, 59), Date.UTC(2026, 9, 25, 0, 59)],
  'America/New_York': [Date.UTC(2026, 2, 8, 6, 59), Date.UTC(2026, 10, 1, 5, 59)],
  'Australia/Lord_Howe': [Date.UTC(2026, 3, 4, 14, 59), Date.UTC(2026, 9, 3, 15, 29)],
};

const cron = fc.constantFrom('*/7 * * * * *', '* * * * *', '*/20 * * * * *', '30 * 1,2,3 * * *');
const timing = fc.oneof(
  fc.record({ every: fc.constantFrom(5_000, 13_000, 60_000) }),
  fc.record({ every: fc.constant('PT20S'), jitter: fc.constantFrom(3_000, 10_000) }),
  fc.tuple(cron, fc.constantFrom(...zones)).map(([cron, zone]) => ({ cron, time_zone: zone })),
);
const drawnRuns = fc
  .record({
    timing,
    overlap: fc.constantFrom(...overlapPolicies),
    second: fc.nat(59_000),
    change: fc.nat(1),
    nodes: fc.constantFrom<1 | 3>(1, 3),
    chances: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), {
      ...{ minLength: 200, maxLength: 400 },
    }),
  })
  .map(({ second, change, ...run }): Omit<Run, 'outageMs'> => {
    const zone = (run.timing as { readonly time_zone?: keyof typeof changes }).time_zone;
    const start = (changes[zone ?? 'Europe/Berlin'][change] ?? 0) + second;
    return { ...run, start, forMs: 90_000 };
  });

describe('the slots of a schedule, with four engines that are killed at random', () => {
  it('each has one job, or is told to have been skipped', async () => {
    await fc.assert(
      fc.asyncProperty(drawnRuns, async (run) => {
        const { made, jobs, taken, schedule, progress, together } = await outcome({
          ...{ ...run, outageMs: 0 },
        });
        const slots = slotsIn(schedule, taken, progress.handled);
        expect(made.length).toBe(new Set(made).size);
        expect([...made].sort()).toEqual(jobs);
        const { started, skipped, missed, waiting, starting, problems } = {
          problems: 0,
          ...progress,
        };
        expect({ problems, starting, missed }).toEqual({ problems: 0, missed: 0 });
        expect(started + skipped + (waiting === undefined ? 0 : 1)).toBe(slots.length);
        expect(started).toBe(jobs.length);
        const ids = new Set(slots.map((slot) => slotJobId(id, slot)));
        expect(jobs.filter((job) => !ids.has(job))).toEqual([]);
        if (run.overlap === 'all') expect(jobs).toEqual([...ids].sort());
        else expect(together).toBe(0);
      }),
      runs(30),
    );
  });

  it('that were missed in an outage of a day start the latest one', async () => {
    await fc.assert(
      fc.asyncProperty(drawnRuns, async (given) => {
        const run: Run = {
          ...{ ...given, timing: { every: 'PT10M' }, overlap: 'all' },
          ...{ outageMs: 86_400_000, forMs: 30_000 },
        };
        const { jobs, taken, schedule, progress } = await outcome(run);
        const slots = slotsIn(schedule, taken, progress.handled);
        expect(progress.started + progress.missed).toBe(slots.length);
        expect(progress.missed).toBeGreaterThanOrEqual(142);
        expect(jobs).toHaveLength(progress.started);
        expect(progress.started).toBeGreaterThan(0);
      }),
      runs(6),
    );
  });
});
