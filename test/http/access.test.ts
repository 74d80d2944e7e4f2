import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../support/certificate.js';
import { openWorkspace } from '../support/workspace.js';
import { flow, task } from '../cli/terminal.js';
import { openApi, makeUser, type Reply, type TestApi } from './server.js';

const always = { sign_in: 'always' } as const;
describe('roles', () => {
  it('come from users of CouchDB and from tokens; its admins are admins', async () => {
    const api = await openApi({ settings: always });
    const { admin } = await import('../support/couch.js');
    const { user: name, password } = admin();
    const signedIn = await api.ask('POST', '/session', { body: { name, password } });
    expect(signedIn.body).toMatchObject({ name, level: 'admin', owners: 'all', kind: 'user' });
    const token = await api.tokenOf('tws-operator', 'tws-owner:acme', 'other');
    expect((await api.ask('GET', '/session', { token })).body).toMatchObject({
      kind: 'token',
      level: 'operator',
      owners: ['acme'],
    });
  });
});

describe('owners', () => {
  /** A job of each of three owners, and their flows and tasks. */
  async function tenants() {
    const api = await openApi({ settings: always });
    for (const owner of ['DEFAULT', 'acme', 'zeta']) {
      await api.put(
        { ...task('t', { owner }), _id: `t-${owner}` },
        { ...flow('f', ['t'], { owner }), _id: `f-${owner}` },
        { _id: `j-${owner}`, type: 'job', flow: 'f', owner },
      );
    }
    return {
      ...api,
      acme: await api.tokenOf('tws-operator', 'tws-owner:acme'),
      nobody: await api.tokenOf('tws-operator'),
      boss: await api.tokenOf('tws-admin', 'tws-owner:acme'),
      two: await api.tokenOf('tws-viewer', 'tws-owner:acme', 'tws-owner:zeta'),
      all: await api.tokenOf('tws-operator', 'tws-owner:*'),
    };
  }
  const idsOf = ({ body }: Reply, list: string): readonly unknown[] =>
    (body[list] as readonly { readonly id: string }[]).map(({ id }) => id).sort();

  it('limit every list', async () => {
    const { ask, acme, nobody, boss, two, all } = await tenants();
    const lists = { jobs: 'j', flows: 'f', tasks: 't' };
    for (const [list, prefix] of Object.entries(lists)) {
      const seen = async (token: string) => idsOf(await ask('GET', `/${list}`, { token }), list);
      expect(await seen(acme)).toEqual([`${prefix}-acme`]);
      expect(await seen(boss)).toEqual([`${prefix}-acme`]);
      expect(await seen(nobody)).toEqual([`${prefix}-DEFAULT`]);
      expect(await seen(two)).toEqual([`${prefix}-acme`, `${prefix}-zeta`]);
      expect(await seen(all)).toHaveLength(3);
      const other = await ask('GET', `/${list}?owner=zeta`, { token: acme });
      expect(other).toMatchObject({ status: 403, body: { error: 'owner_refused' } });
    }
    const { body } = await ask('GET', '/stats', { token: acme });
    expect(body).toMatchObject({ jobs: { queued: 1 } });
    expect((await ask('GET', '/stats', { token: all })).body).toMatchObject({
      jobs: { queued: 3 },
    });
    const flowOnly = await ask('GET', '/jobs?flow=f', { token: acme });
    expect(idsOf(flowOnly, 'jobs')).toEqual(['j-acme']);
  });

  // Shows X-48.
  it('make what belongs to others as absent as what is not there', async () => {
    const { ask, acme, client } = await tenants();
    const paths = ['', '/history', '/explain', '/info'].map((rest) => `/jobs/j-zeta${rest}`);
    for (const path of paths) {
      const answer = await ask('GET', path, { token: acme });
      const missing = await ask('GET', path.replace('j-zeta', 'nix'), { token: acme });
      expect(answer.status).toBe(404);
      expect(answer.text.replaceAll('j-zeta', 'nix')).toBe(missing.text);
    }
    for (const word of ['cancel', 'pause', 'resume', 'retry', 'signal', 'notes', 'info', 'skip']) {
      const body = { signal: { name: 'x' }, notes: { text: 'x' }, info: { message: 'x' } };
      const given = { ...body, skip: { step: 'x' } }[word as 'skip'] as object | undefined;
      const { status } = await ask('POST', `/jobs/j-zeta/${word}`, {
        token: acme,
        body: given ?? {},
      });
      expect([word, status]).toEqual([word, 404]);
    }
    const bulk = await ask('POST', '/jobs/cancel', {
      token: acme,
      body: { ids: ['j-zeta', 'nix'] },
    });
    expect(bulk.body).toMatchObject({ applied: 0, stored: 0, refused: 0, results: [] });
    const filtered = await ask('POST', '/jobs/cancel', { token: acme, body: {} });
    expect(filtered.body).toMatchObject({ results: [{ id: 'j-acme' }] });
    expect(await client.get('j-zeta')).not.toHaveProperty('cancel');
    for (const path of ['/flows/f-zeta', '/flows/f::zeta', '/tasks/t-zeta']) {
      expect((await ask('GET', path, { token: acme })).status).toBe(404);
    }
  });

  it('make a job without an owner one of the only owner of who submits it', async () => {
    const { ask, acme, all, tokenOf, client } = await tenants();
    const submit = (token: string, body: object) => ask('POST', '/jobs', { token, body });
    const one = await submit(acme, { _id: 'one', flow: 'f' });
    expect(one).toMatchObject({ status: 201 });
    expect(await client.get('one')).toMatchObject({ owner: 'acme' });
    const many = await submit(acme, [{ _id: 'two', flow: 'f' }]);
    expect(many.body).toMatchObject({ refused: 0 });
    expect(await client.get('two')).toMatchObject({ owner: 'acme' });
    const checked = await ask('POST', '/jobs/check', { token: acme, body: { flow: 'f' } });
    expect(checked.body).toMatchObject({ ok: true, warnings: [] });
    // A job that a signal is to start is stored as it was sent, so it has to name its owner.
    const both = await tokenOf('tws-operator', 'tws-owner:acme', 'tws-owner:zeta');
    const refused = { status: 403, body: { error: 'owner_refused' } };
    expect(await submit(both, { flow: 'f' })).toMatchObject(refused);
    const start = { name: 'x', start: { flow: 'f' } };
    const signal = await ask('POST', '/jobs/j-acme/signal', { token: acme, body: start });
    expect(signal).toMatchObject(refused);
    await submit(all, { _id: 'three', flow: 'f' });
    expect((await client.get('three'))?.['owner']).toBeUndefined();
  });

  it('limit what can be submitted, stored and announced', async () => {
    const { ask, acme, nobody, boss, all } = await tenants();
    const submit = (token: string, body: object) => ask('POST', '/jobs', { token, body });
    expect((await submit(acme, { flow: 'f', owner: 'acme' })).status).toBe(201);
    expect((await submit(nobody, { flow: 'f' })).status).toBe(201);
    const refused = { status: 403, body: { error: 'owner_refused' } };
    for (const owner of ['DEFAULT', 'zeta']) {
      expect(await submit(acme, { flow: 'f', owner })).toMatchObject(refused);
    }
    expect((await submit(acme, { flow: 'f', owner: null })).status).toBe(422);
    // Under the id of somebody else's job nothing is told of it, not even that it is one.
    for (const _id of ['j-zeta', 'f-zeta']) {
      const taken = await submit(acme, { _id, flow: 'f', owner: 'acme' });
      expect(taken).toMatchObject({ status: 409, body: { error: 'document_conflict' } });
      const { body: report } = await ask('POST', '/jobs', {
        token: acme,
        body: [{ _id, flow: 'f', owner: 'acme' }],
      });
      expect(report).toMatchObject({ refused: 1, results: [{ status: 409 }] });
    }
    const child = await submit(acme, { _id: 'j-zeta:0:1', flow: 'f', owner: 'acme' });
    expect(child).toMatchObject({ status: 422, body: { path: '_id' } });
    const starts = (id: string, owner: string) =>
      ask('POST', `/jobs/${id}/signal`, {
        token: acme,
        body: { name: 'go', start: { flow: 'f', owner } },
      });
    expect((await starts('new', 'acme')).status).toBe(202);
    // Also a job that is there: it may be gone when an engine looks for it.
    expect((await starts('new', 'zeta')).status).toBe(403);
    expect((await starts('j-acme', 'zeta')).status).toBe(403);
    expect((await starts('j-zeta', 'acme')).status).toBe(409);

    const put = (path: string, body: object) => ask('PUT', path, { token: boss, body });
    const own = task('new', { owner: 'acme' });
    expect((await put('/tasks/new', own)).status).toBe(201);
    expect((await put('/tasks/new', task('new', { owner: 'zeta' }))).status).toBe(403);
    expect((await put('/flows/f', flow('f', ['t']))).status).toBe(403);
    const foreign = { ...own, name: 'n', _id: 't-zeta' };
    expect((await put('/tasks/n', foreign)).status).toBe(422);
    const squat = { ...own, name: 'n', _id: 'task:zeta:n' };
    expect(await put('/tasks/n', squat)).toMatchObject({ status: 422, body: { path: '_id' } });
    const announced = await ask('POST', '/events', { token: boss, body: { event: 'e' } });
    expect(announced).toMatchObject({ status: 403, body: { error: 'owners_needed' } });
    expect((await ask('POST', '/events', { token: all, body: { event: 'e' } })).status).toBe(201);
    for (const path of ['/metrics', '/_tws/metrics']) {
      expect((await ask('GET', path, { token: boss })).status).toBe(403);
    }
    const switched = await ask('POST', '/flows/f-zeta/disable', { token: acme });
    expect(switched.status).toBe(404);
    expect((await ask('POST', '/flows/f/disable', { token: acme })).body).toMatchObject({
      id: 'f-acme',
    });
  });
});

describe('sessions', () => {
  async function signedIn(...roles: readonly string[]) {
    const api = await openApi({ settings: always, keepMs: 50 });
    const user = await makeUser(...roles);
    const answer = await api.ask('POST', '/session', { body: user });
    const set = answer.headers.get('set-cookie') ?? '';
    const cookie = set.split(';')[0] ?? '';
    return { ...api, user, answer, set, cookie };
  }

  // Shows M-06.
  it('are cookies that no script reads and no other site sends', async () => {
    const { answer, set, user, ask, cookie } = await signedIn('tws-viewer', 'tws-owner:acme');
    expect(answer.body).toEqual({
      name: user.name,
      kind: 'user',
      level: 'viewer',
      owners: ['acme'],
      roles: ['tws-viewer', 'tws-owner:acme'],
      // Not where Fauxton shows all of it.
      place: {
        project: expect.any(String) as string,
        database: expect.any(String) as string,
        docs: expect.any(Boolean) as boolean,
      },
    });
    expect(set).toMatch(/^tws_session=[\w=.-]+; Path=\/_tws; HttpOnly; SameSite=Strict$/);
    expect((await ask('GET', '/jobs', { headers: { cookie } })).status).toBe(200);
    expect((await ask('GET', '/session', { headers: { cookie } })).body).toEqual(answer.body);
    const forged = cookie.replace(/.{3}$/, 'AAA');
    expect((await ask('GET', '/jobs', { headers: { cookie: forged } })).status).toBe(401);
  });

  it('need our header for whatever changes something', async () => {
    const { ask, cookie } = await signedIn('tws-operator');
    const body = { flow: 'f' };
    const bare = await ask('POST', '/jobs', { body, headers: { cookie } });
    expect(bare).toMatchObject({ status: 403, body: { error: 'csrf_header_missing' } });
    const headers = { cookie, 'x-tws-request': '1' };
    expect((await ask('POST', '/jobs', { body, headers })).status).toBe(201);
    for (const more of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const answer = await ask('POST', '/jobs', { body, headers: { ...headers, ...more } });
      expect(answer).toMatchObject({ status: 403, body: { error: 'origin_refused' } });
    }
  });

  it('end when somebody signs out', async () => {
    const { ask, cookie } = await signedIn('tws-viewer');
    const headers = { cookie, 'x-tws-request': '1' };
    const out = await ask('DELETE', '/session', { headers });
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await ask('GET', '/jobs', { headers })).status).toBe(401);
  });

  it('of a user who lost a role lose it here', async () => {
    const { ask, cookie, user } = await signedIn('tws-viewer');
    const { request } = await import('../support/couch.js');
    const path = `/_users/${encodeURIComponent(`org.couchdb.user:${user.name}`)}`;
    const { body: stored } = await request('GET', path);
    await request('PUT', path, { body: { ...stored, roles: [] } });
    await expect
      .poll(async () => (await ask('GET', '/jobs', { headers: { cookie } })).status)
      .toBe(403);
    expect((await ask('GET', '/session', { headers: { cookie } })).body).toMatchObject({
      level: 'none',
    });
  });

  it('are refused to wrong passwords, and soon to too many of them', async () => {
    const api = await openApi({ settings: always });
    const user = await makeUser('tws-admin');
    const body = { ...user, password: 'not-that-one' };
    const answer = await api.ask('POST', '/session', { body });
    expect(answer).toMatchObject({ status: 401, body: { error: 'sign_in_refused' } });
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.text).not.toContain('not-that-one');
    const statuses: number[] = [];
    for (let i = 0; i < 40 && !statuses.includes(429); i += 1) {
      statuses.push((await api.ask('POST', '/session', { body })).status);
    }
    // The database itself may lock the name first.
    expect(new Set(statuses)).toEqual(
      new Set([401, ...statuses.filter((one) => one === 403), 429]),
    );
    expect(api.lines.map(({ about }) => JSON.stringify(about)).join()).not.toContain(user.password);
  });
});

describe('credentials that nobody knows', () => {
  it('are looked up only so often from one address, and hold up nobody who is known', async () => {
    const looked: string[] = [];
    const api = await openApi();
    const { client } = api;
    const counting = {
      ...client,
      checkToken: (token: string) => {
        looked.push(token);
        return client.checkToken(token);
      },
    };
    const settings = { sign_in: 'always', rate: { per_second: 0.001, burst: 20 } } as const;
    const guarded = await openApi({ workspace: api, client: counting, settings, keepMs: 60_000 });
    const good = await api.tokenOf('tws-viewer');
    expect((await guarded.ask('GET', '/jobs', { token: good })).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 30; i += 1) {
      const token = `tws_000000000000_${String(i).padStart(43, '0')}`;
      statuses.push((await guarded.ask('GET', '/jobs', { token })).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(19);
    expect(statuses.filter((status) => status === 429)).toHaveLength(11);
    expect(looked).toHaveLength(20);
    expect((await guarded.ask('GET', '/jobs', { token: good })).status).toBe(200);
    expect((await guarded.ask('GET', '/ping', { token: 'tws_new' })).status).toBe(200);
    expect(looked).toHaveLength(20);
  });
});

describe('without sign-in', () => {
  it('this machine may do everything, and only this machine', async () => {
    const api = await openApi();
    expect((await api.ask('GET', '/session')).body).toMatchObject({
      kind: 'local',
      level: 'admin',
    });
    // A proxy on this machine brings requests from elsewhere.
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
      expect((await api.ask('GET', '/jobs', { headers: { [name]: '1.2.3.4' } })).status).toBe(401);
    }
    const rebound = await raw(api, { host: 'evil.example' });
    expect(rebound).toBe(403);
    expect(await raw(api, { host: 'localhost:1' })).toBe(200);
  });

  it('a token that is shown still counts', async () => {
    const api = await openApi();
    const token = await api.tokenOf('tws-viewer');
    expect((await api.ask('POST', '/jobs', { token, body: { flow: 'f' } })).status).toBe(403);
    expect((await api.ask('GET', '/jobs', { token: 'wrong' })).status).toBe(401);
  });

  it.each([
    ['is told where a proxy without HTTPS is in front', 'http://tws.example.com', true],
    ['is not told where a proxy has HTTPS', 'HTTPS://tws.example.com', false],
  ])('that passwords travel in clear %s', async (_what, public_url, isTold) => {
    const api = await openApi({ settings: { host: '0.0.0.0', public_url } });
    const told = api.lines.map(({ message }) => message).join();
    expect(told.includes('travel in clear')).toBe(isTold);
  });

  it('is no choice on an address that others can reach', async () => {
    const api = await openApi({ settings: { host: '0.0.0.0' } });
    const url = api.url.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${url}/_tws/jobs`)).status).toBe(401);
    expect((await fetch(`${url}/_tws/ping`)).status).toBe(200);
    expect(api.lines.map(({ message }) => message).join()).toContain('travel in clear');
    const { checks } = (await (await fetch(`${url}/_tws/health/ready`)).json()) as {
      checks: readonly { says: string }[];
    };
    expect(checks.every(({ says }) => says === '')).toBe(true);
  });
});

function raw({ url }: TestApi, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/_tws/jobs`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('every answer', () => {
  it('carries the headers that keep browsers from harm', async () => {
    const api = await openApi({ settings: always });
    for (const path of ['/ping', '/jobs', '/nix', '/docs', '/openapi.json']) {
      const { headers } = await api.ask('GET', path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('TLS', () => {
  it('is served with the certificate of the settings, and cookies stay on it', async () => {
    const workspace = await openWorkspace();
    const { cert, key } = makeCertificate();
    writeFileSync(join(workspace.folder, 'cert.pem'), cert);
    writeFileSync(join(workspace.folder, 'key.pem'), key);
    const tls = { cert: 'cert.pem', key: 'key.pem' };
    const api = await openApi({ workspace, settings: { ...always, tls } });
    expect(api.url).toMatch(/^https:/);
    const user = await makeUser('tws-viewer');
    const answer = await new Promise<{ status: number; headers: Record<string, unknown> }>(
      (resolve, reject) => {
        const sent = httpsRequest(
          `${api.url.replace('127.0.0.1', 'localhost')}/_tws/session`,
          {
            method: 'POST',
            ca: cert,
            headers: { 'content-type': 'application/json' },
            family: 4,
          },
          (reply) => {
            reply.resume();
            resolve({ status: reply.statusCode ?? 0, headers: reply.headers });
          },
        );
        sent.on('error', reject).end(JSON.stringify(user));
      },
    );
    expect(answer.status).toBe(200);
    expect(String(answer.headers['set-cookie'])).toContain('; Secure');
    expect(answer.headers['strict-transport-security']).toContain('max-age');
  });

  it('tells a certificate that cannot be read', async () => {
    const tls = { cert: 'nix.pem', key: 'nix.pem' };
    await expect(openApi({ settings: { tls } })).rejects.toMatchObject({
      code: 'setting_invalid',
      message: expect.stringContaining('http.tls.cert') as string,
    });
  });
});
