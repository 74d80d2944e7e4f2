import { randomBytes } from 'node:crypto';

/** A UUID of version 7 (RFC 9562): `at` (epoch ms), and random bits. */
export function uuidV7(at: number, random: Uint8Array = randomBytes(10)): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0').slice(-12);
  const [a = 0, b = 0, c = 0, ...rest] = random;
  const bytes = [(a & 0x0f) | 0x70, b, (c & 0x3f) | 0x80, ...rest.slice(0, 7)];
  const tail = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const hex = `${time}${tail}`;
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20)].join('-');
}
