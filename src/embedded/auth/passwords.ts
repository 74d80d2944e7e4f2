import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createLru } from '../../memo.js';

import type { JsonObject } from '../http/body.js';
import { deriveKey } from './hashing.js';

/** CouchDB 3.4's defaults, so that user documents replicate to it and back. */
const ITERATIONS = 600_000;
const KEY_BYTES = 32;
const OURS = { iterations: ITERATIONS, bytes: KEY_BYTES, digest: 'sha256' } as const;
/** Users may replace their own document, and every sign-in pays for what stands there. */
const MAX_ITERATIONS = 1_000_000;
const MAX_KEY_BYTES = 64;
const MAX_REMEMBERED = 1_000;

/** Takes as long as the check of a password: nobody can tell by the time that there is no such user. */
export async function checkNothing(password: string): Promise<false> {
  await deriveKey({ password, salt: 'nobody', ...OURS });
  return false;
}

/** Replaces `password` of a user document by its PBKDF2 hash; other documents stay as they are. */
export async function hashPassword(doc: JsonObject): Promise<JsonObject> {
  const { password, ...rest } = doc;
  if (typeof password !== 'string') return doc;
  const salt = randomBytes(16).toString('hex');
  const key = await deriveKey({ password, salt, ...OURS });
  return {
    ...rest,
    password_scheme: 'pbkdf2',
    pbkdf2_prf: 'sha256',
    salt,
    iterations: ITERATIONS,
    derived_key: key.toString('hex'),
  };
}

/** Why a hash costs more than a sign-in may; undefined: it does not. */
export function hashProblem({ iterations, derived_key: key }: JsonObject): string | undefined {
  if (iterations !== undefined && !isBounded(iterations)) {
    return `iterations must be a whole number from 1 to ${MAX_ITERATIONS}`;
  }
  return key === undefined || (typeof key === 'string' && key.length <= 2 * MAX_KEY_BYTES)
    ? undefined
    : `derived_key must be at most ${MAX_KEY_BYTES} bytes in hex`;
}

function isBounded(iterations: unknown): iterations is number {
  const count = Number.isInteger(iterations) ? (iterations as number) : 0;
  return count >= 1 && count <= MAX_ITERATIONS;
}

/** True when the password is that of the user document (as CouchDB 3 hashes it). */
export async function checkPassword(doc: JsonObject, password: string): Promise<boolean> {
  const { password_scheme: scheme, pbkdf2_prf: prf = 'sha', salt, iterations, derived_key } = doc;
  if (scheme !== 'pbkdf2' || typeof salt !== 'string' || typeof derived_key !== 'string')
    return false;
  if (!isBounded(iterations) || hashProblem(doc) !== undefined) return false;
  const digest = {
    sha: 'sha1',
    sha224: 'sha224',
    sha256: 'sha256',
    sha384: 'sha384',
    sha512: 'sha512',
  };
  const hash =
    typeof prf === 'string' && Object.hasOwn(digest, prf) ? digest[prf as 'sha'] : undefined;
  if (hash === undefined) return false;
  const expected = Buffer.from(derived_key, 'hex');
  const bytes = expected.length || KEY_BYTES;
  const key = await deriveKey({ password, salt, iterations, bytes, digest: hash });
  return sameBytes(key, expected);
}

/** Compares in constant time, whatever the lengths. */
export function sameText(a: string, b: string, key: string): boolean {
  const mac = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return timingSafeEqual(mac(a), mac(b));
}

const sameBytes = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Hashing takes long by design: a password once proved stays proved until the document changes. */
export type ProvedPasswords = {
  /** Whether this password was proved before: no hash. */
  knows(doc: JsonObject, password: string): boolean;
  /** Checks the password by its hash, and remembers it if it is right. */
  check(doc: JsonObject, password: string): Promise<boolean>;
};

export function createProvedPasswords(key: string): ProvedPasswords {
  const proved = createLru<true>(MAX_REMEMBERED);
  const macOf = (doc: JsonObject, password: string): string => {
    const claim = [doc['_id'], doc['_rev'], doc['derived_key'], password];
    return createHmac('sha256', key).update(JSON.stringify(claim)).digest('hex');
  };
  return {
    knows: (doc, password) => proved.has(macOf(doc, password)),
    async check(doc, password) {
      if (!(await checkPassword(doc, password))) return false;
      proved.set(macOf(doc, password), true);
      return true;
    },
  };
}
