import { expect, it } from 'vitest';
import { readTriggered, type Triggered } from '../../../src/model/trigger.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { flow, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const quick = { 'quick.js': 'export default ({ params }) => params;' };

/** Whether it waits for no job with other events. */
const isAlone = (doc: StoredDocument): boolean =>
  isSettled(doc) && (doc['triggered'] as Triggered).gathered === undefined;

const isSettled = ({ triggered }: StoredDocument): boolean => {
  const read = readTriggered(triggered);
  if (typeof read !== 'object') return false;
  return (read.starting ?? read.gathering) === undefined;
};

it('an event starts jobs of the flows whose "on" fits, once, and tells what it could not start', async () => {
  const workspace = await openWorkspace(quick);
  const counted: string[] = [];
  const meters = {
    triggers: (by: string, verdict: string, count: number) =>
      void counted.push(`${by} ${verdict} ${count}`),
  };
  const on = {
    event: 'paid',
    match: 'event.data.sum > 10',
    params: '{"quick": {"order": event.key, "sum": event.data.sum}}',
  };
  await workspace.put(
    task('quick'),
    flow('ship', ['quick'], { on }),
    flow('wrong', ['quick'], { on: [{ event: 'paid', params: '"text"' }] }),
    flow('off', ['quick'], { on: { event: 'paid' }, enabled: false }),
    flow('other', ['quick'], { on: { event: 'sent' } }),
    flow('both', ['quick'], {
      on: {
        ...{ event: 'paid', batch: { size: 2, period: 'PT1H', key: 'event.data.sum > 100' } },
        params:
          '{"quick": {"orders": [events.key], "last": event.key, "sum": $sum(events.data.sum)}}',
      },
    }),
  );
  // Announced while no engine runs.
  await workspace.put(
    { _id: 'event:paid:1', type: 'event', event: 'paid', key: '1', data: { sum: 20 } },
    { _id: 'event:paid:2', type: 'event', event: 'paid', key: '2', data: { sum: 5 } },
  );
  await workspace.engine({ meters });
  await workspace.engine({ meters });
  const first = await workspace.until('event:paid:1', isAlone);
  const { started = [], refused = [] } = first['triggered'] as Triggered;
  expect(started.map((id) => id.split(':')[1])).toEqual(['ship', 'wrong', 'both']);
  expect(refused.map(({ flow: id, because }) => [id, because])).toEqual([
    [expect.stringContaining('off'), 'The flow is disabled ("enabled": false).'],
  ]);
  const [ship = '', wrong = '', gathered = ''] = started;
  expect(await workspace.ended(ship)).toMatchObject({
    exit: 0,
    params: { 'quick-0': { order: '1', sum: 20 } },
    started_by: { event: 'event:paid:1', entry: 0 },
  });
  expect(await workspace.ended(wrong)).toMatchObject({
    exit: 3,
    failure: {
      name: 'TriggerRefused',
      message: expect.stringContaining('on[0].params gives no object of parameters.') as string,
    },
  });
  const both = await workspace.ended(gathered);
  const of = both['started_by'] as { readonly events: readonly string[] };
  expect([...of.events].sort()).toEqual(['event:paid:1', 'event:paid:2']);
  const orders = of.events.map((id) => id.split(':')[2]);
  expect(both).toMatchObject({
    exit: 0,
    params: { 'quick-0': { orders, last: orders[1], sum: 25 } },
    started_by: { gathering: expect.stringContaining('gathering:both:') as string, key: 'false' },
  });
  const second = await workspace.until('event:paid:2', isAlone);
  expect((second['triggered'] as Triggered).started).toHaveLength(2);
  // What comes later is not started by what was announced before.
  await workspace.put(flow('late', ['quick'], { on: { event: 'paid' } }));
  await workspace.put({ type: 'event', event: 'paid', key: '3', _id: 'event:paid:3' });
  const third = await workspace.until('event:paid:3', isSettled);
  expect((third['triggered'] as Triggered).started?.map((id) => id.split(':')[1])).toContain(
    'late',
  );
  const late = await workspace.store.range('event-run:late:');
  expect(late.map(({ started_by: by }) => by)).toEqual([{ event: 'event:paid:3', entry: 0 }]);
  // The next scan finds that the third one has lost its gathering; it is in one job with the fourth.
  const [lost] = await workspace.store.range('gathering:both:');
  expect(lost?.['events']).toMatchObject([{ id: 'event:paid:3' }]);
  await workspace.store.remove(String(lost?._id), String(lost?._rev));
  await workspace.engine({ meters });
  await workspace.put({ type: 'event', event: 'paid', key: '4', _id: 'event:paid:4' });
  const fourth = await workspace.until('event:paid:4', isAlone);
  const again = await workspace.until('event:paid:3', isAlone);
  const startedBy = (doc: StoredDocument) => (doc['triggered'] as Triggered).started ?? [];
  expect(startedBy(again).filter((id) => startedBy(fourth).includes(id))).toHaveLength(1);
  expect(counted.filter((it) => it === 'event started 1').length).toBeGreaterThan(0);
});
