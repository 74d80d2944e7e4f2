import { describe, expect, it } from 'vitest';
import { encryptedIn } from '../../src/model/encrypted-values.js';
import { createKeyring } from '../../src/secrets/keyring.js';
import { encryptVersion1 as encrypt } from '../support/version1.js';
import { findClearSecrets, unreadableIn } from '../../src/secrets/parameters.js';

const key = 'TOPsecretKEY';
const encryptedPaths = (doc: unknown): readonly string[] => [...encryptedIn(doc).keys()];
const older = '00112233445566778899aabbccddeeff:0123456789abcdef';

describe('unreadableIn', () => {
  const document = {
    params: {
      a: encrypt('one', key),
      b: [{ token: encrypt('two', 'another') }],
      auth: { x: older },
    },
  };

  it('tells each value that cannot be read, with its path and why', async () => {
    const found = await unreadableIn(document, createKeyring(key));
    expect(found.map(({ path, problem }) => [path, problem.code])).toEqual([
      ['params.b.0.token', 'secret_unreadable'],
      ['params.auth.x', 'secret_older'],
    ]);
  });

  it('tells all of them when there is no key', async () => {
    const none = createKeyring(undefined, { cipher: 'aes-256-cbc', kdf: 'raw' });
    expect(await unreadableIn(document, none)).toMatchObject([
      { problem: { code: 'crypto_key_missing' } },
      { problem: { code: 'crypto_key_missing' } },
      { problem: { code: 'crypto_key_missing' } },
    ]);
  });
});

describe('encryptedIn', () => {
  it('tells the paths of all encrypted values', () => {
    const document = {
      a: { $enc: 'tws:v1:x' },
      params: { list: ['tws:v1:y'], auth: { pass: older } },
    };
    expect(encryptedPaths(document)).toEqual(['a', 'params.list.0', 'params.auth.pass']);
  });
});

describe('findClearSecrets', () => {
  it('tells the paths of clear secrets', () => {
    const document = {
      params: {
        smtp: { auth: { user: 'me', pass: 'clear' } },
        s3: { credentials: { accessKeyId: 'id', secretAccessKey: 'clear' } },
        list: [{ auth: { oauth: { client_secret: 'clear' } } }],
      },
    };
    expect(findClearSecrets(document)).toEqual([
      'params.smtp.auth.pass',
      'params.s3.credentials.secretAccessKey',
      'params.list[0].auth.oauth.client_secret',
    ]);
  });

  it.each([
    ['encrypted', 'tws:v1:a:b:c:d'],
    ['encrypted in an object', { $enc: 'tws:v1:a:b:c:d' }],
    ['of the older format', older],
    ['a template', '{{params.password}}'],
    ['asked for at submit', '[[password]]'],
    ['empty', ''],
  ])('is silent about a value that is %s', (_title, pass) => {
    expect(findClearSecrets({ auth: { pass } })).toEqual([]);
  });

  it('takes what was hidden in a job for no secret, and in a definition for one that was lost', () => {
    const hidden = { password: '[secret]', token: 'Bearer [secret]' };
    expect(findClearSecrets({ type: 'job', steps: [{ result: hidden }] })).toEqual([]);
    expect(findClearSecrets({ type: 'job', steps: [{ result: { password: 'x' } }] })).toEqual([
      'steps[0].result.password',
    ]);
    expect(findClearSecrets({ type: 'task', params: hidden })).toHaveLength(2);
  });

  it('tells them outside of auth, too, and in lists', () => {
    const document = {
      params: { token: 'chess piece', db: { db_password: 'x' }, list: [{ secret: ['y'] }] },
      tasks: [{ task: 'a', params: { api_key: 'z' } }],
    };
    expect(findClearSecrets(document)).toEqual([
      'params.token',
      'params.db.db_password',
      'params.list[0].secret[0]',
      'tasks[0].params.api_key',
    ]);
  });

  it('is silent about mappings, expressions and schemas', () => {
    const document = {
      tasks: [{ task: 'a', stdio: { token: 'auth.token' } }],
      output: { token: 'results.a.token' },
      schema: { properties: { x: { token: 'y' } } },
      params: { key: 'file.txt', max_tokens: '7', passage: 'way' },
    };
    expect(findClearSecrets(document)).toEqual([]);
  });
});
