import { randomBytes } from 'node:crypto';

/** Numbers of one millisecond, so that ids sort as they were made; then the next one is begun. */
const mostInMs = 0x0fff;

/** Makes UUIDs of version 7 that each sort after all that were made before. */
export function createUuids(): (at: number) => string {
  let last = 0;
  let number = 0;
  return (at) => {
    const isNew = at > last || number === mostInMs;
    last = isNew ? Math.max(at, last + 1) : last;
    number = isNew ? 0 : number + 1;
    const random = randomTen();
    random.writeUInt16BE(number, 0);
    return uuidV7(last, random);
  };
}

/** A UUID of version 7 (RFC 9562): `at` (epoch ms), and random bits. */
export function uuidV7(at: number, random: Uint8Array = randomTen()): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0').slice(-12);
  const [a = 0, b = 0, c = 0, ...rest] = random;
  const bytes = [(a & 0x0f) | 0x70, b, (c & 0x3f) | 0x80, ...rest.slice(0, 7)];
  const tail = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const hex = `${time}${tail}`;
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20)].join('-');
}

/** Asking for few random bytes costs as much as asking for many. */
const poolBytes = 5_120;
let pool = Buffer.alloc(0);
let used = 0;

/** Ten random bytes that nobody else gets. */
function randomTen(): Buffer {
  if (used + 10 > pool.length) {
    pool = randomBytes(poolBytes);
    used = 0;
  }
  used += 10;
  return pool.subarray(used - 10, used);
}
