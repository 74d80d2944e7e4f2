import { request as httpRequest } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { retentionOf } from '../../src/cli/overdue-subjects.js';
import { assertClock } from '../../src/cli/server-clock.js';
import type { Config } from '../../src/config/load.js';
import type { Vault } from '../../src/sensitive/vault.js';
import { vaultOf } from '../support/vault.js';
import { openWorkspace } from '../support/workspace.js';
import { makeUser, openApi, type TestApi, type TestOptions } from './server.js';

const iban = 'DE02120300000000202051';
const person = 'maria@example.com';

async function opened(settings: TestOptions['settings'] = {}) {
  const workspace = await openWorkspace();
  const { vault } = await vaultOf(workspace);
  const api = await openApi({ workspace, sensitive: vault, settings });
  return { api, vault };
}

/** Signs a new user in; answers what asks as that user, and the name. */
async function userOf(api: TestApi, ...roles: readonly string[]) {
  const user = await makeUser(...roles);
  const answer = await api.ask('POST', '/session', { body: user });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const headers = { cookie, 'x-tws-request': '1' };
  const ask = (method: string, path: string, body?: unknown) =>
    api.ask(method, path, { headers, ...(body === undefined ? {} : { body }) });
  return { name: user.name, headers, ask };
}

const day = 86_400_000;

describe('sensitive values over the HTTP API', () => {
  // Shows M-04.
  it('are stored, read and purged by users with the role, each access on record', async () => {
    const { api, vault } = await opened();
    const { name, ask } = await userOf(api, 'tws-sensitive', 'tws-owner:acme');
    const of = { owner: 'acme', subject: person };
    const stored = await ask('POST', '/sensitive', {
      ...of,
      values: { iban, password: 'secret-1' },
    });
    expect(stored).toMatchObject({ status: 200, body: { names: ['iban', 'password'] } });
    const { subject } = stored.body as { subject: string };
    expect((await ask('POST', '/sensitive/reference', of)).body).toEqual({
      owner: 'acme',
      subject,
    });
    const why = 'ticket 71';
    const read = await ask('POST', '/sensitive/read', { ...of, names: ['iban', 'password'], why });
    expect(read.body).toEqual({ owner: 'acme', subject, values: { iban, password: 'secret-1' } });
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(read.headers.get('etag')).toBeNull();
    const list = await ask('GET', '/sensitive');
    expect(list.body).toMatchObject({
      subjects: [{ owner: 'acme', subject, names: ['iban', 'password'], readable: true }],
    });
    const purged = await ask('POST', '/sensitive/purge', { owner: 'acme', subject, why });
    expect(purged.body).toEqual({ purged: [{ owner: 'acme', subject }] });
    expect(await vault.open({ owner: 'acme', subject }, 'iban')).toBeUndefined();
    const gone = await ask('POST', '/sensitive/read', { ...of, names: ['iban'] });
    expect(gone).toMatchObject({ status: 404, body: { error: 'sensitive_absent' } });
    const record = await ask('GET', '/sensitive/accesses');
    const about = { who: name, owner: 'acme', subject };
    expect(record.body['accesses']).toMatchObject([
      { ...about, how: 'put', names: ['iban', 'password'] },
      { ...about, how: 'get', names: ['iban', 'password'], why },
      { ...about, how: 'purge', why },
      { ...about, how: 'get', names: ['iban'] },
    ]);
    const told = JSON.stringify([record.body, list.body, api.lines]);
    for (const text of [iban, 'secret-1', person]) expect(told).not.toContain(text);
  });

  it('stay by a purge of what is old when they are stored anew meanwhile', async () => {
    const workspace = await openWorkspace();
    const { vault } = await vaultOf(workspace);
    const list: Vault['list'] = async (owners) => {
      const found = await vault.list(owners);
      await vault.put('acme', person, { iban });
      return found;
    };
    const api = await openApi({ workspace, sensitive: { ...vault, list } });
    await vault.put('acme', person, { iban });
    const acme = await userOf(api, 'tws-sensitive', 'tws-owner:acme');
    const old = await acme.ask('POST', '/sensitive/purge', { older_than: 0 });
    expect(old.body).toEqual({ purged: [] });
    const of = { owner: 'acme', subject: person, names: ['iban'] };
    expect((await acme.ask('POST', '/sensitive/read', of)).body).toMatchObject({
      values: { iban },
    });
  });

  it('are of owners, and are not for tokens, other roles, whoever has not signed in, or a clock that is ahead', async () => {
    let isAhead = false;
    const workspace = await openWorkspace();
    const { vault } = await vaultOf(workspace);
    const config = { ...workspace.store.connection } as Config;
    const checkClock = () => assertClock(config, () => Date.now() + (isAhead ? day : 0));
    const api = await openApi({ workspace, sensitive: vault, checkClock });
    await vault.put('zeta', person, { iban });
    const acme = await userOf(api, 'tws-sensitive', 'tws-owner:acme');
    const of = { owner: 'zeta', subject: person, names: ['iban'] };
    expect((await acme.ask('POST', '/sensitive/read', of)).status).toBe(403);
    expect((await acme.ask('GET', '/sensitive')).body).toEqual({ subjects: [] });
    const old = await acme.ask('POST', '/sensitive/purge', { older_than: 0 });
    expect(old.body).toEqual({ purged: [] });
    isAhead = true;
    expect((await acme.ask('POST', '/sensitive/purge', { older_than: 0 })).body).toMatchObject({
      error: 'clock_ahead',
    });
    const token = await api.tokenOf('tws-sensitive', 'tws-admin', 'tws-owner:*');
    const admin = await userOf(api, 'tws-admin', 'tws-owner:*');
    for (const refused of [
      await api.ask('POST', '/sensitive/read', { body: of }),
      await api.ask('POST', '/sensitive/read', { body: of, token }),
      await admin.ask('POST', '/sensitive/read', of),
    ]) {
      expect(refused).toMatchObject({ status: 403, body: { error: 'sensitive_refused' } });
    }
    const made = { name: 'x', roles: ['tws-sensitive'] };
    expect((await api.ask('POST', '/tokens', { body: made })).status).toBe(400);
    expect(await vault.accesses()).toEqual([]);
  });

  it('are destroyed by the retention pass when their time is over, on record, and are else kept', async () => {
    const workspace = await openWorkspace();
    let now = Date.now();
    const { vault } = await vaultOf(workspace, () => now);
    const api = await openApi({ workspace, sensitive: vault });
    const { ask } = await userOf(api, 'tws-sensitive', 'tws-owner:*');
    const put = async (subject: string, retain?: string | number) => {
      const body = { owner: 'acme', subject, values: { iban } };
      const stored = await ask(
        'POST',
        '/sensitive',
        retain === undefined ? body : { ...body, retain },
      );
      expect(stored.status).toBe(200);
      return (stored.body as { subject: string }).subject;
    };
    const [short, usual, ever] = [await put('ann', 'P1D'), await put('bob'), await put('eve', 0)];
    // Another value leaves it as it is.
    await put('ann');
    const retention = retentionOf(
      () => ({ ...vault, close: async () => undefined }),
      3 * day,
      () => now,
    );
    const left = async (): Promise<readonly string[]> => {
      const due = await retention.due();
      const purged = { destroyed: due, left: 0 };
      if (due > 0) expect(await retention.purge('engine:a')).toEqual(purged);
      return (await vault.list()).map(({ subject }) => subject).toSorted();
    };
    expect(await left()).toEqual([short, usual, ever].toSorted());
    now += day + 1;
    expect(await left()).toEqual([usual, ever].toSorted());
    now += 2 * day;
    expect(await left()).toEqual([ever]);
    const purges = (await vault.accesses()).filter(({ how }) => how === 'purge');
    expect(purges).toMatchObject([
      { who: 'engine:a', subject: short, why: 'retain' },
      { who: 'engine:a', subject: usual, why: 'retain' },
    ]);
    // What is stored anew before its key is destroyed stays.
    const carl = await put('carl');
    now += 3 * day + 1;
    const late = retentionOf(
      () => ({
        ...vault,
        close: async () => undefined,
        purge: async (...given) => (await put('carl'), vault.purge(...given)),
      }),
      3 * day,
      () => now,
    );
    expect(await late.purge('engine:a')).toEqual({ destroyed: 0, left: 0 });
    expect(
      Object.keys(await vault.read({ owner: 'acme', subject: carl, names: ['iban'], who: 'test' })),
    ).toEqual(['iban']);
  });

  it('tell the record page by page, of a subject or from a time on', async () => {
    const workspace = await openWorkspace();
    let now = Date.parse('2030-01-01T00:00:00Z');
    const { vault } = await vaultOf(workspace, () => (now += 60_000));
    const api = await openApi({ workspace, sensitive: vault });
    const { ask } = await userOf(api, 'tws-sensitive', 'tws-owner:*');
    const by = { who: 'test' };
    const { subject } = await vault.put('acme', 'ann', { iban }, by);
    for (const owner of ['acme', 'zeta', 'acme']) await vault.put(owner, 'bob', { iban }, by);
    const ownersOf = async (query: string) => {
      const { body } = await ask('GET', `/sensitive/accesses?${query}`);
      const { accesses, next } = body as { accesses: { owner: string }[]; next?: string };
      return { owners: accesses.map(({ owner }) => owner), next };
    };
    const first = await ownersOf('limit=3');
    expect(first.owners).toEqual(['acme', 'acme', 'zeta']);
    const rest = await ownersOf(`limit=3&after=${encodeURIComponent(String(first.next))}`);
    expect(rest).toEqual({ owners: ['acme'] });
    expect((await ownersOf('owner=zeta')).owners).toEqual(['zeta']);
    expect((await ownersOf(`subject=${subject}`)).owners).toEqual(['acme']);
    expect((await ownersOf('since=2030-01-01T00:05:00Z')).owners).toEqual(['zeta', 'acme']);
    expect((await ownersOf('since=9999999999999999')).owners).toEqual([]);
  });

  it('are never sent over plain HTTP to another machine, or to a proxy without HTTPS', async () => {
    const { api } = await opened({ host: '0.0.0.0', trust_proxy: ['127.0.0.1'] });
    const { headers } = await userOf(api, 'tws-sensitive');
    const of = { subject: person, values: { iban } };
    const refused = await api.ask('POST', '/sensitive', { body: of, headers });
    expect(refused).toMatchObject({ status: 403, body: { error: 'sensitive_in_clear' } });
    const plain = { ...headers, 'x-forwarded-proto': 'https, http', 'x-forwarded-for': '1.2.3.4' };
    expect((await api.ask('GET', '/sensitive', { headers: plain })).status).toBe(403);
    const secure = { ...plain, 'x-forwarded-proto': 'https' };
    const stored = await api.ask('POST', '/sensitive', { body: of, headers: secure });
    expect(stored.status).toBe(200);
    // Whoever is no proxy of ours may say what they like.
    const own = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    if (own === undefined) return;
    expect(await statusFrom(own, api.url, secure)).toBe(403);
  });
});

/** The status of `GET /sensitive` for who asks from an address of this machine that is not loopback. */
function statusFrom(
  address: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      { host: address, localAddress: address, port, path: '/_tws/sensitive', headers },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    asked.once('error', reject);
    asked.end();
  });
}
