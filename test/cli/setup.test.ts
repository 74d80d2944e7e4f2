import { randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { showConfig } from '../../src/cli/commands/config.js';
import { doctor } from '../../src/cli/commands/doctor.js';
import { remove } from '../../src/cli/commands/remove.js';
import { decrypt, encrypt } from '../../src/cli/commands/encrypt.js';
import { init } from '../../src/cli/commands/init.js';
import { newThing } from '../../src/cli/commands/new.js';
import { push } from '../../src/cli/commands/push.js';
import { validate } from '../../src/cli/commands/validate.js';
import { encryptedIn } from '../../src/model/encrypted-values.js';
import { startCopiesProxy } from '../support/copies-proxy.js';
import { couchUrl, removeAfterwards, request, store } from '../support/couch.js';
import { encryptVersion1 } from '../support/version1.js';
import { connectAsUser } from '../store/users.js';
import { environment, openProject } from './database.js';
import { flow, project, run, task } from './terminal.js';

const cryptoKey = 'a key for tests';

describe('tws init', () => {
  // Shows L-01.
  it('creates what is missing, and the second time nothing', async () => {
    const database = `tws-test-${randomUUID()}`;
    removeAfterwards(database);
    const options = { cwd: await project(), env: environment(database) };
    const first = await run(init, options);
    expect(first.exit).toBe(0);
    expect(first.out).toContain(`inserting: database ${database}`);
    expect(first.out).toContain('inserting: _design/tws tasks');
    const second = await run(init, options);
    expect(second.out.split('\n')).toEqual([
      `skipping: database ${database} (exists)`,
      'skipping: _design/tws (already up to date)',
      'TWS initialized',
    ]);
    expect(`${first.out}${first.err}`).not.toContain(options.env['COUCH_PASS']);
  });

  it('leaves the guard out when asked, keeps that choice, and installs it again with --guard', async () => {
    const database = `tws-test-${randomUUID()}`;
    removeAfterwards(database);
    const options = { cwd: await project(), env: environment(database) };
    const leftOut = 'leaving out: _design/tws_guard (--guard of tws init installs it)';
    const without = await run(init, { ...options, flags: { guard: false } });
    expect(without.out).toContain(leftOut);
    expect(without.json).toMatchObject({ design: { guard: 'left_out' } });
    expect((await run(init, options)).out).toContain(leftOut);
    expect((await run(push, { ...options, flags: { design: true } })).out).toContain(leftOut);
    expect((await run(doctor, options)).out).toMatch(/^ok {4}_design\/tws_guard: left out/m);
    const again = await run(init, { ...options, flags: { guard: true } });
    expect(again.out).toContain('inserting: _design/tws_guard');
    expect((await run(doctor, options)).out).toMatch(/^ok {4}_design\/tws_guard: installed/m);
    const removed = await run(init, { ...options, flags: { guard: false } });
    expect(removed.out).toContain('removing: _design/tws_guard');
  });

  it('brings changed views up to date and keeps those of others', async () => {
    const { tws, store: opened } = await openProject();
    const { database } = opened.connection;
    const map = 'function (doc) { emit(doc._id, 1); }';
    const { body } = await request('GET', `/${database}/_design/tws`);
    const views = { ...(body['views'] as object), tasks: { map }, theirs: { map } };
    await store(database, { ...body, _id: '_design/tws', views });
    const { out } = await tws(init);
    expect(out).toContain('updating: _design/tws tasks');
    expect(out).not.toContain('inserting');
    const after = await request('GET', `/${database}/_design/tws`);
    expect(after.body['views']).toMatchObject({ theirs: { map } });
  });

  it('keeps one copy of each document on a cluster unless told otherwise, and says why', async () => {
    const proxy = await startCopiesProxy(couchUrl());
    const cwd = await project();
    const initOn = (database: string, flags = {}) => {
      removeAfterwards(database);
      const env = { ...environment(database), COUCH_URL: new URL(proxy.url).origin };
      return run(init, { cwd, env, flags });
    };
    const name = `tws-test-${randomUUID()}`;
    const one = await initOn(name);
    expect(proxy.paths).toContain(`PUT /${name}?n=1`);
    expect(one.err).toContain('one copy of each document on the 3 nodes of this cluster');
    const three = await initOn(`${name}-3`, { copies: '3' });
    expect(proxy.paths).toContain(`PUT /${name}-3?n=3`);
    expect(three.err).toContain('warning: the database keeps 3 copies of each document');
  });

  // Shows M-03.
  it('says which setting to change when the server refuses us', async () => {
    const { tws, env } = await openProject();
    const stranger = { ...env, COUCH_USER: `nobody-${randomUUID()}`, COUCH_PASS: 'x' };
    const refused = await tws(init, { env: stranger });
    expect(refused.exit).toBe(77);
    expect(refused.error?.hint).toContain('COUCH_USER');
    const away = await tws(init, { env: { ...env, COUCH_URL: 'http://127.0.0.1:2' } });
    expect(away.exit).toBe(69);
    expect(away.error?.message).toContain('connection refused');
    expect(away.error?.hint).toContain('COUCH_URL');
  });
});

describe('tws config', () => {
  it('shows every setting with its source, and no credentials', async () => {
    const env = { COUCH_URL: 'http://ann:s3kr1t@db', TWS_CRYPTO_KEY: cryptoKey };
    const { out, json } = await run(showConfig, { cwd: await project(), env });
    expect(out).toContain('url: http://db (COUCH_URL)');
    expect(out).toContain('password: *** (COUCH_URL)');
    expect(out).toContain('crypto_key: *** (TWS_CRYPTO_KEY)');
    expect(`${out}${JSON.stringify(json)}`).not.toMatch(/s3kr1t|a key for tests|ann/);
  });
});

describe('tws encrypt and decrypt', () => {
  // Shows M-01.
  it('take the value from stdin', async () => {
    const options = { cwd: await project(), env: { TWS_CRYPTO_KEY: cryptoKey } };
    const flags = { for: 'task:mail', field: 'params.list[0].pass' };
    const { out } = await run(encrypt, { ...options, flags, input: 'hunter2\n' });
    expect(out).toMatch(/^tws:v2:/);
    const input = `${out}\n`;
    expect((await run(decrypt, { ...options, flags, input })).out).toBe('hunter2');
    const other = { ...options, flags, env: { TWS_CRYPTO_KEY: 'another' }, input };
    expect((await run(decrypt, other)).error?.code).toBe('secret_other_key');
    for (const elsewhere of [
      { ...flags, for: 'task:jsonata' },
      { ...flags, field: 'params.x' },
    ]) {
      const moved = await run(decrypt, { ...options, flags: elsewhere, input });
      expect(moved.error?.code).toBe('secret_bound');
    }
    expect((await run(decrypt, { ...options, input })).error?.code).toBe('usage');
  });

  it('need the key and a value', async () => {
    const cwd = await project();
    expect((await run(encrypt, { cwd, input: 'x' })).error?.code).toBe('crypto_key_missing');
    const env = { TWS_CRYPTO_KEY: cryptoKey };
    const flags = { for: 'task:a', field: 'params.x' };
    expect((await run(encrypt, { cwd, env, flags })).error?.code).toBe('usage');
    for (const wrong of [
      {},
      { for: 'task:a' },
      { for: 'job:a', field: 'x' },
      { rotate: true, field: 'x' },
    ]) {
      const { error } = await run(encrypt, { cwd, env, flags: wrong, input: 'x' });
      expect(error?.code).toBe('usage');
    }
  });
});

describe('tws encrypt', () => {
  it('prints the value with --quiet, too', async () => {
    const env = { TWS_CRYPTO_KEY: cryptoKey };
    const flags = { for: 'flow:f', field: 'params.a' };
    const { out } = await run(encrypt, { cwd: '/', env, flags, input: 'x', mode: 'quiet' });
    expect(out).toMatch(/^tws:v2:/);
  });

  it('encrypts a field in its file, and writes an encrypted one anew', async () => {
    const doc = { ...task('mail', { plugin: 'mail' }), params: { list: [{ pass: 'clear' }] } };
    const cwd = await project({ 'mail.json': doc });
    const env = { TWS_CRYPTO_KEY: cryptoKey };
    const flags = { for: 'task:mail', field: 'params.list.0.pass' };
    const read = async () =>
      JSON.parse(await readFile(join(cwd, 'mail.json'), 'utf8')) as typeof doc;
    const args = ['mail.json', 'params.list[0].pass'];
    const seen: string[] = [];
    while (seen.length < 2) {
      expect((await run(encrypt, { cwd, env, args })).exit).toBe(0);
      const input = String((await read()).params.list[0]?.pass);
      expect((await run(decrypt, { cwd, env, flags, input })).out).toBe('clear');
      seen.push(input);
    }
    expect(seen[0]).not.toBe(seen[1]);
    expect(
      (await run(encrypt, { cwd, env, args: ['mail.json', 'params.new'], input: 'n' })).exit,
    ).toBe(0);
    for (const wrong of [['none.json', 'x'], ['mail.json', 'params.list'], ['mail.json']]) {
      expect((await run(encrypt, { cwd, env, args: wrong, input: 'x' })).error?.code).toBe('usage');
    }
  });

  it('rewrites older values and those of other keys, in the database and in files', async () => {
    const { tws, put, root, store, env: own } = await openProject();
    const old = (clear: string): string => encryptVersion1(clear, 'old');
    const doc = (name: string, pass: string) => ({ ...task(name), params: { auth: { pass } } });
    await put(
      { ...doc('a', old('one')), _id: 'a' },
      { ...flow('f', [{ task: 'a', params: { pass: old('two') } }]), _id: 'f' },
      { ...doc('wrong', encryptVersion1('x', 'unknown')), _id: 'wrong' },
    );
    const keys = (...list: readonly string[]) => ({ ...own, TWS_CRYPTO_KEY: JSON.stringify(list) });
    const first = await tws(encrypt, { flags: { upgrade: true }, env: keys('old') });
    expect(first.error?.code).toBe('secrets_left');
    expect(first.err).toContain('params.auth.pass of task "wrong"');
    const upgraded = JSON.stringify([await store.get('a'), await store.get('f')]);
    expect(upgraded).not.toContain('tws:v1:');
    const wrong = (await store.get('wrong')) as { _id: string };
    await store.write({ ...wrong, params: {} });
    const rotated = await tws(encrypt, { flags: { rotate: true }, env: keys('new', 'old') });
    expect(rotated).toMatchObject({ exit: 0 });
    expect(rotated.err).toContain('2 of 2: ');
    const again = await tws(encrypt, { flags: { rotate: true }, env: keys('new', 'old') });
    expect(again.out).toBe('rewritten: 0 documents; 2 as they should be');
    const [[field = '', input = ''] = []] = encryptedIn(await store.get('f'));
    const flags = { for: 'flow:f', field };
    expect((await tws(decrypt, { flags, env: keys('new'), input })).out).toBe('two');
    await writeFile(join(root, 'b.json'), JSON.stringify(doc('b', old('three'))));
    const inFile = await tws(encrypt, {
      flags: { upgrade: true },
      args: ['b.json'],
      env: keys('old'),
    });
    expect(inFile.out).toBe('rewritten: 1 document; 0 as they should be');
    expect(await readFile(join(root, 'b.json'), 'utf8')).toContain('tws:v2:');
  });
});

describe('tws doctor', () => {
  it('finds nothing wrong with a project that is ready', async () => {
    const { tws, engine } = await openProject();
    await engine();
    const { exit, out } = await tws(doctor);
    expect(out).not.toMatch(/^(warn|fail)/m);
    expect(out).toMatch(/^ok {4}engines: 1 running/m);
    expect(exit).toBe(0);
  });

  it('measures what the guard costs only when asked, and leaves no database behind', async () => {
    const { tws } = await openProject();
    const scratch = async () =>
      ((await request('GET', '/_all_dbs')).body as unknown as readonly string[]).filter((name) =>
        name.startsWith('tws-measure-'),
      );
    const plain = await tws(doctor);
    expect(plain.out).not.toContain('cost of the guard');
    const { exit, out, json } = await tws(doctor, { flags: { measure: true } });
    expect(exit).toBe(0);
    expect(out).toMatch(
      /^ok {4}cost of the guard: \d+ documents a second with it, \d+ without it \(/m,
    );
    const { guard } = json as { guard: { withGuard: number; withoutGuard: number } };
    expect(guard.withGuard).toBeGreaterThan(0);
    expect(guard.withoutGuard).toBeGreaterThan(0);
    expect(await scratch()).toEqual([]);
  });

  it('says that the cost of the guard is not measured for somebody who may create no database', async () => {
    const { tws, env, store } = await openProject();
    const { user, password } = await connectAsUser(store.connection.database);
    const { out } = await tws(doctor, {
      env: { ...env, COUCH_USER: String(user), COUCH_PASS: String(password) },
      flags: { measure: true },
    });
    expect(out).toMatch(/^warn {2}cost of the guard: It could not be measured: .*server admin/m);
  });

  it('lists encrypted values that are not bound to their place', async () => {
    const { tws, put, env } = await openProject();
    const pass = encryptVersion1('x', cryptoKey);
    await put({ ...task('s'), params: { auth: { pass } }, _id: 's' });
    const { out } = await tws(doctor, { env: { ...env, TWS_CRYPTO_KEY: cryptoKey } });
    expect(out).toMatch(/^warn {2}encrypted values: .*params\.auth\.pass of s/m);
    expect(out).toContain('tws encrypt --upgrade');
  });

  it('lists stored definitions that engines cannot use, and locks that nobody evaluates', async () => {
    const { tws, put } = await openProject();
    const tag = '- {{job._id}}';
    const half = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`t${i}`, tag]));
    await put(
      { ...task('many', { params: { x: tag.repeat(201) } }), _id: 'many' },
      { ...task('partial', { params: { x: '{{> y}}' } }), _id: 'partial' },
      { ...task('large', { x: Array(10_001).fill(0) }), _id: 'large' },
      { ...task('half', { params: { a: half } }), _id: 'half' },
      { ...flow('both', [{ task: 'half', params: { b: half } }]), _id: 'both' },
      {
        _id: 'heavy',
        type: 'job',
        flow: 'f',
        state: '$$paused',
        steps: [],
        locks: '(a{100}){100}',
      },
    );
    const { exit, out } = await tws(doctor);
    expect(exit).toBe(1);
    expect(out).toMatch(/^warn {2}document many: params: .*more than 200 tags/m);
    expect(out).toMatch(/^fail {2}document partial: params\.x .*partials/m);
    expect(out).toMatch(/^fail {2}document large: x has more than 10000 values/m);
    expect(out).toMatch(/^warn {2}document both: tasks\.sequence\[0\].*more than 200 tags/m);
    expect(out).toMatch(/^warn {2}locks: 1 job holds a lock .*\(heavy\)/m);
    expect(out).not.toContain('document half');
  });

  it('lists requests that no job could take, and how to remove them', async () => {
    const { tws, engine, put, until, store } = await openProject();
    await engine();
    const ids = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'];
    await put(...ids.map((_id) => ({ _id, type: 'request', job: 'none', action: 'cancel' })));
    for (const id of ids) await until(id, ({ refused }) => refused !== undefined);
    const { exit, out } = await tws(doctor);
    expect(exit).toBe(0);
    expect(out).toMatch(/^warn {2}refused: 6 requests and signals could not be applied/m);
    expect(out).toContain('r1 (There is no job none.); r2 (');
    expect(out).not.toContain('r6 (');
    const args = ids.slice(1);
    expect(await tws(remove, { args, flags: { confirm: false } })).toMatchObject({ exit: 0 });
    expect((await tws(doctor)).out).toMatch(/^warn {2}refused: 1 request or signal could not/m);
    await store.remove('r1', String((await store.get('r1'))?._rev));
    expect((await tws(doctor)).out).not.toContain('refused:');
  });

  it('tells a server that is away, a missing database and wrong settings', async () => {
    const { tws, env } = await openProject();
    const away = await tws(doctor, { env: { ...env, COUCH_URL: 'http://127.0.0.1:2' } });
    expect(away.exit).toBe(1);
    expect(away.out).toMatch(/^fail {2}server: .*\n +Start it, or set COUCH_URL/m);
    const missing = await tws(doctor, {
      env: { ...env, COUCH_DATABASE: `tws-test-${randomUUID()}` },
    });
    expect(missing.out).toMatch(/^fail {2}database: /m);
    const cwd = await project({ 'tws.json': { databse: 'x' } });
    expect((await run(doctor, { cwd })).out).toMatch(
      /^fail {2}settings: .*Did you mean "database"/m,
    );
  });

  it('tells broken plugins, a missing key, and jobs that wait for a plugin nobody has', async () => {
    const { tws, engine, put, until } = await openProject({
      'plugins/broken.mjs': 'export const a = ;',
    });
    const running = await engine();
    const env = { TWS_CRYPTO_KEY: cryptoKey };
    const flags = { for: 'task:s', field: 'params.auth.pass' };
    const { out: secret } = await run(encrypt, { cwd: '/', env, flags, input: 'x' });
    await put(
      { ...task('rare', { plugin: 'rare' }), _id: 't' },
      { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['rare'], _id: 'f' },
      { type: 'job', flow: 'f', _id: 'j' },
    );
    await until('j', ({ state }) => state !== undefined);
    await put({ ...task('s', { params: { auth: { pass: secret } } }), _id: 's' });
    const { exit, out } = await tws(doctor);
    expect(exit).toBe(1);
    expect(out).toMatch(/^fail {2}plugin broken: /m);
    expect(out).toMatch(/^fail {2}TWS_CRYPTO_KEY: /m);
    expect(out).toMatch(/^fail {2}plugin rare: No engine has it; 1 job needs it \(j\)/m);
    await running.stop();
    expect((await tws(doctor)).out).toMatch(/^warn {2}engines: 0 running/m);
  });
});

describe('tws new', () => {
  it('makes a project whose documents are valid and can be pushed', async () => {
    const { tws, root } = await openProject();
    const made = await tws(newThing, { args: ['project', 'shop'] });
    expect(made.exit).toBe(0);
    const cwd = join(root, 'shop');
    expect((await tws(validate, { cwd })).exit).toBe(0);
    expect((await tws(push, { cwd, flags: { map: true } })).exit).toBe(0);
    expect((await tws(newThing, { args: ['project', 'shop'] })).error?.code).toBe('exists_already');
    await stat(join(cwd, 'couch', 'schemas', 'task.json'));
  });

  it.each([
    ['task', 'couch/tws/tasks/x.json'],
    ['flow', 'couch/tws/flows/x.json'],
    ['job', 'couch/tws/jobs/x.json'],
    ['plugin', 'plugins/x.mjs'],
  ])('makes a %s that is valid', async (kind, path) => {
    const cwd = await project();
    expect(await run(newThing, { cwd, args: [kind, 'x'] })).toMatchObject({ exit: 0 });
    const text = await readFile(join(cwd, path), 'utf8');
    if (kind !== 'plugin') {
      const env = { COUCH_URL: 'http://127.0.0.1:2' };
      expect((await run(validate, { cwd, env, args: [path] })).exit).toBe(0);
    } else expect(text).toContain('export default');
  });

  it.each([
    ['tusk', 'x'],
    ['task', '../x'],
  ])('refuses %s %s', async (kind, name) => {
    const cwd = await project();
    expect((await run(newThing, { cwd, args: [kind, name] })).error?.code).toBe('usage');
  });
});
