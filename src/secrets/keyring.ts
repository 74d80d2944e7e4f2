import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  scrypt,
  type ScryptOptions,
} from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import { isOlderFormat } from '../model/encrypted.js';
import { derived } from './derivation.js';
import { decryptOlder, type OlderFormat } from './older-format.js';

/** Where an encrypted value stands, which is what it is bound to. */
export type SecretPlace = {
  readonly kind: 'task' | 'flow' | 'hook' | 'secret' | 'subject-key' | 'settings';
  readonly owner: string;
  /** Name of the document; `tws.json` for settings. */
  readonly name: string;
  /** As `fieldOf` writes it: `params.smtp.auth.pass`. */
  readonly field: string;
};

/** The keys of a project. Both functions reject with a TwsError that names the place. */
export type Keyring = {
  /** `tws:v2:<key id>:<iv>:<tag>:<cipher>`, with the first key; two calls never answer the same. */
  readonly encrypt: (clear: string, place: SecretPlace) => Promise<string>;
  /** Reads any version; the format of earlier projects as `older` says. */
  readonly decrypt: (text: string, place: SecretPlace) => Promise<string>;
  /** Whether a value is as `encrypt` would write it now: of version 2, and with the first key. */
  readonly isCurrent: (text: string) => Promise<boolean>;
};

/** Lengths in bytes: GCM's recommended nonce and full tag, AES-256's key. */
const lengths = { iv: 12, key: 32, id: 6 } as const;
/** scrypt cost: about 80 ms and 32 MiB, once per key and process (version 1: once per salt). */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

const version1 =
  /^tws:v1:([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]*)$/;
const version2 =
  /^tws:v2:([A-Za-z0-9_-]{8}):([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]*)$/;

/**
 * The keys in `TWS_CRYPTO_KEY`: a JSON list of texts (`["new", "old"]`), of which the first encrypts
 * and all decrypt; any other text is one key.
 */
export function keysIn(cryptoKey: string | undefined): readonly string[] {
  if (cryptoKey === undefined || cryptoKey === '') return [];
  if (!cryptoKey.trim().startsWith('[')) return [cryptoKey];
  try {
    const list: unknown = JSON.parse(cryptoKey);
    const keys = Array.isArray(list)
      ? list.filter((key) => typeof key === 'string' && key !== '')
      : [];
    return keys.length === 0 ? [cryptoKey] : (keys as string[]);
  } catch {
    return [cryptoKey];
  }
}

/** The keyring of a value of `TWS_CRYPTO_KEY`; nothing is derived before it is needed. */
export function createKeyring(cryptoKey: string | undefined, older?: OlderFormat): Keyring {
  const passphrases = keysIn(cryptoKey);
  const given = (where: string): readonly string[] => {
    if (passphrases.length === 0) throw problem('crypto_key_missing', { where });
    return passphrases;
  };
  const first = async (): Promise<Key> => keyOf(given('A value')[0] as string);
  return {
    encrypt: async (clear, place) => {
      const { id, key } = await first();
      const iv = randomBytes(lengths.iv);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      cipher.setAAD(bound(id, place));
      const body = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
      return ['tws', 'v2', id, ...[iv, cipher.getAuthTag(), body].map(base64url)].join(':');
    },
    decrypt: async (text, place) => {
      const where = wordsOf(place);
      if (isOlderFormat(text)) {
        if (older === undefined) throw problem('secret_older', { where });
        return ofOlder(text, given(where), where, older);
      }
      const keys = given(where);
      const [, id, ...parts] = version2.exec(text) ?? [];
      if (id === undefined) return ofVersion1(text, keys, where);
      const key = (await Promise.all(keys.map(keyOf))).find((one) => one.id === id);
      if (key === undefined) throw problem('secret_other_key', { where });
      const clear = opened(key.key, parts, bound(id, place));
      if (clear === undefined) throw problem('secret_bound', { where });
      return clear;
    },
    isCurrent: async (text) => version2.exec(text)?.[1] === (await first()).id,
  };
}

/** Whether a keyring could not read one value, which says nothing about others. */
export function isUnreadableValue(error: unknown): error is TwsError {
  return error instanceof TwsError && unreadable.has(error.code);
}

const unreadable: ReadonlySet<string> = new Set([
  'secret_other_key',
  'secret_bound',
  'secret_unreadable',
  'secret_older',
  'secret_older_unreadable',
]);

/** A place in a sentence: `params.pass of task "mail" (owner DEFAULT)`. */
export function wordsOf({ kind, owner, name, field }: SecretPlace): string {
  return kind === 'settings'
    ? `${field} of tws.json`
    : `${field} of ${kind} "${name}" (owner ${owner})`;
}

type Key = { readonly id: string; readonly key: Buffer };

/** The keys from which links are made, one for each passphrase in `TWS_CRYPTO_KEY`. */
export async function linkKeys(cryptoKey: string | undefined): Promise<readonly Buffer[]> {
  const masters = keysIn(cryptoKey).map((passphrase) => derivedBy(passphrase, 'tws:v2'));
  const part = (master: Buffer) => hkdfSync('sha256', master, '', 'links', lengths.key);
  return (await Promise.all(masters)).map((master) => Buffer.from(part(master)));
}

/**
 * The key of a passphrase, and its id. scrypt runs once per passphrase: there is no salt in a value,
 * so a forged one costs nothing. The nonce is random; one key is good for 2^32 values.
 */
async function keyOf(passphrase: string): Promise<Key> {
  const master = await derivedBy(passphrase, 'tws:v2');
  const part = (info: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, '', info, length));
  return { id: base64url(part('id', lengths.id)), key: part('value', lengths.key) };
}

function derivedBy(passphrase: string, salt: Buffer | string): Promise<Buffer> {
  const name = createHash('sha256')
    .update(salt)
    .update('\n')
    .update(passphrase, 'utf8')
    .digest('base64');
  return derived(name, () => scrypted(passphrase, salt, lengths.key, cost));
}

function scrypted(text: string, salt: Buffer | string, length: number, options: ScryptOptions) {
  return new Promise<Buffer>((resolve, reject) => {
    scrypt(text, salt, length, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** The additional data of version 2: key, owner, kind, name and field; none can be exchanged. */
function bound(id: string, { kind, owner, name, field }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(['tws:v2', id, owner, kind, name, field]));
}

async function ofVersion1(text: string, keys: readonly string[], where: string): Promise<string> {
  const [, salt, ...parts] = version1.exec(text) ?? [];
  for (const passphrase of salt === undefined ? [] : keys) {
    const key = await derivedBy(passphrase, Buffer.from(String(salt), 'base64url'));
    const clear = opened(key, parts, Buffer.from(`tws:v1:${salt}`));
    if (clear !== undefined) return clear;
  }
  throw problem('secret_unreadable', { where });
}

async function ofOlder(
  text: string,
  keys: readonly string[],
  where: string,
  older: OlderFormat,
): Promise<string> {
  for (const passphrase of keys) {
    const clear = await decryptOlder(text, passphrase, older);
    if (clear !== undefined) return clear;
  }
  throw problem('secret_older_unreadable', { where, cipher: older.cipher, kdf: older.kdf });
}

function opened(key: Buffer, parts: readonly string[], associated: Buffer): string | undefined {
  const [iv, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'));
  if (!iv || !tag || !body) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, iv);
  decipher.setAAD(associated);
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');
