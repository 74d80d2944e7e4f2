import { describe, expect, it } from 'vitest';
import { encrypt } from '../../src/secrets/encryption.js';
import { decryptDeep, findClearSecrets, findEncrypted } from '../../src/secrets/parameters.js';

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
    expect(() => decryptDeep({ smtp: { auth: { user: older } } }, key)).toThrow('cannot be read');
    expect(decryptDeep({ checksum: older }, key).params).toEqual({ checksum: older });
  });

  it('needs no key where nothing is encrypted', () => {
    expect(decryptDeep({ a: 1 }, undefined)).toEqual({ params: { a: 1 }, clear: [] });
  });

  it('names the place and the document when the key is missing or wrong', () => {
    const params = { smtp: { auth: { pass: encrypt('secret', key) } } };
    const open = (with_: string | undefined) => () => decryptDeep(params, with_, 'job "j1"');
    expect(open(undefined)).toThrow(
      'smtp.auth.pass of job "j1" holds an encrypted value, but TWS_CRYPTO_KEY is not set.',
    );
    expect(open('another')).toThrow('smtp.auth.pass of job "j1" cannot be decrypted');
  });

  it('refuses {"$enc": …} around a text that was never encrypted', () => {
    expect(() => decryptDeep({ pass: { $enc: 'clear' } }, key)).toThrow('cannot be decrypted');
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
  it('tells the paths of clear secrets inside auth or credentials', () => {
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

  it('is silent about such names outside of auth', () => {
    expect(findClearSecrets({ params: { token: 'chess piece' } })).toEqual([]);
  });
});
