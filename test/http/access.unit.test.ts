import { describe, expect, it, test } from 'vitest';
import { createCache } from '../../src/http/access/cache.js';
import { cookieIn, setCookie } from '../../src/http/access/cookies.js';
import { isConfidential } from '../../src/http/access/confidential.js';
import { createIdentify } from '../../src/http/access/identify.js';
import { assertOwnOrigin } from '../../src/http/access/origin.js';
import {
  localPrincipal,
  mayHaveSensitive,
  principalOf,
  reaches,
} from '../../src/http/access/principal.js';
import { createRate, networkOf } from '../../src/http/access/rate.js';
import { signedBy } from '../../src/http/routes/requests.js';
import { addressForm, hostAndPort, isLoopback } from '../../src/config/address.js';
import type { HttpSettings } from '../../src/config/http.js';

describe('what roles mean', () => {
  test.each<[readonly string[], string, 'all' | readonly string[]]>([
    [[], 'none', ['DEFAULT']],
    [['tws-viewer'], 'viewer', ['DEFAULT']],
    [['tws-viewer', 'tws-operator'], 'operator', ['DEFAULT']],
    [['tws-admin'], 'admin', 'all'],
    [['_admin'], 'admin', 'all'],
    [['tws-admin', 'tws-owner:acme'], 'admin', ['acme']],
    [
      ['tws-operator', 'tws-owner:acme', 'tws-owner:acme', 'tws-owner:z'],
      'operator',
      ['acme', 'z'],
    ],
    [['tws-viewer', 'tws-owner:*'], 'viewer', 'all'],
    [['tws-viewer', 'tws-owner:'], 'viewer', ['DEFAULT']],
    [['TWS-ADMIN', 'admin', 'tws-admins'], 'none', ['DEFAULT']],
  ])('%j are %s of %j', (roles, level, owners) => {
    const principal = principalOf('user', 'ada', roles);
    expect(principal).toMatchObject({ level, owners, name: 'ada', kind: 'user' });
    expect(reaches(principal, 'none')).toBe(true);
    expect(reaches(principal, 'admin')).toBe(level === 'admin');
  });
});

test.each<['user' | 'token' | 'local', readonly string[], boolean]>([
  ['user', ['tws-sensitive'], true],
  ['user', ['_admin'], true],
  ['user', ['tws-admin', 'tws-owner:*'], false],
  ['token', ['tws-sensitive'], false],
  ['token', ['_admin'], false],
  ['local', [], false],
])('a %s with %j may have sensitive values: %j', (kind, roles, may) => {
  expect(mayHaveSensitive({ ...principalOf('user', 'ada', roles), kind })).toBe(may);
});

test.each<[string, boolean, Partial<Parameters<typeof isConfidential>[0]>, HttpSettings]>([
  ['over HTTPS from anywhere', true, { protocol: 'https', from: '10.0.0.7' }, {}],
  ['over HTTP from another machine', false, { from: '10.0.0.7' }, {}],
  ['over HTTP from this machine', true, {}, {}],
  ['from this machine, in IPv6', true, { from: '::1' }, {}],
  ['from this machine, as IPv6 writes IPv4', true, { from: '::ffff:127.0.0.1' }, {}],
  ['over a connection that is gone', false, { from: undefined }, {}],
  [
    'by a proxy here that nobody believes',
    false,
    { headers: { 'x-forwarded-for': '1.2.3.4' } },
    {},
  ],
  ['by one that says HTTPS', false, { headers: { 'x-forwarded-proto': 'https' } }, {}],
  ['by one without headers', false, {}, { trust_proxy: ['10.0.0.1'] }],
  ['by one without headers or HTTPS', false, {}, { public_url: 'http://tws.example' }],
  ['by one without headers, with HTTPS', true, {}, { public_url: 'https://tws.example' }],
  ['from a page of this machine', true, {}, { public_url: 'http://localhost:5985' }],
])('a request %s is confidential: %j', (_how, is, arrived, settings) => {
  const usual = { protocol: 'http', from: '127.0.0.1', headers: {} };
  expect(isConfidential({ ...usual, ...arrived }, settings)).toBe(is);
});

describe('a rate', () => {
  it('lets a burst through, then as much as comes back', () => {
    let now = 0;
    const rate = createRate({ perSecond: 2, burst: 3, now: () => now });
    expect([1, 2, 3].map(() => rate.take('a'))).toEqual([undefined, undefined, undefined]);
    expect(rate.take('a')).toBe(1);
    expect(rate.take('b')).toBeUndefined();
    now = 500;
    expect(rate.take('a')).toBeUndefined();
    expect(rate.take('a')).toBe(1);
    now = 60_000;
    expect([1, 2, 3].map(() => rate.take('a'))).toEqual([undefined, undefined, undefined]);
    expect(rate.take('a')).toBe(1);
  });

  it('tells a long wait as long as it is, and forgets the oldest of very many', () => {
    const rate = createRate({ perSecond: 0.1, burst: 1, now: () => 0 });
    rate.take('first');
    expect(rate.take('first')).toBe(10);
    for (let i = 0; i < 10_001; i += 1) rate.take(`n${i}`);
    expect(rate.take('first')).toBeUndefined();
  });
});

describe('a cache', () => {
  it('asks once for a while, and again after a failure', async () => {
    let now = 1;
    let asked = 0;
    const cache = createCache<number>(100, () => now);
    const find = () => Promise.resolve((asked += 1));
    expect([await cache.get('a', find), await cache.get('a', find)]).toEqual([1, 1]);
    expect(cache.has('a')).toBe(true);
    now = 102;
    expect(cache.has('a')).toBe(false);
    expect(await cache.get('a', find)).toBe(2);
    const failing = () => Promise.reject(new Error('away'));
    await expect(cache.get('b', failing)).rejects.toThrow('away');
    expect(await cache.get('b', find)).toBe(3);
  });
});

describe('the address that asks', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('who is who', () => {
  const token = { id: 'x', name: 'ci', roles: ['tws-viewer'], created: 0 };
  const identify = (open: boolean) =>
    createIdentify({
      client: {
        checkToken: async (text) => (text === 'good' ? token : undefined),
        whoIs: async (cookie) =>
          ['good', 'renewed'].includes(cookie)
            ? { name: 'ada', roles: ['tws-admin'], cookie: 'renewed' }
            : undefined,
      },
      open,
      keepMs: 1_000,
      now: () => 0,
    });

  it('is told by a token first, then by a session, then by the place', async () => {
    const { of } = identify(true);
    const cookie = 'tws_session=good';
    const bearer = { authorization: 'Bearer good' };
    expect((await of({ ...bearer, cookie })).principal).toMatchObject({ kind: 'token' });
    expect(await of({ cookie })).toMatchObject({
      principal: { kind: 'user', name: 'ada' },
      byCookie: true,
      renewed: 'renewed',
    });
    expect((await of({})).principal).toMatchObject({ kind: 'local' });
    expect((await of({ cookie: 'tws_session=bad' })).principal).toMatchObject({ kind: 'local' });
    expect((await of({ 'x-forwarded-for': '1.2.3.4' })).principal).toBeUndefined();
    for (const authorization of ['Bearer bad', 'Basic YTpi', 'Bearer', 'good']) {
      const message = authorization.startsWith('Basic')
        ? 'The header authorization takes a token ("Bearer TOKEN"), not a name and a password.'
        : 'The token is not valid, or no longer valid.';
      await expect(of({ authorization })).rejects.toMatchObject({ code: 'token_refused', message });
    }
  });

  it('is nobody where everybody has to sign in', async () => {
    const { of, end } = identify(false);
    expect((await of({})).principal).toBeUndefined();
    await end('good');
    expect((await of({ cookie: 'tws_session=renewed' })).principal).toBeUndefined();
    expect((await of({ cookie: 'tws_session=good' })).principal).toBeUndefined();
  });
});

describe('cookies', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['tws_session=', undefined],
    ['tws_session=abc', 'abc'],
    ['a=1; tws_session=abc; b=2', 'abc'],
    ['xtws_session=abc', undefined],
  ])('%j holds %j', (header, value) => {
    expect(cookieIn(header)).toBe(value);
  });

  it('are sent over HTTPS only where there is HTTPS, and end at once when they end', () => {
    expect(setCookie('abc', true)).toContain('; Secure');
    expect(setCookie('abc', false)).not.toContain('Secure');
    expect(setCookie('', false)).toContain('Max-Age=0');
  });
});

describe('origins', () => {
  const check =
    (method: string, headers: Record<string, string>, byCookie = false, local = false) =>
    (): void =>
      assertOwnOrigin(method, { host: 'h:1', ...headers }, byCookie, {
        publicUrl: 'https://tws.example.com/x',
        loopbackOnly: local,
      });

  test.each<[string, Record<string, string>]>([
    ['GET', { origin: 'https://evil.example' }],
    ['POST', {}],
    ['POST', { origin: 'http://h:1' }],
    ['POST', { origin: 'https://tws.example.com' }],
    ['POST', { 'sec-fetch-site': 'same-origin' }],
    ['POST', { 'sec-fetch-site': 'none' }],
  ])('let %s with %j pass', (method, headers) => {
    expect(check(method, headers)).not.toThrow();
  });

  test.each<[string, Record<string, string>]>([
    ['POST', { origin: 'https://evil.example' }],
    ['POST', { origin: 'http://h:2' }],
    ['PUT', { origin: 'null' }],
    ['DELETE', { origin: 'nonsense' }],
    ['POST', { 'sec-fetch-site': 'cross-site' }],
    ['POST', { 'sec-fetch-site': 'same-site' }],
  ])('refuse %s with %j', (method, headers) => {
    expect(check(method, headers)).toThrow(/not accepted/);
  });

  it('need our header with a cookie, and this machine as host where nobody signs in', () => {
    expect(check('POST', {}, true)).toThrow('x-tws-request');
    expect(check('POST', { 'x-tws-request': '1' }, true)).not.toThrow();
    expect(check('GET', {}, true)).not.toThrow();
    expect(check('GET', { host: 'evil.example:5985' }, false, true)).toThrow('evil.example');
    for (const host of ['localhost:5985', '127.0.0.1', '[::1]:5985', '127.0.0.9:1', 'LOCALHOST']) {
      expect(check('GET', { host }, false, true)).not.toThrow();
    }
  });
});

describe('addresses', () => {
  test.each<[string, object]>([
    ['5985', { port: 5985 }],
    [':80', { port: 80 }],
    ['localhost', { host: 'localhost' }],
    ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
    ['0.0.0.0', { host: '0.0.0.0' }],
    ['my-host.example.com:1', { host: 'my-host.example.com', port: 1 }],
    ['[::1]:5985', { host: '::1', port: 5985 }],
    ['[::]', { host: '::' }],
    ['', {}],
  ])('%s is %j', (text, address) => {
    expect(addressForm.test(text)).toBe(true);
    expect(hostAndPort(text)).toEqual(address);
  });

  test.each(['a b', 'host:', 'host:x', '::1', 'http://x', '123456', 'a:b:c'])(
    '%s is none',
    (text) => {
      expect(addressForm.test(text)).toBe(false);
    },
  );

  test.each<[string, boolean]>([
    ['127.0.0.1', true],
    ['localhost', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.1.evil.example', false],
    ['localhost.evil.example', false],
    ['10.0.0.1', false],
  ])('%s is of this machine: %s', (host, is) => {
    expect(isLoopback(host)).toBe(is);
  });
});

describe('who signs an answer', () => {
  const named = (kind: 'user' | 'token') => principalOf(kind, 'ann', ['tws-viewer']);

  it('is a user by name, and a token by a name that no user has', () => {
    expect(signedBy({ by: 'bob' }, named('user'))).toEqual({ by: 'ann' });
    expect(signedBy({ by: 'ann' }, named('token'))).toEqual({ by: 'token:ann' });
    expect(signedBy({ by: 'bob' }, localPrincipal)).toEqual({ by: 'bob' });
  });
});
