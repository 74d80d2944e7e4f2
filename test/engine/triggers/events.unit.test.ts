import fc from 'fast-check';
import { expect, it } from 'vitest';
import { triggersOf } from './triggers-of.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { readTriggered } from '../../../src/model/trigger.js';
import { runs } from '../../support/properties.js';
import { enginesByChance, type Chances } from '../schedules/engines-by-chance.js';

/** What happens from outside, in this order; engines do a part of their work after each. */
type Happening = 'announce' | 'flow' | 'begin' | 'kill' | 'sweep' | 'remove';

const happenings: readonly Happening[] = ['announce', 'flow', 'begin', 'kill', 'sweep', 'remove'];

type Run = Chances & { readonly happenings: readonly Happening[] };

/** Up to four engines that are killed and started at random, while events and flows come. */
function simulation(run: Run) {
  const made = new Map<string, number>();
  let now = 1_000;
  const all = enginesByChance(run, {
    create: triggersOf,
    time: () => now,
    onWrite: ({ _id }, { kind }) => {
      if (kind === 'written' && _id.startsWith('event-run:'))
        made.set(_id, (made.get(_id) ?? 0) + 1);
    },
  });
  const { cluster, engines, timers, chance, takePending } = all;
  const events = (): readonly StoredDocument[] =>
    cluster.ids().flatMap((id) => {
      const doc = cluster.get(id);
      return doc?.['type'] === 'event' ? [doc] : [];
    });
  const sweep = (): void => {
    cluster.sync();
    for (const { schedules } of engines.values()) {
      for (const doc of events()) {
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
        if (chance() < 0.3) cluster.sync();
        continue;
      }
      const [next] = [...timers].sort((a, b) => a.at - b.at);
      if (next === undefined) return;
      now = Math.max(now, next.at);
      timers.delete(next);
      next.fire();
    }
  };
  return { ...all, made, events, sweep, work };
}

it('T21, T22, T23: each event starts one job of each flow that was there, whatever dies', async () => {
  const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
  const plan = fc.record({
    happenings: fc.array(fc.constantFrom(...happenings), { minLength: 5, maxLength: 40 }),
    nodes: fc.constantFrom(1 as const, 3 as const),
    chances: fc.array(chance, { minLength: 50, maxLength: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async (run) => {
      const it = simulation(run);
      const flows: string[] = [];
      /** The flows that were stored before each event, and the events that were decided before a flow. */
      const before = new Map<string, readonly string[]>();
      const never = new Set<string>();
      const removed = new Set<string>();
      const flow = (): void => {
        it.cluster.sync();
        const name = `f${flows.length}`;
        for (const event of it.events()) {
          if (event['triggered'] !== undefined) never.add(`${event._id} ${name}`);
        }
        flows.push(name);
        const on = { event: 'paid' };
        it.cluster.write({ _id: name, type: 'flow', name, owner: 'me', tasks: ['t'], on });
        it.cluster.sync();
      };
      const announce = (): void => {
        const _id = `event:paid:${before.size}`;
        before.set(_id, [...flows]);
        it.cluster.write({ _id, type: 'event', event: 'paid', key: String(before.size - 1) });
        it.cluster.sync();
        it.sweep();
      };
      /** Retention: the job of an event that is done with goes. */
      const remove = (): void => {
        it.cluster.sync();
        for (const { triggered } of it.events()) {
          const read = readTriggered(triggered);
          if (typeof read !== 'object' || read.starting !== undefined) continue;
          for (const id of read.started ?? []) {
            const doc = it.cluster.get(id);
            if (doc === undefined || removed.has(id)) continue;
            it.cluster.write({ _id: id, _rev: doc._rev, _deleted: true });
            removed.add(id);
          }
        }
        it.cluster.sync();
      };
      const acts: Record<Happening, () => void> = {
        ...{ flow, announce, remove, sweep: it.sweep },
        begin: () => void it.begin(`engine:${it.pick(4)}`),
        kill: () => it.kill(`engine:${it.pick(4)}`),
      };
      for (const what of run.happenings) {
        acts[what]();
        await it.work(it.pick(8));
      }
      it.begin('engine:0');
      for (let i = 0; i < 3; i += 1) {
        it.sweep();
        await it.work(1_000);
      }
      it.cluster.sync();
      expect([...it.made.values()].filter((times) => times > 1)).toEqual([]);
      for (const event of it.events()) {
        const read = readTriggered(event['triggered']);
        const started = typeof read === 'object' ? (read.started ?? []) : ['not decided'];
        const names = started.map((id) => String(id.split(':')[1]));
        for (const name of before.get(event._id) ?? []) expect(names).toContain(name);
        for (const name of names) expect(never).not.toContain(`${event._id} ${name}`);
        expect(new Set(names).size).toBe(names.length);
        for (const id of started) {
          expect(removed.has(id) || it.cluster.get(id)?.['type'] === 'job').toBe(true);
          // A job that was removed does not come again.
          if (removed.has(id)) expect(it.cluster.get(id)).toBeUndefined();
        }
      }
      for (const name of it.engines.keys()) it.kill(name);
    }),
    runs(60),
  );
});
