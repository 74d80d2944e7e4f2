import { createCipheriv, scryptSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { showConfig } from '../../src/cli/commands/config.js';
import { createClient } from '../../src/client.js';
import type { Command } from '../../src/cli/command.js';
import { doctor } from '../../src/cli/commands/doctor.js';
import { init } from '../../src/cli/commands/init.js';
import { sensitive as sensitiveCommand } from '../../src/cli/commands/sensitive.js';
import { submit } from '../../src/cli/commands/submit.js';
import { decrypt, encrypt as encryptCommand } from '../../src/cli/commands/encrypt.js';
import { push } from '../../src/cli/commands/push.js';
import { secret as secretCommand } from '../../src/cli/commands/secret.js';
import { validate } from '../../src/cli/commands/validate.js';
import { makeUser } from '../http/server.js';
import { request } from '../support/couch.js';
import { encryptVersion1 as encrypt } from '../support/version1.js';
import { openProject } from './database.js';
import { tws as start } from './executable.js';
import { flow, project, run, task, type RunOptions } from './terminal.js';

const key = 'the key of this project';
const secret = encrypt('correct horse', key);
const echo = {
  'plugins/login.mjs': `export default ({ params }) => params.auth.pass.length;`,
};
const login = task('login', { plugin: 'login', params: { auth: { pass: secret } } });

/** A value of an earlier project: scrypt over the salt, AES-192-CBC with a vector of zeros. */
function older(clear: string): string {
  const salt = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
  const cipher = createCipheriv('aes-192-cbc', scryptSync(key, salt, 24), Buffer.alloc(16));
  const body = Buffer.concat([cipher.update(clear), cipher.final()]);
  return `${salt.toString('hex')}:${body.toString('hex')}`;
}

const times = (text: string, wanted: RegExp): number => text.match(wanted)?.length ?? 0;

describe('tws dev with an encrypted value and no key', () => {
  it('runs, warns once of the document, and only the steps that need it fail', async () => {
    const cwd = await project({
      ...echo,
      'couch/tws/tasks/login.json': login,
      'couch/tws/tasks/plain.json': task('plain'),
      'couch/tws/flows/login.json': flow('login', ['login']),
      'couch/tws/flows/plain.json': flow('plain', ['plain']),
      'couch/tws/jobs/login.json': { type: 'job', flow: 'login' },
      'couch/tws/jobs/plain.json': { type: 'job', flow: 'plain' },
    });
    const dev = start(['dev', '--port', '0'], { cwd });
    await dev.prints(/Ctrl-C ends all/);
    const plain = start(['submit', 'plain', '--wait'], { cwd });
    expect(await plain.ended).toBe(0);
    const failed = start(['submit', 'login', '--wait'], { cwd });
    expect(await failed.ended).toBe(3);
    expect(failed.err()).toMatch(
      /params\.auth\.pass of task "login" \(owner DEFAULT\) is encrypted, but TWS_CRYPTO_KEY is not set in the environment of `tws start` or `tws dev`/,
    );
    const warning = /There are encrypted values in task:DEFAULT:login \(params\.auth\.pass\)/g;
    expect(times(dev.err(), warning)).toBe(1);
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });
});

describe('tws start', () => {
  // Shows M-01.
  it('refuses without the key of tasks and flows, and names them', async () => {
    const { root, env, put } = await openProject(echo);
    await put({ ...login, _id: 'task:login' }, { ...login, name: 'two', _id: 'task:two' });
    const engine = start(['start'], { cwd: root, env });
    expect(await engine.ended).toBe(78);
    expect(engine.err()).toContain('task:login, task:two');
    expect(engine.err()).toContain('Set TWS_CRYPTO_KEY in the environment of this command');
  });

  it('notices a wrong key at once, and starts all the same', async () => {
    const { root, env, put } = await openProject(echo);
    await put({ ...login, _id: 'task:login' });
    const engine = start(['start'], { cwd: root, env: { ...env, TWS_CRYPTO_KEY: 'another' } });
    await engine.prints(/follows/);
    expect(engine.err()).toContain(
      'TWS_CRYPTO_KEY does not open the encrypted values in task:login (params.auth.pass)',
    );
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
  });

  it('lets running steps end within the drain of tws.json', async () => {
    const { root, env, put, until } = await openProject({
      'tws.json': { drain: 300 },
      'plugins/slow.mjs': `export default ({ signal }) => new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });`,
    });
    await put(
      { _id: 't', ...task('slow', { plugin: 'slow', timeout: 0 }) },
      { _id: 'f', ...flow('f', ['slow']) },
    );
    const engine = start(['start'], { cwd: root, env });
    await engine.prints(/follows/);
    await put({ _id: 'j', type: 'job', flow: 'f' });
    await until('j', ({ state }) => state === 'slow-0');
    const began = performance.now();
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});

describe('a plugin that is loaded to check parameters', () => {
  it('sees no credentials in the environment', async () => {
    const { root, env } = await openProject({
      'plugins/spy.mjs': `import { writeFileSync } from 'node:fs';
        writeFileSync(new URL('../seen.json', import.meta.url), JSON.stringify(process.env));
        export default () => 1;`,
      'spy.json': task('spy', { plugin: 'spy' }),
    });
    for (const args of [
      ['push', 'spy.json'],
      ['validate', 'spy.json'],
      ['list', '--plugins'],
      ['doctor'],
    ]) {
      const called = start(args, { cwd: root, env: { ...env, TWS_CRYPTO_KEY: key } });
      expect(await called.ended, called.err()).toBe(0);
      const seen = await readFile(join(root, 'seen.json'), 'utf8');
      expect(seen).toContain('COUCH_DATABASE');
      expect(seen).not.toMatch(/COUCH_PASS|COUCH_URL|TWS_CRYPTO_KEY/);
    }
  });
});

describe('values of an earlier project', () => {
  const settings = { secrets: { older: { cipher: 'aes-192-cbc', kdf: 'scrypt' } } };
  const env = { TWS_CRYPTO_KEY: key };

  it('are read by tws decrypt when tws.json says how', async () => {
    const input = `${older('hunter2')}\n`;
    const told = await run(decrypt, { cwd: await project({ 'tws.json': settings }), env, input });
    expect(told.out).toBe('hunter2');
    const untold = await run(decrypt, { cwd: await project(), env, input });
    expect(untold).toMatchObject({ exit: 78, error: { code: 'secret_older' } });
    const wrong = { secrets: { older: { cipher: 'aes-256-cbc', kdf: 'scrypt' } } };
    const cwd = await project({ 'tws.json': wrong });
    const refused = await run(decrypt, { cwd, env, input });
    expect(refused.error?.code).toBe('secret_older_unreadable');
  });

  it('reach the plugin in clear', async () => {
    const opened = await openProject({
      ...echo,
      'tws.json': settings,
    });
    const params = { auth: { pass: older('hunter2') } };
    await opened.put(
      { _id: 't', ...task('login', { plugin: 'login', params }) },
      { _id: 'f', ...flow('f', ['login']) },
    );
    const engine = start(['start'], { cwd: opened.root, env: { ...opened.env, ...env } });
    await engine.prints(/follows/);
    await opened.put({ _id: 'j', type: 'job', flow: 'f' });
    expect(await opened.ended('j')).toMatchObject({ exit: 0, steps: [{ result: 7 }] });
    expect(JSON.stringify(await opened.store.get('j'))).not.toContain('hunter2');
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
  });

  it('are shown by tws config', async () => {
    const cwd = await project({ 'tws.json': { ...settings, drain: 7 } });
    const { out } = await run(showConfig, { cwd, env });
    expect(out).toContain('secrets.older: {"cipher":"aes-192-cbc","kdf":"scrypt"} (tws.json)');
    expect(out).toContain('drain: 7 (tws.json)');
    expect(out).not.toContain(key);
  });

  it('are told by tws doctor when nothing says how they are read', async () => {
    const { tws, put } = await openProject();
    await put({ _id: 't', ...task('a', { params: { pass: older('x') } }) });
    const found = await tws(doctor);
    expect(found.out).toMatch(
      /^fail {2}TWS_CRYPTO_KEY: .*format of an earlier project.* t \(params\.pass\)/m,
    );
  });
});

describe('tws secret', () => {
  const pass = { $secret: 'mail.pass' };

  it('stores, lists, replaces, re-encrypts and removes a value that definitions name', async () => {
    const { tws, put, store, env: own } = await openProject();
    const env = { ...own, TWS_CRYPTO_KEY: key };
    const secret = (...args: string[]) =>
      tws(secretCommand, { env, args, input: 'hunter2\n', flags: { confirm: false } });
    await put({ _id: 'task:login', ...task('login', { params: { auth: { pass } } }) });
    const told = await tws(doctor, { env });
    expect(told.out).toMatch(/^fail {2}named secrets: The secret "mail\.pass" of owner DEFAULT/m);
    expect(await secret('set', 'mail', 'pass')).toMatchObject({
      exit: 0,
      out: 'stored: mail.pass of owner DEFAULT (secret:DEFAULT:mail)',
    });
    expect((await secret('set', 'mail', 'pass')).out).toMatch(/^replaced/);
    await secret('set', 'mail');
    expect((await secret('list')).out).toMatch(/^mail +DEFAULT +-, pass +task:login$/);
    const stored = await store.get('secret:DEFAULT:mail');
    expect(JSON.stringify(stored)).not.toContain('hunter2');
    expect((await tws(doctor, { env })).out).not.toMatch(/named secrets/);
    const wrong = await tws(doctor, { env: { ...own, TWS_CRYPTO_KEY: 'another' } });
    expect(wrong.out).toMatch(/TWS_CRYPTO_KEY does not open .* secret:DEFAULT:mail/);
    const both = { ...own, TWS_CRYPTO_KEY: JSON.stringify(['new key', key]) };
    const rotated = await tws(secretCommand, { env: both, args: ['rotate'] });
    expect(rotated.out).toBe('rewritten: 1 document; 0 as they should be');
    const now = await tws(encryptCommand, { env: both, flags: { rotate: true } });
    expect(now.out).toBe('rewritten: 0 documents; 1 as they should be');
    const { out, err } = await secret('remove', 'mail', 'pass');
    expect(out).toBe('removed: mail.pass of owner DEFAULT');
    expect(err).toContain('warning: attempts of task:login fail where they need it');
    expect((await secret('remove', 'mail')).exit).toBe(0);
    expect((await secret('remove', 'mail')).error?.code).toBe('secret_absent');
    expect(await store.get('secret:DEFAULT:mail')).toBeUndefined();
  });

  it('takes no value as an argument, no bad name, and no value without a key', async () => {
    const { tws, env: own } = await openProject();
    const env = { ...own, TWS_CRYPTO_KEY: key };
    const call = (args: string[], input = 'x') => tws(secretCommand, { args, env, input });
    const reason = async (...args: string[]) => (await call(args)).error?.message;
    expect(await reason('set', 'mail', 'pass', 'hunter2')).toMatch(/asked for, or read from stdin/);
    expect(await reason('set', 'a.b')).toMatch(/no name of a secret/);
    expect(await reason('list', 'a')).toMatch(/takes no names/);
    expect(await reason('put')).toMatch(/one of set, list, remove, rotate/);
    expect((await call(['set', 'mail'], '')).error?.code).toBe('usage');
    expect((await call(['rotate', 'none'])).error?.code).toBe('secret_absent');
    expect((await call(['remove', 'none'])).error?.code).toBe('confirmation_needed');
    const keyless = await tws(secretCommand, { args: ['set', 'mail'], input: 'x' });
    expect(keyless.error?.code).toBe('crypto_key_missing');
  });
});

describe('tws sensitive', () => {
  const iban = 'DE02120300000000202051';

  it('keeps values apart from jobs, gives them with a record, and purges them', async () => {
    const opened = await openProject({
      'plugins/pay.mjs': `export default ({ params }) => 'paid to ' + params.iban;`,
      'order.json': {
        ...{ type: 'job', flow: 'pay' },
        sensitive: { subject: 'maria', values: { iban } },
      },
    });
    const { put, ended, store } = opened;
    const env = { ...opened.env, TWS_CRYPTO_KEY: key };
    const tws = (command: Command, more: Partial<RunOptions> = {}) =>
      opened.tws(command, { env, mode: 'json', ...more });
    const call = (args: string[], flags: object = {}, more: Partial<RunOptions> = {}) =>
      tws(sensitiveCommand, { args, flags: { confirm: false, ...flags }, ...more });
    const missing = await call(['list']);
    expect(missing.error?.message).toMatch(/are not set up: there is no database ".*_sensitive"/);
    const made = await opened.tws(init, { env, flags: { sensitive: true } });
    expect(made.out).toMatch(/inserting: database .*_sensitive\n.*_subject_keys/);
    expect((await call(['put', 'maria', 'iban'], {}, { input: `${iban}\n` })).exit).toBe(0);
    const { json: found } = await call(['reference', 'maria']);
    const { subject } = found as { subject: string };
    expect(subject).toMatch(/^s-[\w-]{43}$/);
    const params = { iban: { $sensitive: 'iban' } };
    await put(
      { _id: 't', ...task('pay', { plugin: 'pay', params, sensitive: ['iban'] }) },
      { _id: 'f', ...flow('pay', ['pay']) },
    );
    const engine = start(['start'], { cwd: opened.root, env });
    await engine.prints(/follows/);
    const { json: submitted } = await tws(submit, { args: ['order.json'] });
    const { id } = submitted as { id: string };
    expect(await ended(id)).toMatchObject({ exit: 0, steps: [{ result: 'paid to [secret]' }] });
    expect(await store.get(id)).toMatchObject({ subject });
    expect(JSON.stringify(await store.range(''))).not.toMatch(/maria|DE0212/);
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
    expect(engine.err() + engine.out()).not.toMatch(/maria|DE0212/);

    const checked = await opened.tws(doctor, { env });
    expect(checked.out).toMatch(/^ok {4}sensitive values: They are set up, for 1 subject/m);
    const got = await call(['get', subject, 'iban'], { why: 'ticket 71' });
    expect(got.json).toEqual({ iban });
    expect((await call(['get', 'maria', 'phone'])).error?.code).toBe('sensitive_absent');
    const both = { ...env, TWS_CRYPTO_KEY: JSON.stringify(['new key', key]) };
    const rotated = await opened.tws(encryptCommand, { env: both, flags: { rotate: true } });
    expect(rotated.out).toContain('re-encrypted: 2 keys of sensitive values');
    const lost = { ...env, TWS_CRYPTO_KEY: JSON.stringify(['newest', key]) };
    const left = await opened.tws(encryptCommand, { env: lost, flags: { rotate: true } });
    expect(left.error?.message).toBe('The encrypted values of 2 documents were left as they are.');
    expect(left.err).toContain(`${subject}: key of subject-key "${subject}"`);
    expect(left.out).toMatch(/^rewritten: /m);
    const later = { ...env, TWS_CRYPTO_KEY: 'new key' };
    expect((await call(['get', 'maria', 'iban'], {}, { env: later })).json).toEqual({ iban });
    const old = await call(['purge'], { olderThan: '1d' }, { env: later });
    expect(old.json).toEqual({ purged: [] });
    const purged = await call(['purge'], { subject: 'maria' }, { env: later });
    expect(purged.json).toEqual({ purged: [{ owner: 'DEFAULT', subject }] });
    const gone = await call(['get', 'maria', 'iban'], {}, { env: later });
    expect(gone.error?.code).toBe('sensitive_absent');
    // A reference does not tell whose it is: no key is made for another owner.
    const other = { env: later, input: `${iban}\n` };
    const wrong = await call(['put', subject, 'iban'], { owner: 'other' }, other);
    expect(wrong.error?.code).toBe('sensitive_reference_unknown');
    const { json: log } = await call(['log'], {}, { env: later });
    expect(log).toMatchObject([
      { how: 'put', names: ['iban'], subject },
      { how: 'put', names: ['iban'], subject },
      { how: 'get', names: ['iban'], why: 'ticket 71', subject },
      { how: 'get', names: ['phone'] },
      { how: 'get' },
      { how: 'purge', subject },
      { how: 'get' },
    ]);
  });

  it('leaves the keys that are closed to its user as they are, and rotates all else', async () => {
    const opened = await openProject();
    const env = { ...opened.env, TWS_CRYPTO_KEY: key };
    await opened.tws(init, { env, flags: { sensitive: true } });
    await opened.tws(secretCommand, { env, args: ['set', 'mail', 'pass'], input: 'hunter2\n' });
    const members = { names: [], roles: ['tws-engine'] };
    const { database } = opened.store.connection;
    await request('PUT', `/${database}/_security`, { body: { members, admins: members } });
    const { name, password } = await makeUser('tws-engine');
    const user = { COUCH_USER: name, COUCH_PASS: password };
    const both = { ...env, ...user, TWS_CRYPTO_KEY: JSON.stringify(['new key', key]) };
    const rotated = await opened.tws(encryptCommand, { env: both, flags: { rotate: true } });
    expect(rotated.out).toBe('rewritten: 1 document; 0 as they should be');
    expect(rotated.err).toContain('The keys of sensitive values were left as they are: CouchDB');
    expect(rotated.error?.code).toBe('sensitive_closed');
  });

  it('refuses what cannot be hidden, and a job that holds values itself', async () => {
    const opened = await openProject({
      'bad.json': { type: 'job', flow: 'f', sensitive: { subject: 'maria' } },
    });
    const env = { ...opened.env, TWS_CRYPTO_KEY: key };
    await opened.tws(init, { env, flags: { sensitive: true } });
    const call = (args: string[], flags: Readonly<Record<string, unknown>> = {}, input = 'xyz') =>
      opened.tws(sensitiveCommand, { env, args, flags, input });
    expect((await call(['put', 'maria', 'cvc'])).error?.message).toMatch(/4 to 16384 characters/);
    expect((await call(['put', 'maria'])).error?.message).toMatch(/takes a subject and the name/);
    expect((await call(['get', 'maria', 'a b'])).error?.message).toMatch(/no name of a value/);
    expect((await call(['purge'])).error?.message).toMatch(/takes --subject or --older-than/);
    const age = await call(['purge'], { olderThan: 'soon' });
    expect(age.error?.message).toMatch(/must be an age or a date/);
    const bad = await opened.tws(submit, { env, args: ['bad.json'] });
    expect(bad.error?.code).toBe('sensitive_invalid');
    const client = createClient(opened);
    const job = { type: 'job', flow: 'f', sensitive: { subject: 'x', values: { iban } } } as const;
    await expect(client.submit(job)).rejects.toThrow(/must not hold "sensitive" values/);
  });
});

describe('a password in clear', () => {
  const clear = task('a', { params: { db: { password: 'hunter2' }, token: 'hunter3' } });

  it('is a warning with its path at push and validate, wherever it stands', async () => {
    const { tws } = await openProject({ 'a.json': clear });
    for (const command of [push, validate]) {
      const { exit, err } = await tws(command, { args: ['a.json'] });
      expect(exit).toBe(0);
      expect(err).toContain('warning: a.json: params.db.password: ');
      expect(err).toContain('warning: a.json: params.token: ');
      expect(err).not.toMatch(/hunter/);
    }
  });

  it('is a warning of tws doctor, but for the samples', async () => {
    const { tws, put } = await openProject();
    await tws(push, { args: ['~tws/tasks'] });
    expect((await tws(doctor)).out).not.toMatch(/clear secret/);
    await put({ ...clear, _id: 'task:a' });
    const { exit, out } = await tws(doctor);
    expect(exit).toBe(0);
    expect(out).toMatch(/^warn {2}secrets: .*task:a \(params\.db\.password, params\.token\)/m);
    expect(out).not.toMatch(/hunter/);
  });
});
