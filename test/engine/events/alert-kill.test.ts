import { expect, it } from 'vitest';
import type { Engine } from '../../../src/engine/engine.js';
import { flow, job } from '../../support/documents.js';
import { endingAt } from '../../support/ending.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const leases = { leaseMs: 600, renewMs: 100, sweepMs: 500 };
const events = ['late', 'waiting'] as const;

type Named = readonly { readonly id: string; readonly event?: string }[];

/**
 * After the job that waits: the notification of that and the revision that names it, and both for that it is late. In between the
 * first is sent, by two writes.
 */
const writes = [2, 3, 6, 7];

it.each(writes.flatMap((at) => [[at, 'before'] as const, [at, 'after'] as const]))(
  'N11: an engine that dies at write %i (%s it is stored) leaves a job of which each alert is told once',
  async (at, when) => {
    const { url, until } = await startReceiver();
    const space = await openWorkspace();
    const notify = [{ on: events, url }];
    const wait = { wait: { signal: 'yes' } };
    await space.put(flow('ask', [wait], { notify, timeout: 0, expected: 1_000 }));
    let first: Engine | undefined = undefined as Engine | undefined;
    const ending = endingAt(space.store, at, when, async () => first?.kill());
    first = await space.engine({ ...leases, store: ending.store });
    await space.put(job('ask', { _id: 'j' }));
    await ending.reached;
    await space.engine(leases);
    await space.until('j', (doc) => (doc['notifications'] as Named | undefined)?.length === 2);
    await space.put({ type: 'signal', job: 'j', name: 'yes' });
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 0 });
    const named = ended['notifications'] as Named;
    expect(named.map(({ event }) => event).toSorted()).toEqual(events);
    expect(await toldIn(space)).toEqual(named.map(({ id }) => id).toSorted());
    const came = await until(2);
    expect(new Set(came.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    expect([...new Set(came.map(({ body }) => body.type))].toSorted()).toEqual([
      'job.late',
      'job.waiting',
    ]);
  },
);

/** The notifications that were sent; the others have ended without that. */
async function toldIn(space: Workspace): Promise<readonly string[]> {
  const told: string[] = [];
  for (const { _id: id } of await space.store.range('j:notify:')) {
    const { exit, steps } = await space.ended(id);
    expect(exit).toBe(0);
    if (steps.length > 0) told.push(id);
  }
  return told.toSorted();
}
