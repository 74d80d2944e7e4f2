import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startHttp } from '../../src/http/server.js';
import { openStream } from './events.js';
import { openApi } from './server.js';

/** Sends text as it is and answers all that comes back until the connection ends. */
function say(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => (heard += chunk.toString()));
    socket.on('error', () => resolve(heard));
    socket.on('close', () => resolve(heard));
    setTimeout(() => socket.destroy(), 3_000).unref();
  });
}

describe('what is no request, or none for a route', () => {
  const close = 'connection: close\r\n\r\n';
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${close}`;
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n', 400, 'request_unreadable'],
    ['a broken escape', get('/_tws/jobs/%zz'), 400, 'request_invalid'],
    ['a path that is no UTF-8', get('/_tws/jobs/%ff'), 400, 'request_invalid'],
    ['a very long id', get(`/_tws/jobs/${'a'.repeat(12_000)}`), 400, 'request_invalid'],
    ['very long headers', get(`/_tws/jobs?${'a'.repeat(40_000)}`), 431, 'headers_too_large'],
    ['a query without type', get('/_tws/jobs').replace('GET', 'QUERY'), 400, 'request_invalid'],
    ['a strange method', get('/_tws/jobs').replace('GET', 'PROPFIND'), 405, 'method_wrong'],
    ['a strange path', get('/_tws/nix').replace('GET', 'OPTIONS'), 404, 'route_missing'],
  ])('is answered as any problem: %s', async (_what, text, status, error) => {
    const { url } = await openApi();
    const heard = await say(url, text);
    expect(heard).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(heard).toContain('x-content-type-options: nosniff');
    const body: unknown = JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4));
    expect(body).toEqual({
      error,
      reason: expect.any(String) as string,
      hint: expect.any(String) as string,
    });
  });
});

describe('what cannot be answered for a time', () => {
  it('says when to come again', async () => {
    const api = await openApi();
    const away = await startHttp({
      client: api.client,
      inspect: () => Promise.resolve({ url: '', reachable: true, design: 'missing' }),
      settings: { port: 0, streams: 1 },
      root: '.',
      log: { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 },
      version: '0',
    });
    try {
      const first = await openStream(`${away.url}/_tws/changes`, {});
      for (const path of ['/_tws/changes', '/_tws/metrics', '/_tws/health/ready']) {
        const answer = await fetch(`${away.url}${path}`);
        expect([path, answer.status]).toEqual([path, 503]);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      first.close();
    } finally {
      await away.close();
    }
  });
});

describe('a database that takes requests and gives no answer', () => {
  it('counts as away after a while', async () => {
    const first = await openApi();
    const search = () => new Promise<never>(() => undefined);
    const client = { ...first.client, search };
    const api = await openApi({ workspace: first, client, patienceMs: 200 });
    for (const path of ['/jobs', '/engines', '/stats']) {
      const answer = await api.ask('GET', path);
      expect([path, answer.status, answer.body['error']]).toEqual([path, 503, 'database_away']);
      expect(answer.headers.get('retry-after')).not.toBeNull();
    }
  });
});

describe('a server that ends', () => {
  it('answers what is under way, ends streams and waits, and takes nothing new', async () => {
    const api = await openApi();
    await api.put({ _id: 'j', type: 'job', flow: 'f' });
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const asked = new Set<string>();
    const slow = {
      ...api.client,
      submit: async (...job: Parameters<typeof api.client.submit>) => {
        asked.add('submit');
        await held;
        return api.client.submit(...job);
      },
      get: async (...id: Parameters<typeof api.client.get>) => {
        asked.add('get');
        return api.client.get(...id);
      },
    };
    const other = await openApi({ workspace: api, client: slow });
    const stream = await openStream(`${other.url}/_tws/changes`, {});
    const waiting = other.ask('GET', '/jobs/j?wait=60s');
    const submitting = other.ask('POST', '/jobs', { body: { _id: 'late', flow: 'f' } });
    await expect.poll(() => [...asked]).toEqual(expect.arrayContaining(['get', 'submit']));
    const closing = other.close();
    expect((await waiting).status).toBe(200);
    finish();
    expect((await submitting).status).toBe(201);
    const began = performance.now();
    await closing;
    expect(performance.now() - began).toBeLessThan(20_000);
    stream.close();
    await expect(other.ask('GET', '/ping')).rejects.toThrow();
  });

  it('does not wait for a connection that asks for nothing', async () => {
    const api = await openApi();
    const { hostname, port } = new URL(api.url);
    const silent = connect(Number(port), hostname);
    silent.on('error', () => undefined);
    await expect.poll(() => api.ask('GET', '/ping')).toMatchObject({ status: 200 });
    const began = performance.now();
    await api.close();
    expect(performance.now() - began).toBeLessThan(20_000);
    silent.destroy();
  });

  it('does not wait for ever for whoever reads nothing', async () => {
    const api = await openApi();
    const { hostname, port } = new URL(api.url);
    const deaf = connect(Number(port), hostname);
    // A browser connects before it knows what to ask for.
    const silent = connect(Number(port), hostname);
    deaf.pause();
    deaf.write(
      'POST /_tws/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    await expect.poll(() => api.ask('GET', '/ping')).toMatchObject({ status: 200 });
    const began = performance.now();
    await api.close();
    expect(performance.now() - began).toBeLessThan(30_000);
    deaf.destroy();
    silent.destroy();
  });
});
