import { describe, expect, it } from 'vitest';
import type { EngineEvent } from '../../../src/model/engine-event.js';
import { encryptVersion1 as encrypt } from '../../support/version1.js';
import { flow, job, task } from '../../support/documents.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace } from '../../support/workspace.js';

const leases = { leaseMs: 1_500, renewMs: 200, sweepMs: 500 };

describe('an engine', () => {
  // Shows K-06.
  it('tells those who listen of its start and its end, in this order', async () => {
    const space = await openWorkspace();
    const events: EngineEvent[] = [];
    const later: EngineEvent[] = [];
    const engine = await space.engine({ onEvent: (event) => events.push(event) });
    const unsubscribe = engine.subscribe((event) => later.push(event));
    engine.subscribe(() => {
      throw new Error('A listener of the test.');
    });
    await engine.stop();
    unsubscribe();
    expect(events).toMatchObject([
      { type: 'engine.started', engine: engine.id, pid: process.pid },
      { type: 'engine.stopped', engine: engine.id },
    ]);
    expect(later).toEqual(events.slice(1));
    await space.logged(({ message }) => message === 'A listener to engine.stopped failed.');
  });

  // Shows K-06.
  it('tells of definitions and jobs that cannot be read, and of the design document', async () => {
    const space = await openWorkspace();
    const events: EngineEvent[] = [];
    await space.engine({ onEvent: (event) => events.push(event) });
    await space.put(task('t', { timeout: 'long' }), flow('f', ['t']));
    await space.put(job('f', { _id: 'j', params: 'none' }));
    const design = await space.store.get('_design/tws');
    await space.put({ ...design, note: 'changed' });
    await expect
      .poll(() => events.map(({ type }) => type).toSorted())
      .toEqual(['definition.malformed', 'design.changed', 'engine.started', 'job.malformed']);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'definition.malformed',
        id: 'task:DEFAULT:t',
        problems: [expect.objectContaining({ path: 'timeout' }) as unknown],
      }),
    );
  });

  it('that is lost is told of by one of the others, and one that stops by nobody', async () => {
    const space = await openWorkspace();
    const events: EngineEvent[] = [];
    const onEvent = (event: EngineEvent): void => void events.push(event);
    const others = [
      await space.engine({ ...leases, onEvent }),
      await space.engine({ ...leases, onEvent }),
      await space.engine({ ...leases, onEvent }),
    ];
    const leaving = await space.engine(leases);
    const victim = await space.engine(leases);
    await leaving.stop();
    await victim.kill();
    const told = () =>
      events.filter(
        (event) => event.type === 'engine.lost' && [leaving.id, victim.id].includes(event.lost),
      );
    await expect.poll(() => told().length).toBe(1);
    // Its document is removed when everybody has seen that it is gone.
    await expect.poll(() => space.store.get(victim.id)).toBeUndefined();
    expect(told()).toMatchObject([{ lost: victim.id }]);
    expect(others.map(({ id }) => id)).toContain(told()[0]?.engine);
  });
});

describe('a webhook of the settings', () => {
  // Shows K-06.
  it('is told the events that it names, signed, after failures once more', async () => {
    const { url, until } = await startReceiver(({ at }) => ({
      status: at === 0 ? 503 : 204,
      headers: { 'retry-after': '0' },
    }));
    const space = await openWorkspace();
    const secret = encrypt('whsec_AAAA', 'the key');
    const webhooks = [{ url, secret, on: ['engine.started' as const] }];
    const engine = await space.engine({ webhooks, cryptoKey: 'the key' });
    const [first, second] = await until(2);
    expect(first?.headers['webhook-id']).toBe(second?.headers['webhook-id']);
    expect(second?.headers['webhook-signature']).toMatch(/^v1,/);
    expect(second?.body).toMatchObject({
      type: 'engine.started',
      data: { engine: engine.id, database: space.store.connection.database },
    });
  });

  it('hears of the end of an engine before that has stopped', async () => {
    const { url, received } = await startReceiver();
    const space = await openWorkspace();
    const engine = await space.engine({ webhooks: [{ url }] });
    await engine.stop();
    expect(received.map(({ body }) => body.type)).toEqual(['engine.started', 'engine.stopped']);
  });

  it('that refuses loses the event, which is logged', async () => {
    const { url } = await startReceiver(() => ({ status: 410 }));
    const space = await openWorkspace();
    await space.engine({ webhooks: [{ url }] });
    const line = await space.logged(({ message }) => message.includes('is dropped'));
    expect(line).toMatchObject({ level: 'warn', about: { dropped: 1 } });
    expect(line.message).toContain('answered 410');
  });

  it('is not asked at an address that egress denies', async () => {
    const { url, received } = await startReceiver();
    const space = await openWorkspace();
    const egress = { allow: [], deny: ['127.0.0.1', 'localhost'], exposed: false };
    await space.engine({ webhooks: [{ url }], egress });
    const dropped = () => space.log.filter(({ message }) => message.includes('is dropped'));
    await expect.poll(() => dropped().length + received.length).toBeGreaterThan(0);
    expect(received).toEqual([]);
    expect(dropped()[0]?.message).toContain('may not be reached');
  });
});
