import { expect, it } from 'vitest';
import { triggersOf } from './triggers-of.js';
import type { FollowParts } from '../../../src/engine/loop/followed-parts.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { createCluster, startPart, type Pending } from '../schedules/slot-world.js';

const event = { _id: 'event:paid:1', type: 'event', event: 'paid', key: '1' };
const flow = (name: string, params: string) => ({
  ...{ _id: name, type: 'flow', name, owner: 'me', tasks: ['t'] },
  on: { event: 'paid', params },
});

type Store = FollowParts['store'];

/**
 * One engine on a database that holds this, when it is idle. `otherwise`: what its store does in another
 * way; `isDecided`: what the event starts is decided then.
 */
async function started(
  docs: readonly { readonly _id: string }[],
  otherwise: (store: Store) => Partial<Store> = () => ({}),
  isDecided = true,
) {
  const cluster = createCluster(1, () => [0]);
  const pending: Pending[] = [];
  let timers = 0;
  const engine = startPart(
    'engine:a',
    {
      cluster,
      ...{ now: () => 1_000, alive: () => [], pick: () => 0 },
      later: (of, happen) => pending.push({ of, happen }),
      wait: () => {
        timers += 1;
        return () => undefined;
      },
      onWrite: () => undefined,
    },
    (parts) => triggersOf({ ...parts, store: { ...parts.store, ...otherwise(parts.store) } }),
  );
  for (const doc of docs) cluster.write(doc);
  const triggered = (): unknown => cluster.get(event._id)?.['triggered'];
  const isDeciding = (): boolean => isDecided && triggered() === undefined;
  const sweep = async (): Promise<void> => {
    const doc = cluster.get(event._id) as StoredDocument;
    engine.schedules.take(doc);
    // What no thread is asked for has happened after so many rounds.
    for (let idle = 0; idle < 20 || isDeciding(); idle += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = pending.shift();
      next?.happen();
      if (next !== undefined) idle = 0;
    }
  };
  await sweep();
  return {
    ...{ cluster, sweep, triggered },
    timers: () => timers,
  };
}

it('T21: an event starts its jobs, however long they are together', async () => {
  const long = `{'t': {'text': $join([1..30].("${'x'.repeat(40_000)}"))}}`;
  const { triggered, cluster } = await started([event, flow('f', long)]);
  const { started: made } = triggered() as { readonly started: readonly string[] };
  expect(made).toHaveLength(1);
  expect(JSON.stringify(cluster.get(made[0] ?? '')).length).toBeGreaterThan(1_100_000);
});

it('T24: an event that the database does not take with its jobs says so, once', async () => {
  const refusing = ({ write }: Store): Partial<Store> => ({
    write: async (...given) =>
      JSON.stringify(given[0]).includes('"starting"')
        ? { kind: 'refused', reason: 'The document is too large.' }
        : write(...given),
  });
  const docs = [event, flow('f', "{'t': {}}"), flow('g', "{'t': {}}")];
  const { triggered, sweep } = await started(docs, refusing);
  const because =
    'The event cannot be stored with the jobs that it starts: The document is too large.';
  const refused = ['f::me', 'g::me'].map((name) => ({ flow: name, because }));
  expect(triggered()).toEqual({ at: 1_000, refused });
  await sweep();
  expect(triggered()).toEqual({ at: 1_000, refused });
});

it('an event is left alone while the views are of an earlier version', async () => {
  const missing = (): Partial<Store> => ({
    view: () => Promise.reject(Object.assign(new Error('no'), { code: 'view_missing' })),
  });
  const { triggered, timers } = await started([event, flow('f', '{}')], missing, false);
  expect([triggered(), timers()]).toEqual([undefined, 0]);
});
