import {
  createDecipheriv,
  createHash,
  getCipherInfo,
  pbkdf2,
  scrypt,
  type BinaryLike,
  type CipherInfo,
} from 'node:crypto';
import { promisify } from 'node:util';
import { derived } from './derivation.js';

/** How a project derived its key from the passphrase. `evp`: OpenSSL's EVP_BytesToKey, MD5, no salt. */
export const olderDerivations = ['scrypt', 'pbkdf2', 'sha256', 'raw', 'evp'] as const;

/**
 * How a project of earlier days encrypted `<first>:<cipher>`, both in hex: `secrets.older` of
 * `tws.json`. What is left out has the value named here.
 */
export type OlderFormat = {
  /** A cipher of node:crypto in mode CBC, CTR, CFB or OFB: `aes-256-cbc`. */
  readonly cipher: string;
  readonly kdf: (typeof olderDerivations)[number];
  /** What the first part is: the salt of the derivation (default), or the initialisation vector. */
  readonly first?: 'salt' | 'iv';
  /** How a salt goes into the derivation: as its bytes (default), or as the hex text itself. */
  readonly salt_as?: 'bytes' | 'text';
  /** The salt of the derivation where the first part is the vector; default: none. */
  readonly salt?: string;
  /**
   * The vector where the first part is the salt: zeros (default), or the bytes that the derivation
   * gives after those of the key (default with `evp`).
   */
  readonly iv?: 'zero' | 'derived';
  /** Bytes to derive; the cipher takes the first ones. Default: as many as are needed. */
  readonly keylen?: number;
  /** Hash of `pbkdf2`; default sha256. */
  readonly digest?: string;
  /** Rounds of `pbkdf2`; default 100000. */
  readonly iterations?: number;
};

/** What is wrong with such settings, to follow "secrets.older"; undefined when nothing is. */
export function olderFormatProblem({ cipher, keylen, digest }: OlderFormat): string | undefined {
  const info = getCipherInfo(cipher);
  if (info === undefined || !modes.some((mode) => mode === info.mode)) {
    return `.cipher must be a cipher of OpenSSL in mode CBC, CTR, CFB or OFB, such as "aes-256-cbc"; it is ${JSON.stringify(cipher)}`;
  }
  if (keylen !== undefined && keylen < info.keyLength) {
    return `.keylen must be ${info.keyLength} or more, as many bytes as ${cipher} needs; it is ${keylen}`;
  }
  if (digest === undefined) return undefined;
  try {
    createHash(digest);
    return undefined;
  } catch {
    return `.digest must be a hash of OpenSSL such as "sha512"; it is ${JSON.stringify(digest)}`;
  }
}

/**
 * The clear text of a value of the older format; undefined when passphrase or settings are others
 * than those it was encrypted with, as far as that shows: by its padding, or by bytes that are no
 * UTF-8.
 */
export async function decryptOlder(
  value: string,
  passphrase: string,
  format: OlderFormat,
): Promise<string | undefined> {
  const [first = '', body = ''] = value.split(':');
  const info = getCipherInfo(format.cipher);
  if (info === undefined) return undefined;
  try {
    const { key, iv } = await keyAndVector(first, passphrase, format, info);
    const decipher = createDecipheriv(format.cipher, key, iv);
    const clear = Buffer.concat([decipher.update(Buffer.from(body, 'hex')), decipher.final()]);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(clear);
  } catch {
    return undefined;
  }
}

const modes = ['cbc', 'ctr', 'cfb', 'ofb'] as const;

type KeyAndVector = { readonly key: Buffer; readonly iv: Buffer };

async function keyAndVector(
  first: string,
  passphrase: string,
  format: OlderFormat,
  { keyLength, ivLength = 0 }: CipherInfo,
): Promise<KeyAndVector> {
  const firstIsVector = format.first === 'iv';
  const { iv: vector = format.kdf === 'evp' ? 'derived' : 'zero' } = format;
  const derives = !firstIsVector && vector === 'derived';
  const length = Math.max(format.keylen ?? 0, keyLength + (derives ? ivLength : 0));
  const salt = firstIsVector ? Buffer.from(format.salt ?? '') : saltOf(first, format);
  const bytes = await derivedBytes(passphrase, salt, format, length);
  const key = bytes.subarray(0, keyLength);
  if (firstIsVector) return { key, iv: Buffer.from(first, 'hex') };
  const iv = derives ? bytes.subarray(keyLength, keyLength + ivLength) : Buffer.alloc(ivLength);
  return { key, iv };
}

function saltOf(first: string, { salt_as }: OlderFormat): Buffer {
  return Buffer.from(first, salt_as === 'text' ? 'utf8' : 'hex');
}

/** What a passphrase and a salt come to; kept, so that a run of jobs pays for it once per salt. */
function derivedBytes(
  passphrase: string,
  salt: Buffer,
  format: OlderFormat,
  length: number,
): Promise<Buffer> {
  const settings = JSON.stringify([format.kdf, format.digest, format.iterations, length]);
  const name = createHash('sha256')
    .update(`${settings}\n${salt.toString('hex')}\n`)
    .update(passphrase, 'utf8')
    .digest('base64');
  return derived(name, () => derive(passphrase, salt, format, length));
}

const scryptAsync = promisify<BinaryLike, BinaryLike, number, Buffer>(scrypt);
const pbkdf2Async = promisify(pbkdf2);

async function derive(
  passphrase: string,
  salt: Buffer,
  format: OlderFormat,
  length: number,
): Promise<Buffer> {
  switch (format.kdf) {
    case 'scrypt':
      return scryptAsync(passphrase, salt, length);
    case 'pbkdf2': {
      const { iterations = 100_000, digest = 'sha256' } = format;
      return pbkdf2Async(passphrase, salt, iterations, length, digest);
    }
    case 'sha256':
      return createHash('sha256').update(passphrase, 'utf8').update(salt).digest();
    case 'raw':
      return rawKey(passphrase, length);
    case 'evp':
      return bytesToKey(passphrase, length);
  }
}

/** The passphrase is the key itself, as text or in hex. */
function rawKey(passphrase: string, length: number): Buffer {
  const hex = /^(?:[0-9a-f]{2})+$/i.test(passphrase) && passphrase.length === 2 * length;
  return Buffer.from(passphrase, hex ? 'hex' : 'utf8');
}

/** EVP_BytesToKey of OpenSSL with MD5, one round and no salt: each block hashes the one before. */
function bytesToKey(passphrase: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let made = 0; made < length; made += 16) {
    const hash = createHash('md5').update(blocks.at(-1) ?? Buffer.alloc(0));
    blocks.push(hash.update(passphrase, 'utf8').digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}
