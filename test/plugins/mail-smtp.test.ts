import { readdirSync } from 'node:fs';
import * as http from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';
import { smtpServer, unfolded } from './smtp.js';

const mail = { from: 'Shop <shop@example.com>', to: 'ann@example.com', subject: 'Hi', text: 'x' };
const local = (port: number, more: object = {}) => ({ host: '127.0.0.1', port, ...more });

describe('mail-smtp', () => {
  it('sends text and HTML, filled in, with only the HTML escaped', async () => {
    const { port, received } = await smtpServer();
    const params = {
      ...mail,
      smtp: local(port),
      subject: 'Order {{job._id}} & more',
      text: 'Dear {{results.name}}',
      html: '<p>Dear {{results.name}}</p>',
    };
    const outcome = await run('mail-smtp', params, { results: { name: '<Ann & Bob>' } });
    expect(outcome).toMatchObject({
      kind: 'done',
      result: { accepted: ['ann@example.com'], rejected: [] },
    });
    expect(outcome.kind === 'done' && outcome.result).toMatchObject({
      message_id: expect.stringMatching(/^<[0-9a-f]{40}@example\.com>$/) as string,
      response: expect.stringMatching(/^250 /) as string,
    });
    const [{ raw = '', from } = {}] = received;
    expect(from).toBe('shop@example.com');
    expect(raw).toContain('Subject: Order job-1 & more');
    expect(raw).toContain('\r\n\r\nDear <Ann & Bob>\r\n');
    expect(raw).toContain('<p>Dear &lt;Ann &amp; Bob&gt;</p>');
  });

  it('sends to cc and bcc, and shows nobody the bcc', async () => {
    const { port, received } = await smtpServer();
    const params = {
      ...mail,
      smtp: local(port),
      to: ['ann@example.com', { name: 'Bob', address: 'bob@example.com' }],
      cc: 'cc@example.com',
      bcc: 'bcc@example.com',
      reply_to: 'reply@example.com',
      headers: { 'X-Order': '7' },
    };
    expect(await run('mail-smtp', params)).toMatchObject({ kind: 'done' });
    const [{ raw = '', to } = {}] = received;
    expect(to).toEqual(['ann@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com']);
    expect(raw).not.toContain('bcc@example.com');
    expect(unfolded(raw)).toContain('To: ann@example.com, Bob <bob@example.com>');
    expect(raw).toContain('Cc: cc@example.com');
    expect(raw).toContain('Reply-To: reply@example.com');
    expect(raw).toContain('X-Order: 7');
  });

  it('attaches contents and files of the project', async () => {
    const { port, received } = await smtpServer();
    const cwd = folderWith({ 'files/a.txt': 'from the file' });
    const attachments = [
      'files/a.txt',
      { filename: 'b.bin', content: 'AAEC', encoding: 'base64', content_type: 'application/x-b' },
    ];
    const params = { ...mail, smtp: local(port), attachments };
    expect(await run('mail-smtp', params, { cwd })).toMatchObject({ kind: 'done' });
    const raw = received[0]?.raw ?? '';
    expect(raw).toContain('filename=a.txt');
    expect(raw).toMatch(/from the file|ZnJvbSB0aGUgZmlsZQ==/);
    expect(raw).toContain('Content-Type: application/x-b; name=b.bin');
    expect(raw).toContain('AAEC');
  });

  it.each(['../secret.txt', 'none.txt', '/etc/hosts', '.tws/embedded.json'])(
    'sends nothing when %s cannot be attached',
    async (path) => {
      const { port, received } = await smtpServer();
      const params = { ...mail, smtp: local(port), attachments: [{ path }] };
      expect(await run('mail-smtp', params, { cwd: folderWith() })).toMatchObject({
        kind: 'failed',
        retryable: false,
      });
      expect(received).toEqual([]);
    },
  );

  it.each([
    ['to', { to: undefined }],
    ['to', { to: '' }],
    ['to', { to: [] }],
    ['from', { from: undefined }],
    ['smtp.host', { smtp: undefined }],
    ['smtp.host', { smtp: { port: 25 } }],
  ])('sends nothing without %s', async (missing, change) => {
    const { port, received } = await smtpServer();
    expect(await run('mail-smtp', { ...mail, smtp: local(port), ...change })).toMatchObject({
      kind: 'failed',
      exit: 3,
      retryable: false,
      failure: {
        name: 'MailIncomplete',
        message: `The mail cannot be sent: the parameter ${missing} is missing.`,
      },
    });
    expect(received).toEqual([]);
  });

  it('sends to the mailbox of tws dev what is for its usual port, and nothing else', async () => {
    const { port, received } = await smtpServer();
    vi.stubEnv('TWS_MAILBOX_PORT', String(port));
    const to = (host: string, there: number) => ({ ...mail, smtp: { ...local(there), host } });
    expect(await run('mail-smtp', to('127.0.0.1', 2525))).toMatchObject({ kind: 'done' });
    expect(await run('mail-smtp', to('127.0.0.1', 1))).toMatchObject({ kind: 'failed' });
    expect(received).toHaveLength(1);
    vi.unstubAllEnvs();
  });

  it('gives a repeated attempt the same Message-ID', async () => {
    const { port, received } = await smtpServer();
    const params = { ...mail, transport: local(port) };
    for (const key of ['a', 'a', 'b']) await run('mail-smtp', params, { key });
    const ids = received.map(({ raw }) => /^Message-ID: (.*)$/m.exec(raw)?.[1]);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('logs in, and does not try again after a wrong password, which it does not show', async () => {
    const { port, received } = await smtpServer();
    const auth = (pass: string) => ({ ...mail, smtp: local(port, { auth: { user: 'me', pass } }) });
    expect(await run('mail-smtp', auth('hunter22'))).toMatchObject({ kind: 'done' });
    expect(received[0]?.user).toBe('me');
    const refused = await run('mail-smtp', auth('hunter23'), { clear: ['hunter23'] });
    expect(refused).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name: 'MailLoginRefused', code: 535 },
    });
    expect(JSON.stringify(refused)).not.toContain('hunter23');
  });

  it.each([
    [451, true],
    [550, false],
  ])('tells the retry policy what %i means', async (responseCode, retryable) => {
    const { port } = await smtpServer({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('not now'), { responseCode })),
    });
    expect(await run('mail-smtp', { ...mail, smtp: local(port) })).toMatchObject({
      kind: 'failed',
      retryable,
      failure: { name: 'MailRefused', code: responseCode },
    });
  });

  it('calls a server that is not there by the word of the system', async () => {
    const failed = await run('mail-smtp', { ...mail, smtp: local(1) });
    expect(failed).toMatchObject({ failure: { name: 'ECONNREFUSED', code: 'ESOCKET' } });
  });

  it('does not try again where there is no address at all', async () => {
    const { port } = await smtpServer();
    expect(await run('mail-smtp', { ...mail, smtp: local(port), to: ' , ' })).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name: 'MailRefused', code: 'EENVELOPE' },
    });
  });

  it.each([
    ['TLS from the start', { secure: true }],
    ['STARTTLS', { secure: false, disabledCommands: [] }],
  ])('verifies the certificate unless told otherwise: %s', async (_title, options) => {
    // The server's own certificate is self-signed.
    const { port, received } = await smtpServer(options);
    const smtp = local(port, { secure: options.secure });
    const refused = await run('mail-smtp', { ...mail, smtp });
    expect(refused).toMatchObject({ kind: 'failed' });
    expect(refused.kind === 'failed' && refused.failure.message).toMatch(/certificate|self-signed/);
    expect(received).toEqual([]);
    const trusting = { ...smtp, tls: { rejectUnauthorized: false } };
    expect(await run('mail-smtp', { ...mail, smtp: trusting })).toMatchObject({ kind: 'done' });
  });

  it.each(['http://localhost', 'http://LOCALHOST', 'http://me:p%40ss@127.0.0.1'])(
    'sends through a proxy: %s',
    async (proxy) => {
      const { port, received } = await smtpServer({ secure: true });
      const asked: http.IncomingMessage[] = [];
      const server = http.createServer().listen(0, new URL(proxy).hostname);
      server.on('connect', (request: http.IncomingMessage, socket: Duplex) => {
        asked.push(request);
        const behind = connect(port, '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 Connected\r\n\r\n');
          socket.pipe(behind).pipe(socket);
        });
      });
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const at = `${proxy}:${(server.address() as AddressInfo).port}`;
      const more = { secure: true, tls: { rejectUnauthorized: false }, proxy: at };
      const smtp = { host: 'mail.example.com', port: 465, ...more };
      expect(await run('mail-smtp', { ...mail, smtp })).toMatchObject({ kind: 'done' });
      expect(received).toHaveLength(1);
      const [{ url, headers } = { url: '', headers: {} }] = asked;
      expect(url).toBe('mail.example.com:465');
      const user = proxy.includes('@') ? 'Basic bWU6cEBzcw==' : undefined;
      expect(headers['proxy-authorization']).toBe(user);
    },
  );

  it('says what a proxy answered', async () => {
    const server = http.createServer().listen(0, '127.0.0.1');
    server.on('connect', (_request, socket: Duplex) => {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const smtp = { host: 'mail.example.com', proxy };
    const { failure } = (await run('mail-smtp', { ...mail, smtp })) as unknown as {
      readonly failure: Error;
    };
    expect(failure.message).toContain('The proxy answered 407 when asked for mail.example.com:587');
  });

  it.each(['socks5://127.0.0.1:1', 'localhost:3128', 'none', 5])(
    'refuses %s as a proxy',
    async (proxy) => {
      const { port, received } = await smtpServer();
      const smtp = local(port, { proxy });
      expect(await run('mail-smtp', { ...mail, smtp })).toMatchObject({ kind: 'failed', exit: 3 });
      expect(received).toEqual([]);
    },
  );

  it('ends at once, connection and all, when its signal aborts', async () => {
    const sockets: Socket[] = [];
    // A server that never says a word.
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const aborting = new AbortController();
    const outcome = run('mail-smtp', { ...mail, smtp: local(port) }, { signal: aborting.signal });
    const [socket] = (await once(silent, 'connection')) as [Socket];
    const closed = once(socket.resume(), 'close');
    aborting.abort();
    expect(await outcome).toMatchObject({ kind: 'failed', failure: { name: 'AbortError' } });
    await closed;
  });

  it.each([
    ['sendmail', { sendmail: true, path: '/bin/false' }],
    ['a URL that says so', { url: 'smtp://127.0.0.1:1?sendmail=true&path=/bin/false' }],
    ['a stream', { streamTransport: true }],
    ['a pool', { pool: true }],
  ])('cannot be made to do something else by the parameters: %s', async (_title, more) => {
    const { port, received } = await smtpServer();
    const smtp = local(port, more);
    expect(await run('mail-smtp', { ...mail, smtp })).toMatchObject({ kind: 'done' });
    expect(received).toHaveLength(1);
  });

  it('writes no file for the parameters', async () => {
    const { port } = await smtpServer();
    const cacheDir = folderWith();
    const dkim = { domainName: 'x', keySelector: 'x', privateKey: 'x', cacheDir, cacheTreshold: 1 };
    await run('mail-smtp', { ...mail, text: 'x'.repeat(1e6), smtp: local(port, { dkim }) });
    expect(readdirSync(cacheDir)).toEqual([]);
  });
});
