import { isOlderFormat } from '../../src/model/encrypted.js';
import {
  createCipheriv,
  createHash,
  getCipherInfo,
  pbkdf2Sync,
  randomBytes,
  scryptSync,
} from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyring } from '../../src/secrets/keyring.js';
import { olderFormatProblem, type OlderFormat } from '../../src/secrets/older-format.js';

const passphrase = 'a passphrase of these tests';

/** Encrypts with node:crypto alone: `<first>:<cipher>` in hex. */
function encryptAs(
  cipher: string,
  key: Buffer,
  iv: Buffer,
  first: Buffer,
  clear = 'pässword',
): string {
  const made = createCipheriv(cipher, key, iv);
  const body = Buffer.concat([made.update(clear, 'utf8'), made.final()]);
  return `${first.toString('hex')}:${body.toString('hex')}`;
}

/** EVP_BytesToKey of OpenSSL with MD5, one round and no salt. */
function evp(length: number): Buffer {
  let all = Buffer.alloc(0);
  for (let last = all; all.length < length; all = Buffer.concat([all, last])) {
    last = createHash('md5')
      .update(Buffer.concat([last, Buffer.from(passphrase)]))
      .digest();
  }
  return all.subarray(0, length);
}

const salt = randomBytes(16);
const zero = Buffer.alloc(16);
const hash = (...parts: readonly (string | Buffer)[]): Buffer => {
  const made = createHash('sha256');
  for (const part of parts) made.update(part);
  return made.digest();
};

type Vector = readonly [title: string, format: OlderFormat, value: string, passphrase?: string];

const vectors: readonly Vector[] = [
  [
    'scrypt, salt, zeros',
    { cipher: 'aes-256-cbc', kdf: 'scrypt' },
    encryptAs('aes-256-cbc', scryptSync(passphrase, salt, 32), zero, salt),
  ],
  [
    'scrypt, salt as text',
    { cipher: 'aes-192-cbc', kdf: 'scrypt', salt_as: 'text' },
    encryptAs('aes-192-cbc', scryptSync(passphrase, salt.toString('hex'), 24), zero, salt),
  ],
  [
    'scrypt, vector first, a salt of its own',
    { cipher: 'aes-192-cbc', kdf: 'scrypt', first: 'iv', salt: 'salt' },
    encryptAs('aes-192-cbc', scryptSync(passphrase, 'salt', 24), salt, salt),
  ],
  [
    'pbkdf2 with its settings',
    { cipher: 'aes-256-ctr', kdf: 'pbkdf2', digest: 'sha512', iterations: 1_000 },
    encryptAs('aes-256-ctr', pbkdf2Sync(passphrase, salt, 1_000, 32, 'sha512'), zero, salt),
  ],
  [
    'pbkdf2 that gives the vector, too',
    { cipher: 'aes-128-cbc', kdf: 'pbkdf2', iterations: 10, iv: 'derived' },
    (() => {
      const bytes = pbkdf2Sync(passphrase, salt, 10, 32, 'sha256');
      return encryptAs('aes-128-cbc', bytes.subarray(0, 16), bytes.subarray(16), salt);
    })(),
  ],
  [
    'pbkdf2 of more bytes than are needed',
    { cipher: 'aes-128-cbc', kdf: 'pbkdf2', iterations: 10, keylen: 64 },
    encryptAs(
      'aes-128-cbc',
      pbkdf2Sync(passphrase, salt, 10, 64, 'sha256').subarray(0, 16),
      zero,
      salt,
    ),
  ],
  [
    'sha256 of key and salt',
    { cipher: 'aes-256-cbc', kdf: 'sha256' },
    encryptAs('aes-256-cbc', hash(passphrase, salt), zero, salt),
  ],
  [
    'sha256 of the key, vector first',
    { cipher: 'aes-256-cbc', kdf: 'sha256', first: 'iv' },
    encryptAs('aes-256-cbc', hash(passphrase), salt, salt),
  ],
  [
    'the key itself as text',
    { cipher: 'aes-256-ctr', kdf: 'raw', first: 'iv' },
    encryptAs('aes-256-ctr', Buffer.from('k'.repeat(32)), salt, salt),
    'k'.repeat(32),
  ],
  [
    'the key itself in hex',
    { cipher: 'aes-128-cbc', kdf: 'raw', first: 'iv' },
    encryptAs('aes-128-cbc', Buffer.from('ab'.repeat(16), 'hex'), salt, salt),
    'ab'.repeat(16),
  ],
  [
    'evp, which gives the vector, too',
    { cipher: 'aes-256-cbc', kdf: 'evp' },
    encryptAs('aes-256-cbc', evp(48).subarray(0, 32), evp(48).subarray(32), salt),
  ],
  [
    'evp, vector first',
    { cipher: 'aes-192-cbc', kdf: 'evp', first: 'iv' },
    encryptAs('aes-192-cbc', evp(24), salt, salt),
  ],
];

const decrypt = (value: string, key: string | undefined, field: string, format?: OlderFormat) =>
  createKeyring(key, format).decrypt(value, { kind: 'task', owner: 'o', name: 't', field });

const titled = vectors.map((vector) => [vector[0], vector] as const);

describe('a value of an earlier project', () => {
  it.each(titled)('is read as the settings say: %s', async (_title, vector) => {
    const [, format, value, key = passphrase] = vector;
    expect(isOlderFormat(value)).toBe(true);
    expect(olderFormatProblem(format)).toBeUndefined();
    expect(await decrypt(value, key, 'pass', format)).toBe('pässword');
    expect(await decrypt(value, key, 'pass', format)).toBe('pässword');
  });

  it('is refused with the setting to make when none says how it was encrypted', async () => {
    const [, , value] = vectors[0] as Vector;
    await expect(decrypt(value, passphrase, 'params.auth.pass')).rejects.toMatchObject({
      code: 'secret_older',
      message:
        'params.auth.pass of task "t" (owner o) is encrypted in the format of an earlier project (salt:cipher): say how in "secrets": {"older": {"cipher": …, "kdf": …}} of tws.json, or encrypt it again with `tws encrypt`.',
    });
  });

  it.each<readonly [string, OlderFormat, string]>([
    ['another key (padding)', { cipher: 'aes-256-cbc', kdf: 'scrypt' }, 'another'],
    ['another derivation', { cipher: 'aes-256-cbc', kdf: 'sha256' }, passphrase],
    ['a mode without padding (no UTF-8)', { cipher: 'aes-256-ctr', kdf: 'scrypt' }, 'another'],
    ['a key of a wrong length', { cipher: 'aes-256-cbc', kdf: 'raw' }, 'short'],
    ['a cipher that is none', { cipher: 'rot13', kdf: 'scrypt' }, passphrase],
  ])('is refused clearly with %s', async (_title, format, key) => {
    const clear = 'a long clear text, so that chance has no part in it: äöü'.repeat(4);
    const value = encryptAs('aes-256-cbc', scryptSync(passphrase, salt, 32), zero, salt, clear);
    await expect(decrypt(value, key, 'pass', format)).rejects.toMatchObject({
      code: 'secret_older_unreadable',
      message: `pass of task "t" (owner o) cannot be decrypted: TWS_CRYPTO_KEY or secrets.older of tws.json (${format.cipher}, ${format.kdf}) is not what it was encrypted with.`,
    });
  });

  it('needs the key', async () => {
    const [, format, value] = vectors[0] as Vector;
    await expect(decrypt(value, undefined, 'pass', format)).rejects.toThrow(
      'TWS_CRYPTO_KEY is not set',
    );
  });
});

describe('olderFormatProblem', () => {
  it.each<readonly [OlderFormat, RegExp]>([
    [{ cipher: 'rot13', kdf: 'raw' }, /^\.cipher must be a cipher.*"rot13"/],
    [{ cipher: 'aes-256-gcm', kdf: 'raw' }, /mode CBC, CTR, CFB or OFB/],
    [{ cipher: 'aes-256-cbc', kdf: 'scrypt', keylen: 24 }, /^\.keylen must be 32 or more/],
    [{ cipher: 'aes-256-cbc', kdf: 'pbkdf2', digest: 'sha-nix' }, /^\.digest must be a hash/],
  ])('refuses %j', (format, sentence) => {
    expect(olderFormatProblem(format)).toMatch(sentence);
  });

  it('takes every cipher of OpenSSL in a mode that needs no tag', () => {
    for (const cipher of ['aes-128-cbc', 'aes-192-cbc', 'aes-256-ctr', 'camellia-256-cbc']) {
      if (getCipherInfo(cipher) === undefined) continue;
      expect(olderFormatProblem({ cipher, kdf: 'raw' })).toBeUndefined();
    }
  });
});
