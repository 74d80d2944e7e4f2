import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openApi } from './server.js';

/** A request whose path is sent as it stands. */
function raw(url: string, method: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(url);
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const asked = request({ hostname, port, method, path, headers }, (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            headers: reply.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      asked.on('error', reject).end();
    },
  );
}

it('X2: answers every address of a page with the page, and names a new nonce each time', async () => {
  const { url } = await openApi({ settings: { sign_in: 'always' } });
  const nonces = new Set<string>();
  for (const path of ['', '/', '/jobs', '/jobs/a.b%2Fc', '/flows/x', '/signin', '/no/such/page']) {
    const reply = await fetch(`${url}/_tws/admin${path}`);
    const text = await reply.text();
    expect([path, reply.status, reply.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
    ]);
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    const nonce = /style-nonce" content="([^"]+)"/.exec(text)?.[1] ?? '';
    expect(policy).toContain(`'nonce-${nonce}'`);
    nonces.add(nonce);
    expect(reply.headers.get('x-frame-options')).toBe('DENY');
    expect(reply.headers.get('cache-control')).toBe('no-store');
  }
  expect(nonces.size).toBe(7);
});

it('lets browsers keep the files that a page names for ever, packed where they can unpack', async () => {
  const { url } = await openApi();
  const page = await (await fetch(`${url}/_tws/admin/`)).text();
  const names = [...page.matchAll(/(?:src|href)="(\/_tws\/admin\/assets\/[^"]+)"/g)];
  expect(names.length).toBeGreaterThanOrEqual(3);
  for (const [, path = ''] of names) {
    const plain = await raw(url, 'GET', path);
    expect(plain.status).toBe(200);
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    expect(plain.headers['content-type']).toMatch(/^(?:text\/(?:javascript|css)|image\/svg\+xml)/);
    const packed = await raw(url, 'GET', path, { 'accept-encoding': 'gzip, br' });
    const isPacked = packed.headers['content-encoding'] === 'gzip';
    expect((isPacked ? gunzipSync(packed.body) : packed.body).equals(plain.body)).toBe(true);
    const etag = String(plain.headers['etag']);
    const kept = await raw(url, 'GET', path, { 'if-none-match': etag });
    expect([kept.status, kept.body.length]).toEqual([304, 0]);
    const head = await raw(url, 'HEAD', path);
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(plain.body.length));
  }
});

it.each(['', 'jobs', 'jobs/a', 'flows', 'flows/a', 'tasks', 'tasks/a', 'submit/a', 'engines'])(
  'names the scripts of the page at "%s", which are there',
  async (path) => {
    const { url } = await openApi();
    const links = (await fetch(`${url}/_tws/admin/${path}`)).headers.get('link') ?? '';
    const scripts = [...links.matchAll(/<([^>]+)>; rel=modulepreload/g)].map(([, at]) => at ?? '');
    expect(scripts.length).toBeGreaterThan(1);
    for (const script of scripts) expect((await fetch(`${url}${script}`)).status).toBe(200);
    expect((await fetch(`${url}/_tws/admin/.vite/manifest.json`)).headers.get('content-type')).toBe(
      'text/html; charset=utf-8',
    );
  },
);

it.each([
  '/_tws/admin/assets/../../../../package.json',
  '/_tws/admin/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
  '/_tws/admin/assets/..%2f..%2f..%2fpackage.json',
  '/_tws/admin/assets/..%5c..%5cpackage.json',
  '/_tws/admin/assets//etc/passwd',
  '/_tws/admin/assets/none.js',
  '/_tws/admin/assets/constructor',
])('X1: has no file of this machine at %s', async (path) => {
  const { url } = await openApi();
  const { status, body } = await raw(url, 'GET', path);
  const text = body.toString('utf8');
  expect([status, JSON.parse(text)]).toEqual([
    404,
    expect.objectContaining({ error: 'route_missing' }),
  ]);
});

it('only shows its pages', async () => {
  const { ask } = await openApi();
  const { status, body } = await ask('POST', '/admin/', { body: {} });
  expect([status, body['error']]).toEqual([404, 'route_missing']);
});
