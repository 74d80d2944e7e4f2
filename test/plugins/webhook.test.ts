import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../support/receiver.js';
import { run } from './shipped.js';

/** An address where nobody listens any more. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

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

  it.each(['99999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'waits for no longer than a day, whatever the receiver asks (%s)',
    async (asked) => {
      const headers = { 'retry-after': asked };
      const { url } = await startReceiver(() => ({ status: 503, headers }));
      expect(await run('webhook', { url })).toMatchObject({ retryAfterMs: 86_400_000 });
    },
  );

  it('may be tried again when nobody answers, and says so without the path', async () => {
    const outcome = await run('webhook', { url: `${await closedAddress()}/secret-path` });
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

  it.each<[string, string | number]>([
    ['authorization', 'Bearer top\nsecret'],
    ['x-name', 'Größe \u20ac'],
    ['bad name', 'x'],
    ['Content-Length', 5],
    ['transfer-encoding', 'chunked'],
    ['expect', '100-continue'],
    ['upgrade', 'websocket'],
  ])('refuses the header %s at once, without its value', async (name, value) => {
    const { url, received } = await startReceiver();
    const outcome = await run('webhook', { url, headers: { [name]: value } });
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { name: 'WebhookHeaderInvalid' },
      retryable: false,
      exit: 3,
    });
    expect(JSON.stringify(outcome)).toContain(name);
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(received).toEqual([]);
  });

  it.each(['whsec_', 'whsec_!!!', 'whsec_a b'])('does not sign with %j', async (secret) => {
    const { url, received } = await startReceiver();
    expect(await run('webhook', { url, secret })).toMatchObject({
      failure: { name: 'WebhookSecretInvalid' },
      retryable: false,
      exit: 3,
    });
    expect(received).toEqual([]);
  });

  it('refuses a port that is not for HTTP', async () => {
    expect(await run('webhook', { url: 'http://127.0.0.1:6000/x' })).toMatchObject({
      failure: { name: 'WebhookUrlInvalid' },
      retryable: false,
    });
  });

  it.each([1e300, -1e300, 8_640_000_000_000_001])(
    'tells of an end at %d, which no date can hold',
    async (end) => {
      const { url, received } = await startReceiver();
      const job = { _id: 'n', notifies: { job: 'j', status: 'failed', end } };
      expect(await run('webhook', { url }, { job })).toMatchObject({ kind: 'done' });
      expect(received[0]?.body).toMatchObject({ type: 'job.failed', data: { job: 'j', end } });
      expect(Date.parse(String(received[0]?.body.timestamp))).toBeGreaterThan(0);
    },
  );

  it.each([
    ['a header', { headers: { authorization: 'Bearer 0123456789abcdef' } }, '0123456789abcdef'],
    ['the body', { body: { key: '0123456789abcdef' } }, '0123456789abcdef'],
  ])('quotes no half of what stood in %s', async (_title, params, clear) => {
    for (const before of [185, 190, 199]) {
      const { url } = await startReceiver(() => ({
        status: 400,
        body: `${'x'.repeat(before)}${clear} is wrong`,
      }));
      const outcome = await run('webhook', { url, ...params });
      expect(outcome).toMatchObject({
        failure: { message: `The webhook ${url} answered 400: ${'x'.repeat(before)}.` },
      });
    }
  });

  it('quotes no path: that is often what keeps others from using a webhook', async () => {
    const { url } = await startReceiver(({ path }) => ({
      status: 404,
      body: `Cannot POST ${path} (${path.split('?')[0]})`,
    }));
    expect(await run('webhook', { url: `${url}/services/T0/hush?token=t0ken` })).toMatchObject({
      failure: { message: `The webhook ${url} answered 404: Cannot POST [path] ([path]).` },
    });
  });

  it('does not read more of an answer than it tells, however long that is', async () => {
    const { url } = await startReceiver(() => ({ status: 500, body: ' '.repeat(50_000_000) }));
    expect(await run('webhook', { url })).toMatchObject({
      failure: { message: `The webhook ${url} answered 500.` },
    });
  });
});
