import { listening } from '../support/listening.js';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/ports.js';
import { run } from './shipped.js';

type Seen = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: string };

/** A real HTTP server for one test; `seen` fills up with what was asked. */
async function httpServer(answer: (response: ServerResponse, seen: Seen) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      const one = { method, url, headers, body } as Seen;
      seen.push(one);
      answer(response, one);
    });
  });
  return { url: await listening(server), seen };
}

const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(value));

describe('http-request', () => {
  it('gets JSON', async () => {
    const { url, seen } = await httpServer((response) => json(response, { a: [1] }));
    const params = { url: `${url}/x?y=1`, query: { q: 'a b', list: [1, 'two'], none: null } };
    expect(await run('http-request', params)).toMatchObject({
      kind: 'done',
      result: {
        status: 200,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: { a: [1] },
      },
    });
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/x?y=1&q=a+b&list=1&list=two', body: '' });
    expect(seen[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it('posts JSON, with the idempotency key', async () => {
    const { url, seen } = await httpServer((response) => response.writeHead(204).end());
    const params = { url, json: { n: 1 }, headers: { 'X-A': 'b' } };
    expect(await run('http-request', params, { key: 'the key' })).toMatchObject({
      kind: 'done',
      result: { status: 204, body: '' },
    });
    expect(seen[0]).toMatchObject({
      method: 'POST',
      body: '{"n":1}',
      headers: { 'content-type': 'application/json', 'x-a': 'b', 'idempotency-key': 'the key' },
    });
  });

  it('sends a text by any method, its own headers first', async () => {
    const { url, seen } = await httpServer((response) => response.end('plain'));
    const headers = { 'Content-Type': 'text/csv', 'Idempotency-Key': 'mine' };
    const params = { url, method: 'put', body: 'a,b', headers };
    expect(await run('http-request', params)).toMatchObject({ result: { body: 'plain' } });
    expect(seen[0]).toMatchObject({
      method: 'PUT',
      body: 'a,b',
      headers: { 'content-type': 'text/csv', 'idempotency-key': 'mine' },
    });
  });

  it.each([
    [{ user: 'me', pass: 'pä:ss' }, `Basic ${Buffer.from('me:pä:ss').toString('base64')}`],
    [{ token: 'abc' }, 'Bearer abc'],
  ])('logs in with %j', async (auth, authorization) => {
    const { url, seen } = await httpServer((response) => response.end());
    await run('http-request', { url, auth });
    expect(seen[0]?.headers.authorization).toBe(authorization);
  });

  it('takes name and password from the address', async () => {
    const { url, seen } = await httpServer((response) => response.end());
    await run('http-request', { url: url.replace('//', '//me:p%40ss@') });
    expect(seen[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    );
  });

  it('takes a percent sign in the address as one', async () => {
    const { url, seen } = await httpServer((response) => response.end());
    await run('http-request', { url: url.replace('//', '//me:100%off%C3%A4@') });
    expect(seen[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('me:100%offä').toString('base64')}`,
    );
  });

  it.each([408, 425, 429, 500, 503])('may be repeated after %i', async (status) => {
    const { url } = await httpServer((response) => response.writeHead(status).end('busy'));
    expect(await run('http-request', { url: `${url}/path?token=abc` })).toMatchObject({
      kind: 'failed',
      retryable: true,
      failure: {
        name: 'HttpStatus',
        code: status,
        message: `GET ${url}/path answered ${status}: busy`,
      },
    });
  });

  it.each([301, 400, 401, 404, 409])('is not to be repeated after %i', async (status) => {
    const { url } = await httpServer((response) => response.writeHead(status).end());
    const outcome = await run('http-request', { url, redirect: 'manual' });
    expect(outcome).toMatchObject({ kind: 'failed', retryable: false, failure: { code: status } });
    expect(outcome).not.toHaveProperty('retryAfterMs');
  });

  it.each([190, 195, 170])('quotes no half of a secret that the server repeats: %i', async (at) => {
    const token = 'tok-SECRET-abcdefghijklmnop';
    const { url } = await httpServer((response, { headers }) =>
      response.writeHead(400).end('.'.repeat(at) + String(headers['authorization'])),
    );
    const failed = await run('http-request', { url, auth: { token } }, { clear: [token] });
    expect(failed).toMatchObject({ kind: 'failed', failure: { name: 'HttpStatus' } });
    expect(JSON.stringify(failed)).not.toMatch(/tok-S/);
  });

  it('shows nothing of a secret address but its server', async () => {
    const { url } = await httpServer((response, { url: path }) =>
      response.writeHead(400).end(String(path)),
    );
    const secret = `${url}/fail?pad=0&api_key=URLSECRETKEY`;
    const { failure } = (await run('http-request', { url: secret }, { clear: [secret] })) as {
      readonly failure?: Error;
    };
    expect(failure?.message).toBe(`GET ${url}[secret] answered 400: [secret]`);
  });

  it('tells another server nothing of who asks', async () => {
    const { url: other, seen } = await httpServer((response) => json(response, {}));
    const { url } = await httpServer((response) =>
      response.writeHead(302, { location: `${other}/moved` }).end(),
    );
    const headers = { 'x-api-key': 'k', cookie: 'c', 'accept-language': 'de', 'user-agent': 'me' };
    await run('http-request', { url, headers, auth: { token: 't' } });
    expect(seen[0]?.url).toBe('/moved');
    expect(seen[0]?.headers).toMatchObject({ 'accept-language': 'de', 'user-agent': 'me' });
    for (const name of ['x-api-key', 'cookie', 'authorization']) {
      expect(seen[0]?.headers).not.toHaveProperty(name);
    }
  });

  it.each([307, 308])('sends no body on to another server: %i', async (status) => {
    const { url: other, seen } = await httpServer((response) => json(response, {}));
    const { url, seen: first } = await httpServer((response, { url: path }) =>
      response.writeHead(status, { location: path === '/a' ? '/b' : `${other}/` }).end(),
    );
    const outcome = await run('http-request', { url: `${url}/a`, json: { password: 'p' } });
    expect(outcome).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name: 'RedirectRefused' },
    });
    expect(first.map(({ body }) => body)).toEqual(['{"password":"p"}', '{"password":"p"}']);
    expect(seen).toEqual([]);
  });

  it('does not follow to an address with a password', async () => {
    const { url } = await httpServer((response, { url: path }) =>
      path === '/a'
        ? response.writeHead(302, { location: url.replace('//', '//me:PASSWORD@') }).end()
        : json(response, {}),
    );
    const outcome = await run('http-request', { url: `${url}/a` });
    expect(outcome).toMatchObject({ failure: { name: 'HttpUnreachable' } });
    expect(JSON.stringify(outcome)).not.toContain('PASSWORD');
  });

  it('waits as long as Retry-After says, in seconds or until a date', async () => {
    const at = new Date(Date.now() + 120_000).toUTCString();
    const { url } = await httpServer((response, { url: path }) =>
      response.writeHead(503, { 'Retry-After': path === '/date' ? at : '7' }).end(),
    );
    expect(await run('http-request', { url })).toMatchObject({ retryAfterMs: 7000 });
    const dated = await run('http-request', { url: `${url}/date` });
    const wait = dated.kind === 'failed' ? (dated.retryAfterMs ?? 0) : 0;
    expect(wait).toBeGreaterThan(110_000);
    expect(wait).toBeLessThanOrEqual(120_000);
  });

  it('takes the statuses that are expected, and no others', async () => {
    const { url } = await httpServer((response) => json(response, { e: 1 }, 404));
    expect(await run('http-request', { url, expect: [404] })).toMatchObject({
      kind: 'done',
      result: { status: 404, body: { e: 1 } },
    });
    expect(await run('http-request', { url, expect: [200] })).toMatchObject({ kind: 'failed' });
  });

  it.each([
    ['json', '{"a":1}', { a: 1 }],
    ['text', '{"a":1}', '{"a":1}'],
    ['base64', '\u0001', 'AQ=='],
    ['auto', '{"a":1}', '{"a":1}'],
  ])('reads the answer as %s', async (response, sent, body) => {
    const { url } = await httpServer((answer) => answer.end(sent));
    expect(await run('http-request', { url, response })).toMatchObject({ result: { body } });
  });

  it.each<[string, string, Buffer, object]>([
    [
      'in the charset that it names',
      'text/plain; charset=ISO-8859-1',
      Buffer.from('pr\xe9t', 'latin1'),
      { body: 'prét' },
    ],
    [
      'in the charset of its JSON',
      'application/json; charset="windows-1252"',
      Buffer.from('{"a":"\x80"}', 'latin1'),
      { body: { a: '€' } },
    ],
    [
      'without a byte order mark',
      'application/json',
      Buffer.from('\uFEFF{"a":1}'),
      { body: { a: 1 } },
    ],
    ['by its byte order mark', 'text/csv', Buffer.from('\uFEFFa;b', 'utf16le'), { body: 'a;b' }],
    [
      'as base64 where it is no text',
      'image/gif',
      Buffer.from([0xff, 1]),
      { body: '/wE=', body_encoding: 'base64' },
    ],
    [
      'as base64 where nobody knows the charset',
      'text/plain; charset=x-own',
      Buffer.from('a'),
      { body: 'YQ==', body_encoding: 'base64' },
    ],
  ])('reads an answer %s', async (_how, type, bytes, result) => {
    const { url } = await httpServer((answer) => answer.setHeader('content-type', type).end(bytes));
    const outcome = await run('http-request', { url });
    expect(outcome).toMatchObject({ kind: 'done', result });
    if (!('body_encoding' in result)) expect(outcome).not.toHaveProperty('result.body_encoding');
  });

  it('fails where a text is asked for and the answer is none', async () => {
    const { url } = await httpServer((answer) => answer.end(Buffer.from([0xff])));
    expect(await run('http-request', { url, response: 'text' })).toMatchObject({
      failure: { name: 'HttpAnswerInvalid' },
      retryable: false,
    });
  });

  it('gives all cookies that an answer sets', async () => {
    const cookies = ['a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT', 'b=2'];
    const { url } = await httpServer((answer) => answer.setHeader('set-cookie', cookies).end());
    expect(await run('http-request', { url })).toMatchObject({
      result: { headers: { 'set-cookie': cookies } },
    });
  });

  it.each<[string, object, RegExp]>([
    ['a body of a GET', { method: 'GET', body: 'x' }, /GET sends no body/],
    ['JSON of a HEAD', { method: 'HEAD', json: {} }, /HEAD sends no body/],
    ['a header name with a space', { headers: { 'x y': 'secret' } }, /"x y"/],
    ['a header value with a line break', { headers: { 'x-a': 'secret\nb' } }, /"x-a"/],
    ['a header value beyond Latin 1', { headers: { 'x-a': 'secret €' } }, /"x-a"/],
    ['a wrong length', { body: 'x', headers: { 'content-length': '7' } }, /cannot be sent/],
    ['a header of the connection', { headers: { 'transfer-encoding': 'x' } }, /cannot be sent/],
    ['a wrong method', { method: 'GE T' }, /cannot be sent/],
    ['a method that is forbidden', { method: 'TRACE' }, /cannot be sent/],
  ])(
    'says that the request is wrong, and does not repeat it: %s',
    async (_what, wrong, message) => {
      const { url, seen } = await httpServer((answer) => answer.end());
      const outcome = await run('http-request', { url, ...wrong });
      expect(outcome).toMatchObject({
        kind: 'failed',
        exit: 3,
        retryable: false,
        failure: { name: 'HttpRequestInvalid', message: expect.stringMatching(message) as string },
      });
      expect(JSON.stringify(outcome)).not.toContain('secret');
      expect(seen).toEqual([]);
    },
  );

  it('asks no port of another protocol', async () => {
    expect(await run('http-request', { url: 'http://127.0.0.1:6000/' })).toMatchObject({
      failure: { name: 'HttpRequestInvalid' },
      retryable: false,
    });
  });

  it('fails on an answer that is not the JSON it claims to be', async () => {
    const { url } = await httpServer((response) =>
      response.setHeader('content-type', 'application/problem+json').end('<html>'),
    );
    expect(await run('http-request', { url })).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name: 'HttpAnswerInvalid' },
    });
  });

  it('stops reading an answer that is too large', async () => {
    const { url } = await httpServer((response) => response.end('x'.repeat(2 ** 20 + 1)));
    expect(await run('http-request', { url })).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name: 'HttpAnswerTooLarge' },
    });
    expect(await run('http-request', { url, max_bytes: 2 ** 21 })).toMatchObject({ kind: 'done' });
  });

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'nonsense', '/path'])(
    'refuses the address %s',
    async (url) => {
      expect(await run('http-request', { url })).toMatchObject({
        kind: 'failed',
        exit: 3,
        retryable: false,
        failure: { name: 'HttpUrlInvalid' },
      });
    },
  );

  it('leaves it to the retry policy when nobody answers', async () => {
    const outcome = await run('http-request', {
      url: `http://127.0.0.1:${await freePort()}/x?token=abc`,
    });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { name: 'HttpUnreachable' } });
    expect(outcome).not.toHaveProperty('retryable');
    expect(JSON.stringify(outcome)).not.toContain('abc');
  });

  it('ends when its signal aborts, before or while the answer comes', async () => {
    const { url } = await httpServer((response) => response.writeHead(200).write('part'));
    for (const signal of [AbortSignal.abort(), AbortSignal.timeout(200)]) {
      expect(await run('http-request', { url }, { signal })).toMatchObject({
        kind: 'failed',
        failure: { name: expect.stringMatching(/AbortError|TimeoutError/) as string },
      });
    }
  });
});
