import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import { openWorkspace } from '../../support/workspace.js';

const plugins = { 'say.mjs': 'export default () => ({ said: true });' };
const definitions = [
  { _id: 'task:DEFAULT:say', type: 'task', name: 'say' },
  { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['say'] },
];
const job = { type: 'job', flow: 'f', owner: 'me' };

describe('a queue that is paused', () => {
  // Shows X-23.
  it('begins nothing until it is resumed, whichever documents pause it', async () => {
    const space = await openWorkspace(plugins);
    const own = { _id: 'stop', type: 'queue-control', queue: 'default', paused: true };
    await space.put(...definitions, own);
    await space.engine({ name: 'a' });
    const client = createClient(space);
    const why = { queue: 'default', paused: true, reason: 'the server moves' };
    expect(await client.switchQueue(why)).toEqual({ ids: ['stop'], changed: false });
    const [id = ''] = await space.put(job);
    await space.until(id, ({ state }) => state === '$$paused');
    expect((await client.explain(id)).reasons[0]).toMatchObject({ kind: 'queue_paused' });
    expect(await client.queues()).toMatchObject([{ name: 'default', paused: true }]);
    expect(await client.switchQueue({ queue: 'default', paused: false })).toMatchObject({
      changed: true,
    });
    expect((await space.ended(id)).exit).toBe(0);
  });

  it('stays so while a mistake is in its control, for engines and clients alike', async () => {
    const space = await openWorkspace(plugins);
    const wrong = { _id: 'stop', type: 'queue-control', queue: 'default', paused: true, reason: 7 };
    await space.put(...definitions, wrong);
    await space.engine({ name: 'a' });
    const [id = ''] = await space.put(job);
    await space.until(id, ({ state }) => state === '$$paused');
    await space.until('stop', ({ problems }) => problems !== undefined);
    const client = createClient(space);
    expect(await client.pausedQueues()).toEqual(new Set(['default']));
    await client.switchQueue({ queue: 'default', paused: false });
    expect((await space.ended(id)).exit).toBe(0);
  });

  it('is paused under another id when the usual one is taken', async () => {
    const space = await openWorkspace(plugins);
    await space.put({ _id: 'queue-control:default', type: 'note' });
    const client = createClient(space);
    const wish = { queue: 'default', paused: true };
    const { ids } = await client.switchQueue(wish);
    expect(ids).toEqual([expect.stringMatching(/^queue-control:default:./)]);
    expect(await client.switchQueue(wish)).toEqual({ ids, changed: false });
    await client.switchQueue({ ...wish, paused: false });
    expect(await client.switchQueue(wish)).toEqual({ ids, changed: true });
  });

  it('goes on when the document is deleted, and an invalid one is told what is wrong', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...definitions);
    await space.engine({ name: 'a' });
    const client = createClient(space);
    const { ids } = await client.switchQueue({ queue: 'default', paused: true });
    expect(ids).toEqual(['queue-control:default']);
    const [id = ''] = await space.put(job);
    await space.until(id, ({ state }) => state === '$$paused');
    const [control] = await Promise.all(ids.map((one) => client.get(one)));
    await client.remove(String(control?._id), String(control?._rev));
    await space.ended(id);
    const rate = { limit: 10, per: 1_000, key: '(' };
    const wrong = { _id: 'wrong', type: 'queue-control', queue: 'default', paused: 'yes', rate };
    await space.put(wrong);
    const told = await space.until('wrong', ({ problems }) => problems !== undefined);
    const message = expect.any(String) as string;
    expect(told['problems']).toEqual([
      { path: 'paused', message },
      { path: 'rate.key', message: expect.stringContaining('is no valid JSONata') as string },
    ]);
    // Until the key is mended, all of them have one window.
    const [next = ''] = await space.put(job);
    await space.ended(next);
    expect(await space.store.range('rate:')).toHaveLength(1);
    await space.put({ ...told, paused: false, rate: { ...rate, key: 'job.owner' } });
    await space.until('wrong', ({ problems }) => problems === undefined);
  });
});
