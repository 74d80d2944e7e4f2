import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Flags } from '../../src/config/flags.js';
import { loadConfig, type Config } from '../../src/config/load.js';
import type { Environment } from '../../src/config/environment.js';
import { TwsError } from '../../src/errors.js';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'tws-config-')), 'orders');
  await mkdir(folder);
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

function load(env: Environment = {}, flags: Flags = {}, cwd = folder): Config {
  return loadConfig({ env, flags, cwd });
}

async function settings(content: unknown): Promise<void> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  await writeFile(join(folder, 'tws.json'), text);
}

async function runningDev(pid = process.pid): Promise<void> {
  await mkdir(join(folder, '.tws'), { recursive: true });
  const content = {
    url: 'http://127.0.0.1:7777',
    user: 'admin',
    password: 'dev-pass',
    database: 'dev_tasks',
    app: 'tws',
    pid,
  };
  await writeFile(join(folder, '.tws', 'embedded.json'), JSON.stringify(content));
}

function refusal(run: () => unknown): TwsError {
  try {
    run();
  } catch (error) {
    if (error instanceof TwsError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('defaults', () => {
  it('are a CouchDB of this machine and a database named after the folder', () => {
    const config = load();
    expect(config).toMatchObject({
      root: folder,
      url: 'http://127.0.0.1:5984',
      database: 'orders_tasks',
      app: 'tws',
      owner: 'DEFAULT',
      plugins: [join(folder, 'plugins')],
      labels: [],
      queues: ['default'],
      logLevel: 'info',
      embedded: { dir: join(folder, '.tws'), port: 5984, isPortChosen: false },
    });
    expect(config.origins).toMatchObject({ url: 'default', database: 'default', user: 'not set' });
    expect(config).not.toHaveProperty('user');
  });

  it('cannot be changed afterwards', () => {
    const config = load();
    expect(() => {
      (config as { database: string }).database = 'other';
    }).toThrow(TypeError);
    expect(Object.isFrozen(config.embedded)).toBe(true);
  });
});

describe('precedence', () => {
  // Shows M-02.
  it('is flag over environment over file', async () => {
    await settings({ database: 'file_db', url: 'http://file:1', owner: 'team', app: 'mine' });
    expect(load()).toMatchObject({ database: 'file_db', url: 'http://file:1', owner: 'team' });
    const env = { COUCH_DATABASE: 'env_db', COUCH_URL: 'http://env:2' };
    expect(load(env)).toMatchObject({ database: 'env_db', url: 'http://env:2', app: 'mine' });
    const config = load(env, { database: 'flag_db', url: 'http://flag:3', owner: 'me' });
    expect(config).toMatchObject({ database: 'flag_db', url: 'http://flag:3', owner: 'me' });
    expect(config.origins).toMatchObject({
      database: '--database',
      url: '--url',
      owner: '--owner',
      app: 'tws.json',
    });
  });

  it('of the queues is flag over file', async () => {
    await settings({ queues: ['file'] });
    expect(load()).toMatchObject({ queues: ['file'], origins: { queues: 'tws.json' } });
    expect(load({}, { queues: ['a', 'b'] })).toMatchObject({
      queues: ['a', 'b'],
      origins: { queues: '--queues' },
    });
    await settings({ queues: [] });
    expect(refusal(() => load()).message).toContain('queues must name a queue');
  });

  it('lets an empty variable say nothing', () => {
    expect(load({ COUCH_URL: '', COUCH_DATABASE: '', COUCH_USER: '' }).url).toBe(
      'http://127.0.0.1:5984',
    );
  });

  it('finds tws.json in a folder above', async () => {
    await settings({ project: 'shop' });
    const inside = join(folder, 'a', 'b');
    await mkdir(inside, { recursive: true });
    expect(load({}, {}, inside)).toMatchObject({ root: folder, database: 'shop_tasks' });
  });
});

describe('credentials', () => {
  it.each([
    ['100%off', '100%off'],
    ['50%25', '50%'],
    ['%zz%C3%A4%', '%zzä%'],
    ['%ff', '%ff'],
  ])('have a percent sign where the URL has %s', (written, password) => {
    expect(load({ COUCH_URL: `http://ann:${written}@db:5984` })).toMatchObject({ password });
  });

  it('are taken out of the URL', () => {
    const config = load({ COUCH_URL: 'http://ann:s%40cret@db:5984/' });
    expect(config).toMatchObject({ url: 'http://db:5984', user: 'ann', password: 's@cret' });
  });

  // Shows M-02.
  it('of COUCH_KEY beat COUCH_USER', () => {
    const env = { COUCH_USER: 'ann', COUCH_PASS: 'pass', COUCH_KEY: 'apikey' };
    expect(load(env)).toMatchObject({ user: 'apikey', password: 'pass' });
    expect(load({ ...env, COUCH_KEY: 'apikey:own' })).toMatchObject({ password: 'own' });
  });

  it('never mix a name of one source with a password of another', async () => {
    await settings({ user: 'file', pass: 'file-pass' });
    expect(load({ COUCH_USER: 'ann' })).toMatchObject({ user: 'ann', password: '' });
    expect(load({ COUCH_URL: 'http://u:p@db' })).toMatchObject({ user: 'u', password: 'p' });
  });

  it('of the environment beat those inside COUCH_URL', () => {
    const env = { COUCH_URL: 'http://u:p@db', COUCH_USER: 'ann', COUCH_PASS: 'pass' };
    expect(load(env)).toMatchObject({ url: 'http://db', user: 'ann', password: 'pass' });
  });
});

describe('a running tws dev', () => {
  it('is used when nothing names a URL', async () => {
    await runningDev();
    const config = load();
    expect(config).toMatchObject({
      url: 'http://127.0.0.1:7777',
      user: 'admin',
      password: 'dev-pass',
      database: 'dev_tasks',
    });
    expect(config.origins['url']).toBe(join('.tws', 'embedded.json'));
  });

  it('is not used when a URL is named', async () => {
    await runningDev();
    const config = load({ COUCH_URL: 'http://db:5984' });
    expect(config).toMatchObject({ url: 'http://db:5984', database: 'orders_tasks' });
    expect(config).not.toHaveProperty('password');
  });

  it('is not used when its process is gone', async () => {
    // No process has this number: it is beyond the largest one of the system.
    await runningDev(2 ** 22 + 12_345);
    expect(load().url).toBe('http://127.0.0.1:5984');
  });
});

describe('settings of engines', () => {
  it('come from tws.json, with their origin', async () => {
    const older = { cipher: 'aes-192-cbc', kdf: 'scrypt', first: 'iv' };
    await settings({
      drain: 5_000,
      retry_delay: 70,
      retry_factor: 3,
      retry_max: 'PT5M',
      event_ttl: 'P1D',
      lease: 3_000,
      secrets: { older },
    });
    const config = load();
    expect(config).toMatchObject({
      drainMs: 5_000,
      retry: { delay: 70, factor: 3, max: 300_000 },
      eventTtlMs: 86_400_000,
      leaseMs: 3_000,
      olderSecrets: older,
    });
    expect(config.origins).toMatchObject({ drain: 'tws.json', 'secrets.older': 'tws.json' });
  });
});

describe('egress', () => {
  it.each<[string, boolean, object, Environment, string?]>([
    ['nothing is said', false, {}, {}],
    ['the API listens on an address of this machine', false, { host: '127.0.0.2' }, {}],
    ['the API listens on every address', true, { host: '0.0.0.0' }, {}],
    ['--http names every address', true, {}, {}, '0.0.0.0:0'],
    ['--http names an address of this machine', false, { host: '0.0.0.0' }, {}, 'localhost:0'],
    ['the API has a public URL', true, { public_url: 'https://tws.example.com' }, {}],
    ['the public URL is of this machine', false, { public_url: 'http://localhost:5173' }, {}],
    ['the API trusts a proxy', true, { trust_proxy: ['127.0.0.1'] }, {}],
    ['TWS_EXPOSED is 1', true, {}, { TWS_EXPOSED: '1' }],
    ['TWS_EXPOSED is 0', false, {}, { TWS_EXPOSED: '0' }],
  ])('where %s: exposed is %j', async (_title, exposed, http, env, flag) => {
    await settings({ http });
    expect(load(env, { http: flag }).egress).toEqual({ allow: [], deny: [], exposed });
  });

  it('takes what tws.json allows and denies', async () => {
    const egress = { allow: ['10.1.2.3'], deny: ['*.example.com'] };
    await settings({ egress });
    expect(load().egress).toEqual({ ...egress, exposed: false });
  });
});

describe('a wrong setting', () => {
  it.each([
    [{ databse: 'x' }, 'Did you mean "database"?'],
    [{ logLevel: 'info' }, 'Did you mean "log_level"?'],
    [{ embedded: { prot: 1 } }, 'embedded.prot'],
    [{ slots: 0 }, 'slots must be 1 or more'],
    [{ zzzzzz: 1 }, 'Known are: '],
    ['{"url": ', 'tws.json is not valid'],
    [{ drain: -1 }, 'drain must be milliseconds, from 0'],
    [{ drian: 1 }, 'Did you mean "drain"?'],
    [
      { webhooks: [{ url: 'https://a:b@example.com' }] },
      'webhooks[0].url must be an address with http or https, without a password.',
    ],
    [{ secrets: { oldr: {} } }, 'secrets.oldr". Did you mean "older"?'],
    [{ secrets: { older: { kdf: 'raw' } } }, 'secrets.older.cipher'],
    [
      { secrets: { older: { cipher: 'x', kdf: 'md5' } } },
      'secrets.older.kdf must be one of scrypt',
    ],
    [
      { secrets: { older: { cipher: 'rot13', kdf: 'raw' } } },
      'secrets.older.cipher must be a cipher of OpenSSL',
    ],
    [
      { secrets: { older: { cipher: 'aes-256-cbc', kdf: 'raw', ciper: 1 } } },
      'secrets.older.ciper". Did you mean "cipher"?',
    ],
  ])('in tws.json is a problem with a suggestion: %j', async (content, sentence) => {
    await settings(content);
    const error = refusal(() => load());
    expect(error.code).toBe('settings_file_invalid');
    expect(error.message).toContain(sentence);
    expect(error.exit).toBe(78);
  });

  it('names the source of a URL that is none', () => {
    const error = refusal(() => load({ COUCH_URL: 'ftp://db' }));
    expect(error.message).toContain('COUCH_URL');
    expect(error.code).toBe('setting_invalid');
  });

  it('names the source of a database name that CouchDB would refuse', () => {
    const error = refusal(() => load({}, { database: 'Orders' }));
    expect(error.message).toContain('--database');
  });

  it('never shows credentials', () => {
    const error = refusal(() => load({ COUCH_URL: 'ftp://ann:secret@db' }));
    expect(`${error.message} ${error.hint}`).not.toContain('secret');
  });
});
