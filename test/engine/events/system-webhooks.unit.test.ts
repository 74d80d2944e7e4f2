import { expect, it } from 'vitest';
import {
  createSystemWebhooks,
  mostWaiting,
  type SystemWebhookOptions,
} from '../../../src/engine/events/system-webhooks.js';
import { createKeyring } from '../../../src/secrets/keyring.js';
import { startReceiver } from '../../support/receiver.js';

const event = { type: 'engine.lost', at: 0, engine: 'engine:a', lost: 'engine:b' } as const;

function sender(url: string, more: Partial<SystemWebhookOptions> = {}) {
  const lines: string[] = [];
  const say = (_about: unknown, message: string): void => void lines.push(message);
  const log = { debug: say, info: say, warn: say, error: say };
  const webhooks = createSystemWebhooks({
    ...{ webhooks: [{ url }], database: 'db', log, retryMs: 1, keyring: createKeyring(undefined) },
    ...more,
  });
  return { ...webhooks, lines };
}

it('sends one event after the other, each with an id of its own', async () => {
  const { url, received } = await startReceiver();
  const { take, close, lines } = sender(url);
  for (const lost of ['b', 'c', 'd']) take({ ...event, lost });
  await close(60_000);
  expect(received.map(({ body }) => body.data['lost'])).toEqual(['b', 'c', 'd']);
  expect(received[0]?.body).toEqual({
    type: 'engine.lost',
    timestamp: '1970-01-01T00:00:00.000Z',
    data: { engine: 'engine:a', lost: 'b', database: 'db' },
  });
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  expect(lines).toEqual([]);
});

it('gives an event up after a few tries', async () => {
  const { url, received } = await startReceiver(() => ({ status: 500 }));
  const { take, close, lines } = sender(url);
  take(event);
  await expect.poll(() => lines.length).toBe(1);
  await close(60_000);
  expect(received).toHaveLength(4);
  expect(lines[0]).toMatch(
    /^An event for a webhook .* is dropped \(1 so far\): .* answered 500\.$/,
  );
});

it('drops what is too much, and counts it', async () => {
  const { url } = await startReceiver(() => ({ status: 500 }));
  const { take, close, lines } = sender(url, { retryMs: 60_000 });
  for (let count = 0; count < mostWaiting + 3; count += 1) take(event);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain('(2 so far): 100 others wait.');
  await close(0);
  expect(lines.at(-1)).toContain('the engine ends.');
});
