import { describe, expect, it } from 'vitest';
import { isEncrypted } from '../../src/model/encrypted.js';
import { decrypt, encrypt } from '../../src/secrets/encryption.js';

const key = 'a key of this test';

describe('encrypt and decrypt', () => {
  it.each(['secret', '', 'ünïcödé 🔑', 'a'.repeat(10_000), 'tws:v1:not really'])(
    'give back %j',
    (clear) => {
      expect(decrypt(encrypt(clear, key), key)).toBe(clear);
    },
  );

  it('write the documented format', () => {
    expect(encrypt('secret', key)).toMatch(/^tws:v1:[\w-]{22}:[\w-]{16}:[\w-]{22}:[\w-]+$/);
  });

  it('never write the same twice', () => {
    expect(encrypt('secret', key)).not.toBe(encrypt('secret', key));
  });

  it('read what another process wrote', () => {
    const written =
      'tws:v1:AQIDBAUGBwgJCgsMDQ4PEA:AQIDBAUGBwgJCgsM:' + `${vector.tag}:${vector.cipher}`;
    expect(decrypt(written, key)).toBe('known answer');
  });

  it('pay for the derivation of a key once per salt', () => {
    const value = encrypt('secret', key);
    decrypt(value, key);
    const began = performance.now();
    for (let i = 0; i < 100; i++) decrypt(value, key);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it.each([undefined, ''])('refuse without a key (%j)', (none) => {
    expect(() => encrypt('secret', none)).toThrow(
      'TWS_CRYPTO_KEY is not set in the environment of this command.',
    );
    expect(() => decrypt(encrypt('secret', key), none, 'auth.pass of task "mail"')).toThrow(
      'auth.pass of task "mail" is encrypted, but TWS_CRYPTO_KEY is not set in the environment of `tws start` or `tws dev`: set it there to the key of the encrypted values.',
    );
  });

  it('refuse another key, without a word about the value', () => {
    const value = encrypt('secret', key);
    expect(() => decrypt(value, 'another')).toThrow(
      expect.objectContaining({
        code: 'secret_unreadable',
        message:
          'The value cannot be decrypted: it was encrypted with another key than TWS_CRYPTO_KEY, or it was changed.',
      }) as Error,
    );
  });

  it('refuse a value with any part changed', () => {
    const parts = encrypt('secret', key).split(':');
    for (const index of [2, 3, 4, 5]) {
      const part = parts[index] as string;
      const other = part.startsWith('A') ? 'B' : 'A';
      const changed = parts.with(index, other + part.slice(1)).join(':');
      expect(() => decrypt(changed, key)).toThrow('cannot be decrypted');
    }
  });

  it.each(['tws:v1:', 'tws:v1:a:b:c:d', 'tws:v2:a:b:c:d', 'nothing of ours'])(
    'refuse %j',
    (value) => {
      expect(() => decrypt(value, key)).toThrow('cannot be decrypted');
    },
  );
});

describe('isEncrypted', () => {
  it.each([
    [true, 'tws:v1:a:b:c:d'],
    [true, 'tws:v2:of-the-future'],
    [true, { $enc: 'tws:v1:a:b:c:d' }],
    [false, 'tws:version'],
    [false, 'secret'],
    [false, { $enc: 'secret' }],
    [false, { $enc: 'tws:v1:a', more: 1 }],
    [false, 7],
    [false, null],
  ])('is %s for %j', (expected, value) => {
    expect(isEncrypted(value)).toBe(expected);
  });
});

/** Made with node:crypto alone: scrypt (N 2^15, r 8, p 1), AES-256-GCM, "tws:v1:<salt>" as data. */
const vector = { tag: 'ZRSiQPPJ90bSOtdz8aonCA', cipher: 'RT-IMlVwnNUQD5jP' };
