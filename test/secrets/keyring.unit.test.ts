import { describe, expect, it } from 'vitest';
import { isEncrypted } from '../../src/model/encrypted.js';
import { createKeyring, keysIn, type SecretPlace } from '../../src/secrets/keyring.js';
import { encryptVersion1 } from '../support/version1.js';

const key = 'a key of this test';
const ring = createKeyring(key);
const place: SecretPlace = { kind: 'task', owner: 'acme', name: 'mail', field: 'params.auth.pass' };

describe('a keyring', () => {
  it.each(['secret', '', 'ünïcödé 🔑', 'a'.repeat(10_000), 'tws:v1:not really'])(
    'gives back %j',
    async (clear) => {
      expect(await ring.decrypt(await ring.encrypt(clear, place), place)).toBe(clear);
    },
  );

  it('writes the documented format, and never the same twice', async () => {
    const [one, two] = [await ring.encrypt('secret', place), await ring.encrypt('secret', place)];
    expect(one).toMatch(/^tws:v2:[\w-]{8}:[\w-]{16}:[\w-]{22}:[\w-]+$/);
    expect(one).not.toBe(two);
  });

  it('reads what another process wrote', async () => {
    const written =
      'tws:v1:AQIDBAUGBwgJCgsMDQ4PEA:AQIDBAUGBwgJCgsM:' + `${vector.tag}:${vector.cipher}`;
    expect(await ring.decrypt(written, place)).toBe('known answer');
    expect(await ring.decrypt(encryptVersion1('one', key), place)).toBe('one');
  });

  it.each<[string, Partial<SecretPlace>]>([
    ['owner', { owner: 'other' }],
    ['kind', { kind: 'flow' }],
    ['document', { name: 'jsonata' }],
    ['field', { field: 'params.text' }],
  ])('opens no value that was encrypted for another %s', async (_what, other) => {
    const value = await ring.encrypt('secret', place);
    await expect(ring.decrypt(value, { ...place, ...other })).rejects.toMatchObject({
      code: 'secret_bound',
      message: expect.stringContaining('another owner, document or field') as string,
    });
  });

  it('derives once per key, whatever salts and key ids values claim to have', async () => {
    const value = await ring.encrypt('secret', place);
    const parts = value.split(':');
    const forged = Array.from({ length: 2_000 }, (_, i) =>
      parts.with(2, String(i).padStart(8, 'A')).join(':'),
    );
    const codes = await Promise.all(
      forged.map((one) => ring.decrypt(one, place).catch((error: { code: string }) => error.code)),
    );
    expect(new Set(codes)).toEqual(new Set(['secret_other_key']));
    expect(await ring.decrypt(value, place)).toBe('secret');
  });

  it('lets the event loop go on while it derives keys of version 1', async () => {
    const values = Array.from({ length: 3 }, () => encryptVersion1('x', key));
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    await Promise.all(values.map((value) => ring.decrypt(value, place)));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });

  it.each([undefined, ''])('refuses without a key (%j)', async (none) => {
    const value = await ring.encrypt('secret', place);
    await expect(createKeyring(none).decrypt(value, place)).rejects.toThrow(
      'params.auth.pass of task "mail" (owner acme) is encrypted, but TWS_CRYPTO_KEY is not set',
    );
    await expect(createKeyring(none).encrypt('x', place)).rejects.toMatchObject({
      code: 'crypto_key_missing',
    });
  });

  it('refuses a value with any part changed, without a word about it', async () => {
    const parts = (await ring.encrypt('secret', place)).split(':');
    for (const index of [2, 3, 4, 5]) {
      const part = parts[index] as string;
      const changed = parts
        .with(index, (part.startsWith('A') ? 'B' : 'A') + part.slice(1))
        .join(':');
      await expect(ring.decrypt(changed, place)).rejects.toThrow('cannot be decrypted');
    }
  });

  it.each(['tws:v1:', 'tws:v1:a:b:c:d', 'tws:v2:a:b:c:d', 'tws:v9:x', 'nothing of ours'])(
    'refuses %j',
    async (value) => {
      await expect(ring.decrypt(value, place)).rejects.toThrow('cannot be decrypted');
    },
  );
});

describe('several keys', () => {
  const both = createKeyring(JSON.stringify(['new', 'old']));
  const old = createKeyring('old');

  it('encrypt with the first, and decrypt with any', async () => {
    const before = await old.encrypt('secret', place);
    expect(await both.decrypt(before, place)).toBe('secret');
    expect(await both.decrypt(encryptVersion1('one', 'old'), place)).toBe('one');
    expect(await both.isCurrent(before)).toBe(false);
    const now = await both.encrypt('secret', place);
    expect(await both.isCurrent(now)).toBe(true);
    expect(await createKeyring('new').decrypt(now, place)).toBe('secret');
    await expect(old.decrypt(now, place)).rejects.toMatchObject({ code: 'secret_other_key' });
  });

  it.each<[string | undefined, readonly string[]]>([
    [undefined, []],
    ['', []],
    ['one, two', ['one, two']],
    ['["one","two"]', ['one', 'two']],
    [' ["one"]', ['one']],
    ['[not json', ['[not json']],
    ['[]', ['[]']],
    ['[1,""]', ['[1,""]']],
  ])('in %j are %j', (text, keys) => {
    expect(keysIn(text)).toEqual(keys);
  });
});

describe('isEncrypted', () => {
  it.each([
    [true, 'tws:v1:a:b:c:d'],
    [true, 'tws:v2:of-the-future'],
    [true, { $enc: 'tws:v1:a:b:c:d' }],
    [false, 'tws:version'],
    [false, { $enc: 1 }],
    [false, null],
  ])('is %s of %j', (answer, value) => {
    expect(isEncrypted(value)).toBe(answer);
  });
});

/** Made with node:crypto alone: scrypt (N 2^15, r 8, p 1), AES-256-GCM, "tws:v1:<salt>" as data. */
const vector = { tag: 'ZRSiQPPJ90bSOtdz8aonCA', cipher: 'RT-IMlVwnNUQD5jP' };
