import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../support/receiver.js';
import { run } from './shipped.js';

describe('webhook', () => {
  it('posts what a task gives it, with an id that stays', async () => {
    const { url, received } = await startReceiver();
    const params = { url: `${url}/x`, event: 'order.paid', data: { n: 1 }, headers: { 'x-a': 1 } };
    const outcome = await run('webhook', params, { key: 'the key' });
    const id = received[0]?.headers['webhook-id'];
    expect(outcome).toMatchObject({ kind: 'done', result: { status: 204, id } });
    expect(received[0]).toMatchObject({
      path: '/x',
      headers: { 'content-type': 'application/json', 'x-a': '1' },
      body: { type: 'order.paid', data: { n: 1 } },
    });
    await run('webhook', params, { key: 'the key' });
    await run('webhook', params, { key: 'another' });
    expect(received[1]?.headers['webhook-id']).toBe(id);
    expect(received[2]?.headers['webhook-id']).not.toBe(id);
  });

  it('posts a body of its own as it is', async () => {
    const { url, received } = await startReceiver();
    await run('webhook', { url, body: { text: 'Hello' } });
    expect(received[0]?.body).toEqual({ text: 'Hello' });
  });

  it.each([
    ['whsec_c2VjcmV0', Buffer.from('secret')],
    ['any text', Buffer.from('any text')],
  ])('signs with %s', async (secret, key) => {
    const { url, received } = await startReceiver();
    await run('webhook', { url, secret });
    const [one] = received;
    const [id, timestamp, signed] = ['id', 'timestamp', 'signature'].map((name) =>
      String(one?.headers[`webhook-${name}`]),
    );
    const text = `${id}.${timestamp}.${String(one?.text)}`;
    const signature = createHmac('sha256', key).update(text).digest('base64');
    expect(signed).toBe(`v1,${signature}`);
  });

  it.each([
    [408, true],
    [429, true],
    [500, true],
    [503, true],
    [301, false],
    [400, false],
    [404, false],
    [410, false],
  ])('fails where the answer is %i; that it may be tried again is %s', async (status, again) => {
    const { url } = await startReceiver(() => ({ status, headers: { location: '/else' } }));
    const outcome = await run('webhook', { url });
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { name: 'WebhookRefused', code: status },
    });
    expect((outcome as { retryable?: boolean }).retryable ?? true).toBe(again);
  });

  it('does not follow a redirect', async () => {
    const { url, received } = await startReceiver(() => ({
      status: 307,
      headers: { location: '/inside' },
    }));
    expect(await run('webhook', { url })).toMatchObject({
      failure: { message: `The webhook ${url} answered 307, a redirect, which is not followed.` },
    });
    expect(received).toHaveLength(1);
  });

  it('waits as long as the receiver asks', async () => {
    const { url } = await startReceiver(() => ({ status: 503, headers: { 'retry-after': '7' } }));
    expect(await run('webhook', { url })).toMatchObject({ kind: 'failed', retryAfterMs: 7_000 });
  });

  it('may be tried again when nobody answers, and says so without the path', async () => {
    const { url } = await startReceiver();
    const closed = new URL(url);
    closed.port = '1';
    const outcome = await run('webhook', { url: `${closed.origin}/secret-path` });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { name: 'WebhookUnreachable' } });
    expect(JSON.stringify(outcome)).not.toContain('secret-path');
  });

  it.each(['ftp://example.com', 'http://me:pass@example.com', 'no address'])(
    'refuses the address %s',
    async (url) => {
      expect(await run('webhook', { url })).toMatchObject({
        kind: 'failed',
        failure: { name: 'WebhookUrlInvalid' },
        retryable: false,
        exit: 3,
      });
    },
  );
});
