import { describe, expect, it } from 'vitest';
import { problem } from '../../src/errors.js';
import { waiting } from '../../src/http/routes/common.js';
import type { NewDocument } from '../../src/store/writer.js';
import { openStream } from './events.js';
import { openApi, type TestApi } from './server.js';

const always = { sign_in: 'always' } as const;
const job = (_id: string, more: object = {}) => ({ _id, type: 'job', flow: 'f', ...more });
const idOf = (token: string): string => token.split('_')[1] ?? '';

/** Requests that last while the right to make them is lost. */
describe('whoever loses his right', () => {
  async function waiter(api: TestApi) {
    await api.put(job('j'));
    const token = await api.tokenOf('tws-operator');
    const headers = { authorization: `Bearer ${token}` };
    return { token, headers, revoke: () => api.client.revokeToken(idOf(token)) };
  }

  it('is told nothing by the request that waits', async () => {
    const api = await openApi({ settings: always, keepMs: 10 });
    const { token, revoke } = await waiter(api);
    const waits = [
      api.ask('GET', '/jobs/j?wait=20s', { token }),
      api.ask('POST', '/jobs/j/pause?wait=20s', { token }),
    ];
    // The other one reads the job once and waits from then on: it needs no less than this one.
    await expect.poll(() => api.store.view('requests')).toHaveLength(1);
    await revoke();
    await api.engine({ drainMs: 100 });
    for (const wait of waits) {
      const { status, text } = await wait;
      expect([status, text]).toEqual([401, expect.stringContaining('token_refused') as string]);
    }
  });

  it('is not told either why a request is refused', async () => {
    const api = await openApi({ settings: always, keepMs: 10 });
    const { token, revoke } = await waiter(api);
    const paused = api.ask('POST', '/jobs/j/pause?wait=20s', { token });
    await expect.poll(() => api.store.view('requests')).toHaveLength(1);
    await revoke();
    const final = { state: '$$complete', exit: 0, start: 1, end: 2, steps: [] };
    await api.store.write({ ...(await api.store.get('j')), ...final } as NewDocument);
    await api.engine({ drainMs: 100 });
    const { status, text } = await paused;
    expect([status, text]).toEqual([401, expect.stringContaining('token_refused') as string]);
  });

  it('X6: is told nothing by a stream after some seconds, also by one that is never silent', async () => {
    const api = await openApi({ settings: always, keepMs: 10 });
    const { headers, revoke } = await waiter(api);
    const stream = await openStream(`${api.url}/_tws/changes`, headers);
    await stream.next();
    await revoke();
    const began = performance.now();
    let n = 0;
    const busy = setInterval(() => void api.put(job(`b${(n += 1)}`)), 100);
    try {
      while ((await stream.next()) !== undefined);
    } finally {
      clearInterval(busy);
    }
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('X6: is kept by a stream, and told nothing, while the database cannot say so', async () => {
    const first = await openApi();
    const token = await first.tokenOf('tws-viewer');
    let away = false;
    let refused = 0;
    const checkToken: typeof first.client.checkToken = async (one) => {
      refused += away ? 1 : 0;
      if (away) throw problem('couch_unreachable', { url: 'http://x', cause: 'refused' });
      return first.client.checkToken(one);
    };
    const client = { ...first.client, checkToken };
    const api = await openApi({
      workspace: first,
      client,
      settings: always,
      keepMs: 1,
      heartbeatMs: 50,
    });
    const stream = await openStream(`${api.url}/_tws/changes`, {
      authorization: `Bearer ${token}`,
    });
    await stream.next();
    away = true;
    await expect.poll(() => refused).toBeGreaterThan(2);
    await api.put(job('a'));
    const next = stream.next();
    const more = expect.poll(() => refused).toBeGreaterThan(refused + 2);
    const early = await Promise.race([next, more.then(() => 'nothing')]);
    expect(early).toBe('nothing');
    away = false;
    expect(await next).toMatchObject({ event: 'job', data: { id: 'a' } });
    stream.close();
  });
});

describe('one person', () => {
  it('cannot take all streams from the others', async () => {
    const api = await openApi({ settings: { ...always, streams: 4 } });
    const [ada, bob] = [await api.tokenOf('tws-viewer'), await api.tokenOf('tws-viewer', 'x')];
    const open = (token: string) =>
      openStream(`${api.url}/_tws/changes`, { authorization: `Bearer ${token}` });
    const many = await Promise.all([ada, ada, ada, bob].map(open));
    expect(many.map(({ status }) => status).toSorted()).toEqual([200, 200, 503, 503]);
    expect(many[3]?.status).toBe(200);
    many.forEach(({ close }) => close());
    await expect.poll(async () => (await open(ada)).status).toBe(200);
  });

  it('waits for nothing where very many wait', async () => {
    const api = { waits: { most: 2, open: 0 } } as Parameters<typeof waiting>[0];
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    const told: number[] = [];
    const run = async (ms: number): Promise<void> => {
      told.push(ms);
      if (ms > 0) await over;
    };
    const all = [10, 20, 30, 0].map((ms) => waiting(api, ms, run));
    end();
    await Promise.all(all);
    expect(told).toEqual([10, 20, 0, 0]);
    expect(api.waits.open).toBe(0);
  });
});

describe('what everybody may ask', () => {
  it('has the database asked once a second, however often it is asked', async () => {
    const began = performance.now();
    let asked = 0;
    const api = await openApi({
      settings: always,
      inspect: () => {
        asked += 1;
        return Promise.resolve({ url: '', reachable: true, design: 'current' });
      },
    });
    await Promise.all(Array.from({ length: 50 }, () => api.ask('GET', '/health/ready')));
    expect(asked).toBeLessThan(3 + (performance.now() - began) / 1_000);
  });
});

describe('behind a proxy', () => {
  it.each([{ public_url: 'https://tws.example.com' }, { trust_proxy: ['10.0.0.0/8'] }])(
    'everybody has to sign in, also on a loopback address: %j',
    async (settings) => {
      const api = await openApi({ settings });
      expect((await api.ask('GET', '/jobs')).status).toBe(401);
    },
  );

  it('nobody has to where the page itself is of this machine', async () => {
    const api = await openApi({ settings: { public_url: 'http://localhost:5173' } });
    expect((await api.ask('GET', '/jobs')).status).toBe(200);
  });

  it('whoever is behind it is told apart, and nobody else is believed', async () => {
    const rate = { per_second: 0.001, burst: 2 };
    const statuses = async (proxy: string) => {
      const api = await openApi({ settings: { ...always, rate, trust_proxy: [proxy] } });
      const from = (address: string) =>
        api.ask('GET', '/jobs', { headers: { 'x-forwarded-for': address } });
      const seen = [];
      for (const address of ['1.1.1.1', '1.1.1.1', '1.1.1.1', '2.2.2.2']) {
        seen.push((await from(address)).status);
      }
      return seen;
    };
    expect(await statuses('127.0.0.1')).toEqual([401, 401, 429, 401]);
    expect(await statuses('10.0.0.1')).toEqual([401, 401, 429, 429]);
  });

  it.each([
    [{ trust_proxy: ['nonsense'] }, 'http.trust_proxy'],
    [{ trust_proxy: ['10.0.0.0/99'] }, 'http.trust_proxy'],
    [{ tls: { cert: 'a.pem', key: 'a.pem' } }, 'http.tls'],
  ])('settings that mean nothing are told: %j', async (settings, name) => {
    const files = { 'a.pem': 'no certificate' };
    await expect(openApi({ settings, files })).rejects.toMatchObject({
      code: 'setting_invalid',
      message: expect.stringContaining(name) as string,
    });
  });
});
