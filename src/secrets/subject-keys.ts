import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** What a sealed value is bound to. */
export type SealedPlace = {
  readonly owner: string;
  /** Reference of the subject. */
  readonly subject: string;
  readonly name: string;
};

/** Lengths in bytes: AES-256's key, GCM's recommended nonce. */
const lengths = { key: 32, iv: 12 } as const;

const form = /^tws:s1:([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]+)$/;

/** A new key, of a subject or of the references. */
export const newSubjectKey = (): Buffer => randomBytes(lengths.key);

/**
 * What stands for a subject of an owner in documents and paths: HMAC-SHA-256 with a key of the database, so
 * that nobody without that key can tell whom it means, or try names.
 */
export function subjectReference(key: Buffer, owner: string, subject: string): string {
  const hash = createHmac('sha256', key).update(JSON.stringify(['tws:subject', owner, subject]));
  return `s-${hash.digest('base64url')}`;
}

/** `tws:s1:<iv>:<tag>:<cipher>`: AES-256-GCM with the key of the subject. */
export function sealValue(key: Buffer, clear: string, place: SealedPlace): string {
  const iv = randomBytes(lengths.iv);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(boundTo(place));
  const body = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
  const parts = [iv, cipher.getAuthTag(), body].map((bytes) => bytes.toString('base64url'));
  return ['tws', 's1', ...parts].join(':');
}

/** The clear text; undefined: another key, another place, or it was changed. */
export function openValue(key: Buffer, sealed: string, place: SealedPlace): string | undefined {
  const [iv, tag, body] = (form.exec(sealed) ?? [])
    .slice(1)
    .map((part) => Buffer.from(part, 'base64url'));
  if (!iv || !tag || !body) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv);
    decipher.setAAD(boundTo(place));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function boundTo({ owner, subject, name }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify(['tws:s1', owner, subject, name]));
}
