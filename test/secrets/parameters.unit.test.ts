import { describe, expect, it } from 'vitest';
import { encrypt } from '../../src/secrets/encryption.js';
import {
  decryptDeep,
  findClearSecrets,
  findEncrypted,
  unreadableIn,
} from '../../src/secrets/parameters.js';

const key = 'TOPsecretKEY';
const older = '00112233445566778899aabbccddeeff:0123456789abcdef';

describe('decryptDeep', () => {
  it('puts every encrypted value in clear, wherever it stands, and tells the clear texts', () => {
    const params = {
      plain: 'text',
      list: [{ token: { $enc: encrypt('one', key) } }, 3, null],
      deep: { anything: encrypt('two', key) },
    };
    expect(decryptDeep(params, key)).toEqual({
      params: {
        plain: 'text',
        list: [{ token: 'one' }, 3, null],
        deep: { anything: 'two' },
      },
      clear: ['one', 'two'],
    });
  });

  it('leaves what it was given unchanged', () => {
    const params = { smtp: { auth: { pass: encrypt('secret', key) } } };
    const before = structuredClone(params);
    decryptDeep(params, key);
    expect(params).toEqual(before);
  });

  it('refuses the older format where a secret is expected, and takes it for a text elsewhere', () => {
    expect(() => decryptDeep({ smtp: { auth: { user: older } } }, key)).toThrow(
      'params.smtp.auth.user of the step is encrypted in the format of an earlier project',
    );
    expect(decryptDeep({ checksum: older }, key).params).toEqual({ checksum: older });
  });

  it('needs no key where nothing is encrypted', () => {
    expect(decryptDeep({ a: 1 }, undefined)).toEqual({ params: { a: 1 }, clear: [] });
  });

  it('names the place and the document when the key is missing or wrong', () => {
    const params = { smtp: { auth: { pass: encrypt('secret', key) } } };
    const open = (with_: string | undefined) => () => decryptDeep(params, with_, 'job "j1"');
    expect(open(undefined)).toThrow(
      'params.smtp.auth.pass of job "j1" is encrypted, but TWS_CRYPTO_KEY is not set in the environment',
    );
    expect(open('another')).toThrow('params.smtp.auth.pass of job "j1" cannot be decrypted');
  });

  it('refuses {"$enc": …} around a text that was never encrypted', () => {
    expect(() => decryptDeep({ pass: { $enc: 'clear' } }, key)).toThrow('cannot be decrypted');
  });
});

describe('unreadableIn', () => {
  const document = {
    params: {
      a: encrypt('one', key),
      b: [{ token: encrypt('two', 'another') }],
      auth: { x: older },
    },
  };

  it('tells each value that cannot be read, with its path and why', () => {
    const found = unreadableIn(document, key);
    expect(found.map(({ path, problem }) => [path, problem.code])).toEqual([
      ['params.b[0].token', 'secret_unreadable'],
      ['params.auth.x', 'secret_older'],
    ]);
  });

  it('tells all of them when there is no key', () => {
    expect(unreadableIn(document, undefined, { cipher: 'aes-256-cbc', kdf: 'raw' })).toMatchObject([
      { problem: { code: 'crypto_key_missing' } },
      { problem: { code: 'crypto_key_missing' } },
      { problem: { code: 'crypto_key_missing' } },
    ]);
  });
});

describe('findEncrypted', () => {
  it('tells the paths of all encrypted values', () => {
    const document = {
      a: { $enc: 'tws:v1:x' },
      params: { list: ['tws:v1:y'], auth: { pass: older } },
    };
    expect(findEncrypted(document)).toEqual(['a', 'params.list[0]', 'params.auth.pass']);
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
