import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AnswerLinks, LinkPlace } from '../model/answer-link.js';
import { canonical } from '../model/canonical.js';
import { linkKeys } from './keyring.js';

/** The links of a project, by its `TWS_CRYPTO_KEY`; undefined: there is none. The first key makes new ones. */
export async function openAnswerLinks(
  cryptoKey: string | undefined,
): Promise<AnswerLinks | undefined> {
  const keys = await linkKeys(cryptoKey);
  const [first] = keys;
  if (first === undefined) return undefined;
  const codeOf = (key: Buffer, place: LinkPlace): string => mac(key, 'token', bound(place));
  const proofBy = (key: Buffer, place: LinkPlace, data: unknown): string =>
    mac(key, 'proof', [...bound(place), canonical(data ?? null)]);
  const madeFrom = (place: LinkPlace, hash: string): string | undefined =>
    keys.map((key) => codeOf(key, place)).find((code) => isSame(hashed(code), hash));
  return {
    read,
    hashOf: (place) => hashed(codeOf(first, place)),
    markOf: (notification, hash) => `tws:link:${mac(first, 'mark', [notification, hash])}`,
    proves: (proof, place, data) =>
      keys.filter((key) => isSame(String(proof), proofBy(key, place, data))).length > 0,
    tokenOf: (place, hash) => {
      const code = madeFrom(place, hash);
      return code === undefined
        ? undefined
        : `${Buffer.from(place.job, 'utf8').toString('base64url')}.${code}`;
    },
    holds: (code, place, hash) => {
      const isOfHash = isSame(hashed(code), hash);
      return keys.filter((key) => isSame(code, codeOf(key, place))).length > 0 && isOfHash;
    },
    proofOf: (place, data) => proofBy(first, place, data),
  };
}

function read(token: string): ReturnType<AnswerLinks['read']> {
  const [, job, code] = /^([\w-]{1,8000})\.([\w-]{43})$/.exec(token) ?? [];
  if (job === undefined || code === undefined) return undefined;
  return { job: Buffer.from(job, 'base64url').toString('utf8'), code };
}

function bound({ job, path, attempt, since, for: user, until }: LinkPlace): readonly unknown[] {
  return [job, path, attempt, since, user, until];
}

function mac(key: Buffer, what: string, of: readonly unknown[]): string {
  const text = JSON.stringify([`tws:link:${what}`, ...of]);
  return createHmac('sha256', key).update(text, 'utf8').digest('base64url');
}

function hashed(code: string): string {
  return digest(code).toString('base64url');
}

/** Both are hashed first, so that neither length nor content shows in the time. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
