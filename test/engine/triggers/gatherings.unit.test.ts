import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FollowParts } from '../../../src/engine/loop/followed-parts.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { readTriggered } from '../../../src/model/trigger.js';
import { minutes, runs } from '../../support/properties.js';
import { enginesByChance, type Chances } from '../schedules/engines-by-chance.js';
import { triggersOf } from './triggers-of.js';

/** What happens from outside, in this order; engines do a part of their work after each. */
const happenings = [
  ...(['announce', 'announce', 'announce', 'begin', 'kill', 'sweep', 'sweep'] as const),
  ...(['edit', 'remove', 'flow', 'withdraw', 'drop'] as const),
];
type Happening = (typeof happenings)[number];
type Run = Chances & { readonly happenings: readonly Happening[] };

type Rule = {
  readonly debounce?: { readonly period: number; readonly max?: number };
  readonly batch?: { readonly size: number; readonly period: number };
};
const rules: readonly Rule[] = [
  { debounce: { period: 5_000 } },
  { debounce: { period: 5_000, max: 8_000 } },
  { batch: { size: 3, period: 10_000 } },
  { batch: { size: 1, period: 1_000 } },
];
/** By how much the clocks of two engines differ at most, ms. */
const skewMs = 500;
/** How late a job may start when an engine runs: the turns of the engines, and copies that are looked at. */
const slackMs = 15_000;
/** How much later with each answer that is lost. */
const lostMs = 2_500;

type Start = { readonly at: number; readonly flow: string; readonly events: readonly string[] };

/** Up to four engines that are killed and started at random, and whose answers get lost, while events come. */
function simulation(run: Run) {
  let now = 1_000_000;
  let lost = 0;
  /** When each job was first stored. */
  const starts = new Map<string, number>();
  const flaky = (parts: FollowParts): FollowParts => ({
    ...parts,
    // No engine leaves anything to another one: all act at once.
    peers: { alive: [] },
    store: {
      ...parts.store,
      write: async (...given) => {
        const isAsked = all.chance() < 0.95;
        const answer = isAsked ? await parts.store.write(...given) : undefined;
        const isHeard = answer !== undefined && all.chance() < 0.95;
        if (!isHeard || answer.kind !== 'written') lost += 1;
        if (isHeard) return answer;
        return { kind: 'unknown', cause: '202' };
      },
    },
  });
  const all = enginesByChance(run, {
    create: (parts) => triggersOf(flaky(parts)),
    time: () => now,
    skew: (name) => (Number(name.at(-1)) % 2) * skewMs,
    onWrite: ({ _id }, { kind }) => {
      if (kind !== 'conflict' && _id.startsWith('event-run:') && !starts.has(_id))
        starts.set(_id, now);
    },
  });
  const { cluster, engines, timers, takePending } = all;
  const ofType = (type: string): readonly StoredDocument[] =>
    cluster.ids().flatMap((id) => {
      const doc = cluster.get(id);
      return doc?.['type'] === type ? [doc] : [];
    });
  const sweep = (): void => {
    cluster.sync();
    for (const { schedules } of engines.values()) {
      void schedules.regather();
      for (const doc of [...ofType('event'), ...ofType('gathering')]) {
        const conflicted = cluster.leaves(doc._id).length > 1 ? (true as const) : undefined;
        schedules.take(doc, { conflicted });
      }
    }
  };
  /** Lets at most so many reads and writes happen, and time pass. */
  const work = async (most: number): Promise<void> => {
    for (let steps = 0; steps < most; steps += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const one = takePending();
      if (one !== undefined) {
        one.happen();
        if (all.chance() < 0.3) cluster.sync();
        continue;
      }
      const [next] = [...timers].sort((a, b) => a.at - b.at);
      if (next === undefined) return;
      now = Math.max(now, next.at);
      timers.delete(next);
      next.fire();
    }
  };
  const jobs = (): readonly (Start & { readonly id: string })[] =>
    ofType('job').map(({ _id, flow, started_by: by }) => ({
      ...{ id: _id, flow: String(flow), at: Number(starts.get(_id)) },
      events: (by as { readonly events: readonly string[] }).events,
    }));
  return {
    ...all,
    ofType,
    sweep,
    work,
    jobs,
    time: () => now,
    slack: () => slackMs + lost * lostMs,
  };
}

/** When the event was decided, which is when it counts. */
function decidedAt(doc: StoredDocument | undefined): number | undefined {
  const read = readTriggered(doc?.['triggered']);
  return typeof read === 'object' ? read.at : undefined;
}

/** Evenly spread: most doubles that fast-check draws are next to 0 or to 1. */
const chance = fc.noBias(fc.integer({ min: 0, max: 999 })).map((of) => of / 1_000);
const plan = fc.record({
  happenings: fc.array(fc.constantFrom(...happenings), { minLength: 5, maxLength: 50 }),
  nodes: fc.constantFrom(1 as const, 3 as const),
  chances: fc.array(chance, { minLength: 50, maxLength: 200 }),
});

// Shows X-18.
it(
  'T31, T32, T33, T34, T35, T36, T37, T38: each event is in one job of each flow, in time, whatever dies',
  minutes,
  async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (run) => {
        const it = simulation(run);
        const ruleOf = new Map<string, readonly Rule[]>();
        const gone = new Set<string>();
        const withdrawn = new Set<string>();
        /** The flows that were there before each event. */
        const before = new Map<string, readonly string[]>();
        const store = (name: string): void => {
          const rule = rules[it.pick(rules.length)] as Rule;
          ruleOf.set(name, [...(ruleOf.get(name) ?? []), rule]);
          const current = it.cluster.get(name);
          const doc = { _id: name, type: 'flow', name, owner: 'me', tasks: ['t'] };
          const rev = current === undefined ? {} : { _rev: current._rev };
          it.cluster.write({ ...doc, ...rev, on: { event: 'paid', ...rule } });
          it.cluster.sync();
        };
        const anyFlow = (): string | undefined => {
          const there = [...ruleOf.keys()].filter((name) => !gone.has(name));
          return there[it.pick(there.length)];
        };
        const announce = (): void => {
          const _id = `event:paid:${before.size}`;
          before.set(_id, [...ruleOf.keys()]);
          it.cluster.write({ _id, type: 'event', event: 'paid', key: String(before.size - 1) });
          it.cluster.sync();
          it.sweep();
        };
        const remove = (id: string | undefined): boolean => {
          it.cluster.sync();
          const doc = id === undefined ? undefined : it.cluster.get(id);
          const isRemoved =
            doc !== undefined &&
            it.cluster.write({ _id: doc._id, _rev: doc._rev, _deleted: true }).kind !== 'conflict';
          it.cluster.sync();
          return isRemoved;
        };
        const acts: Record<Happening, () => void> = {
          ...{ announce, sweep: it.sweep },
          flow: () => store(`f${ruleOf.size}`),
          edit: () => {
            const name = anyFlow();
            if (name !== undefined) store(name);
          },
          remove: () => {
            const name = anyFlow();
            if (name !== undefined && remove(name)) gone.add(name);
          },
          withdraw: () => {
            const id = [...before.keys()][it.pick(before.size)];
            if (id !== undefined && remove(id)) withdrawn.add(id);
          },
          // While its job is about to be made nobody could tell that its events will have it.
          drop: () => {
            const isMade = (job: string): boolean => it.cluster.get(job) !== undefined;
            const all = it.ofType('gathering').filter(({ starting: of }) => {
              const starting = of as { readonly job: string } | undefined;
              return starting === undefined || isMade(starting.job);
            });
            remove(all[it.pick(all.length)]?._id);
          },
          begin: () => void it.begin(`engine:${it.pick(4)}`),
          kill: () => it.kill(`engine:${it.pick(4)}`),
        };
        store('f0');
        for (const what of run.happenings) {
          acts[what]();
          await it.work(it.pick(12));
        }
        const from = it.time();
        it.begin('engine:0');
        for (let i = 0; i < 4; i += 1) {
          it.sweep();
          await it.work(3_000);
        }
        it.cluster.sync();
        expect(it.ofType('gathering')).toEqual([]);
        const jobs = it.jobs();
        for (const event of it.ofType('event')) {
          const read = readTriggered(event['triggered']);
          const { started = [], ...rest } = typeof read === 'object' ? read : { started: [] };
          expect(rest).toEqual({ at: decidedAt(event) });
          const own = jobs.filter(({ events }) => events.includes(event._id));
          expect([...started].sort()).toEqual(own.map(({ id }) => id).sort());
          const flows = own.map(({ flow }) => flow);
          expect(new Set(flows).size).toBe(flows.length);
          for (const name of before.get(event._id) ?? [])
            if (!gone.has(name)) expect(flows).toContain(name);
        }
        for (const { events, flow, at } of jobs) {
          const all = ruleOf.get(flow) ?? [];
          const most = Math.max(...all.map(({ batch }) => batch?.size ?? 1_000));
          expect(events.length).toBeLessThanOrEqual(most);
          expect(new Set(events).size).toBe(events.length);
          // Of what was withdrawn nobody knows when it counted.
          if (events.some((id) => withdrawn.has(id))) continue;
          const times = events.map((id) => Number(decidedAt(it.cluster.get(id))));
          const [first, last] = [Math.min(...times), Math.max(...times)];
          const due = all.map(({ debounce, batch }) => {
            if (batch !== undefined)
              return events.length === batch.size ? last : first + batch.period;
            const { period = 0, max = Infinity } = debounce ?? {};
            return Math.min(last + period, first + max);
          });
          expect(at).toBeGreaterThanOrEqual(Math.min(...due) - skewMs);
          expect(at).toBeLessThanOrEqual(Math.max(from, ...due) + it.slack());
        }
        for (const name of it.engines.keys()) it.kill(name);
      }),
      runs(40),
    );
  },
);

it('T38: an event whose job was made before its gathering was deleted names that job, and starts no other', async () => {
  const run = simulation({ happenings: [], nodes: 1, chances: [0.5] });
  const [flow, owner] = ['f', 'me'];
  const into = `gathering:${flow}:${owner}:g`;
  const rule = { into, flow, owner, entry: 0, by: 'batch', period: 60_000, size: 3 };
  const event = (n: number) => ({
    ...{ _id: `event:paid:${n}`, type: 'event', event: 'paid', key: String(n) },
    triggered: { at: run.time(), gathered: [rule] },
  });
  const job = { _id: 'event-run:f:me:1', type: 'job', flow, owner };
  const by = { gathering: into, entry: 0, events: ['event:paid:1', 'event:paid:2'] };
  for (const doc of [event(1), event(2), event(3), { ...job, started_by: by }])
    run.cluster.write(doc);
  run.begin('engine:0');
  run.sweep();
  await run.work(3_000);
  run.sweep();
  await run.work(3_000);
  const started = run
    .ofType('event')
    .map(({ triggered }) => (triggered as { started: unknown }).started);
  expect(started).toEqual([[job._id], [job._id], [expect.stringMatching(/^event-run:f:me:.{4,}/)]]);
  expect(run.jobs().map(({ events }) => events)).toEqual([by.events, ['event:paid:3']]);
});
