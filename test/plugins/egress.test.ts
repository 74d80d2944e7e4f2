import { createKeyring } from '../../src/secrets/keyring.js';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EgressPolicy } from '../../src/plugin/egress.js';
import { createSystemWebhooks } from '../../src/engine/events/system-webhooks.js';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';
import { smtpServer } from './smtp.js';

const exposed: EgressPolicy = { allow: [], deny: [], exposed: true };
const denied = { kind: 'failed', exit: 3, retryable: false, failure: { name: 'EgressDenied' } };

/** Counts the connections that something opens. */
async function listener(host = '127.0.0.1') {
  let opened = 0;
  const server = createTcpServer((socket) => {
    opened += 1;
    socket.destroy();
  }).listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, opened: () => opened };
}

describe('a denied address', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
  ])('is not connected to, however it is written: %s', async (host) => {
    const { port, opened } = await listener();
    const url = `http://${host}:${port}/`;
    expect(await run('http-request', { url }, { egress: exposed })).toMatchObject(denied);
    expect(await run('webhook', { url }, { egress: exposed })).toMatchObject(denied);
    expect(opened()).toBe(0);
  });

  it('is not connected to by s3-upload and mail-smtp either', async () => {
    const { port, opened } = await listener();
    const credentials = { access_key_id: 'a', secret_access_key: 'b' };
    for (const host of ['127.0.0.1', 'localhost']) {
      const s3 = { endpoint: `http://${host}:${port}`, path_style: true, credentials };
      const object = { bucket: 'b', key: 'k', body: 'x', s3 };
      expect(await run('s3-upload', object, { egress: exposed })).toMatchObject(denied);
      for (const smtp of [
        { host, port },
        { host, port, secure: true },
        { host: 'mail.invalid', proxy: `http://${host}:${port}` },
      ]) {
        const mail = { from: 'a@b.c', to: 'd@e.f', subject: 's', text: 't', smtp };
        expect(await run('mail-smtp', mail, { egress: exposed })).toMatchObject(denied);
      }
    }
    expect(opened()).toBe(0);
  });

  const elsewhere = {
    from: 'a@b.c',
    to: 'd@e.f',
    text: 't',
  };
  const notThere: EgressPolicy = { allow: [], deny: ['127.0.0.9'], exposed: false };

  it.each<[string, boolean, (port: number) => object]>([
    ['a socket of TLS', true, (port) => ({ socket: null, host: '127.0.0.9', port })],
    ['a socket of STARTTLS', false, (port) => ({ socket: null, host: '127.0.0.9', port })],
    ['a socket without "socket"', true, (port) => ({ host: '127.0.0.9', port })],
    ['a path of TLS', true, () => ({ socket: null, path: join(folderWith(), 'no.sock') })],
    ['a lookup', true, () => ({ lookup: 'x' })],
  ])('is not connected to by %s that the parameters of a mail name', async (_what, secure, tls) => {
    const { port, opened } = await listener('127.0.0.9');
    const server = await smtpServer(secure ? { secure } : { disabledCommands: [] });
    const connection = { host: '127.0.0.1', port: server.port, secure };
    const odd = { ...connection, tls: { ...tls(port), rejectUnauthorized: false } };
    const mail = { ...elsewhere, smtp: odd };
    expect(await run('mail-smtp', mail, { egress: notThere })).toMatchObject({
      kind: 'failed',
      exit: 3,
      retryable: false,
      failure: { name: 'MailOptionRefused' },
    });
    expect(opened()).toBe(0);
  });

  it.each<[string, object]>([
    ['a refresh token', { refreshToken: 'r', clientId: 'c', clientSecret: 's' }],
    ['a service', { serviceClient: 'c', privateKey: 'k' }],
  ])('is not asked for a token of a mail server: %s', async (_what, more) => {
    const { port, opened } = await listener('127.0.0.9');
    const { port: mailPort } = await smtpServer();
    const accessUrl = `http://127.0.0.9:${port}/token`;
    const auth = { type: 'OAuth2', user: 'me', accessUrl, ...more };
    const mail = { ...elsewhere, smtp: { host: '127.0.0.1', port: mailPort, auth } };
    expect(await run('mail-smtp', mail, { egress: notThere })).toMatchObject({
      failure: { name: 'MailOptionRefused' },
    });
    expect(opened()).toBe(0);
  });

  it.each<[string, (port: number) => string]>([
    ['in capitals', (port) => `http://LOCALHOST:${port}`],
    ['as the user of a proxy, too', (port) => `http://localhost:x@localhost:${port}/`],
    ['in IPv6', (port) => `http://[::ffff:127.0.0.1]:${port}`],
    ['with TLS', (port) => `https://localhost:${port}`],
  ])('is not connected to as the proxy of a mail: %s', async (_how, proxy) => {
    const { port, opened } = await listener();
    const mail = { ...elsewhere, smtp: { host: 'mail.invalid', proxy: proxy(port) } };
    expect(await run('mail-smtp', mail, { egress: exposed })).toMatchObject(denied);
    expect(opened()).toBe(0);
  });

  it('is not connected to by the webhooks of the settings', async () => {
    const { port, opened } = await listener();
    const warned: string[] = [];
    const none = () => undefined;
    const webhooks = createSystemWebhooks({
      webhooks: [{ url: `http://127.0.0.1:${port}` }],
      database: 'd',
      keyring: createKeyring(undefined),
      egress: exposed,
      log: { debug: none, info: none, error: none, warn: (_about, line) => void warned.push(line) },
    });
    webhooks.take({ type: 'engine.started', at: 1, engine: 'e', host: 'h', pid: 1 });
    await webhooks.close(60_000);
    expect(warned.join()).toContain('may not be reached');
    expect(opened()).toBe(0);
  });

  it('is not reached by a redirect', async () => {
    const { port, opened } = await listener();
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    const egress = { ...exposed, allow: ['localhost'] };
    expect(await run('http-request', { url }, { egress })).toMatchObject(denied);
    expect(opened()).toBe(0);
  });

  it('is told in one sentence that says what permits it', async () => {
    const { failure } = (await run(
      'http-request',
      { url: 'http://169.254.169.254/latest/meta-data/' },
      {},
    )) as unknown as { readonly failure: { readonly message: string } };
    expect(failure.message).toBe(
      'The address of "169.254.169.254" may not be reached: it is link-local, or tells a machine about itself; name it in "egress": {"allow": […]} in tws.json if it is meant.',
    );
  });
});
