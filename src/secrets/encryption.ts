import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto';
import { problem } from '../errors.js';
import { createMemo } from '../memo.js';
import { decryptOlder, isOlderFormat, type OlderFormat } from './older-format.js';

/** Lengths in bytes: GCM's recommended nonce and full tag, AES-256's key. */
const lengths = { salt: 16, iv: 12, key: 32 } as const;
/** scrypt cost: about 80 ms and 32 MiB for each new salt (see `deriveKey` for how often). */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;
/** Derived keys that stay in memory; a process seldom meets more salts than this. */
const keptKeys = 256;

const version1 =
  /^tws:v1:([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]*)$/;

/**
 * Encrypts one text: `tws:v1:<salt>:<iv>:<tag>:<cipher>`, each part base64url.
 * Two calls never give the same answer. Throws `crypto_key_missing` without a key.
 */
export function encrypt(clear: string, key: string | undefined): string {
  const passphrase = given(key);
  const salt = saltOfThisProcess;
  const iv = randomBytes(lengths.iv);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(passphrase, salt), iv);
  cipher.setAAD(associated(salt));
  const body = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
  return ['tws', 'v1', ...[salt, iv, cipher.getAuthTag(), body].map(base64url)].join(':');
}

/**
 * Gives the clear text of an encrypted one; `where` names the value in the sentences. The format of
 * earlier projects is read as `older` says. Throws `crypto_key_missing` without a key,
 * `secret_unreadable` for another key, a changed value or an unknown version, `secret_older` where
 * `older` is not given, and `secret_older_unreadable` when nothing sensible comes of it.
 */
export function decrypt(
  value: string,
  key: string | undefined,
  where = 'The value',
  older?: OlderFormat,
): string {
  if (isOlderFormat(value)) {
    if (older === undefined) throw problem('secret_older', { where });
    const clear = decryptOlder(value, given(key, where), older);
    if (clear !== undefined) return clear;
    throw problem('secret_older_unreadable', { where, cipher: older.cipher, kdf: older.kdf });
  }
  const clear = decryptVersion1(value, given(key, where));
  if (clear === undefined) throw problem('secret_unreadable', { where });
  return clear;
}

function decryptVersion1(value: string, passphrase: string): string | undefined {
  const parts = version1.exec(value)?.slice(1).map(fromBase64url);
  const [salt, iv, tag, body] = parts ?? [];
  if (!salt || !iv || !tag || !body) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(passphrase, salt), iv);
  decipher.setAAD(associated(salt));
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** One salt for all that this process encrypts: the nonce is what must never repeat. */
const saltOfThisProcess = randomBytes(lengths.salt);
const derived = createMemo<Buffer>(keptKeys);

/** The key of a passphrase and a salt; kept, so that a run of jobs pays scrypt once per salt. */
function deriveKey(passphrase: string, salt: Buffer): Buffer {
  const name = createHash('sha256').update(salt).update(passphrase, 'utf8').digest('base64');
  return derived(name, () => scryptSync(passphrase, salt, lengths.key, cost));
}

/** The version and the salt are authenticated, too: neither can be exchanged. */
function associated(salt: Buffer): Buffer {
  return Buffer.from(`tws:v1:${base64url(salt)}`);
}

function given(key: string | undefined, where?: string): string {
  if (key === undefined || key === '') throw problem('crypto_key_missing', { where });
  return key;
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');
const fromBase64url = (text: string): Buffer => Buffer.from(text, 'base64url');
