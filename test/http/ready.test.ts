import { describe, expect, it } from 'vitest';
import { checkServer } from '../../src/store/server.js';
import { answer } from '../support/faults.js';
import { startFaultyProxy, type Fault } from '../support/faulty-proxy.js';
import { openWorkspace } from '../support/workspace.js';
import { openApi } from './server.js';

type Ready = {
  readonly ready: boolean;
  readonly checks: readonly { readonly what: string; readonly ok: boolean; says: string }[];
};

const full = { error: 'enospc', reason: 'No space left on device' };

/** An API whose database is looked at through a proxy that does what is wanted to `_up`. */
async function behindProxy() {
  const workspace = await openWorkspace();
  const { connection } = workspace.store;
  const proxy = await startFaultyProxy(new URL(connection.url).origin);
  const inspect = () => checkServer({ ...connection, url: proxy.url });
  const api = await openApi({ workspace, inspect });
  return {
    suffer: (fault: Fault) => proxy.begin(fault, ({ path }) => path === '/_up'),
    heal: proxy.heal,
    ask: () => api.ask<Ready>('GET', '/health/ready'),
  };
}

describe('whether the API is ready', () => {
  it.each([
    ['whose disk is full', answer(503, JSON.stringify(full)), 'No space left on device'],
    ['behind a proxy that has none', answer(503, '<h1>Unavailable</h1>', 'text/html'), '503'],
  ])('depends on a database %s', async (_title, fault, reason) => {
    const { suffer, heal, ask } = await behindProxy();
    expect(await ask()).toMatchObject({ status: 200, body: { ready: true } });
    suffer(fault);
    await expect.poll(async () => (await ask()).status).toBe(503);
    const { body, headers } = await ask();
    expect(body.ready).toBe(false);
    expect(headers.get('retry-after')).toBe('5');
    const database = body.checks.find(({ what }) => what === 'database');
    expect(database).toMatchObject({ ok: false, says: expect.stringContaining(reason) as string });
    heal();
    await expect.poll(async () => (await ask()).body.ready).toBe(true);
  });
});
