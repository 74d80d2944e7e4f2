import { createCipheriv, randomBytes, scryptSync } from 'node:crypto';

const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

/** An encrypted value of version 1, which is bound to nothing: what earlier releases wrote. */
export function encryptVersion1(clear: string, key: string): string {
  const salt = randomBytes(16);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', scryptSync(key, salt, 32, cost), iv);
  cipher.setAAD(Buffer.from(`tws:v1:${salt.toString('base64url')}`));
  const body = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]);
  const parts = [salt, iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url'));
  return ['tws', 'v1', ...parts].join(':');
}
