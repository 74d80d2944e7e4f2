import { randomUUID } from 'node:crypto';
import type { OfferPlace } from '../model/work.js';

/** The numbers of one millisecond have so many digits. */
const digits = 7;

/** Makes what gives places in line: each comes after all that were given before by this process. */
export function createOrder(): (now: number) => OfferPlace {
  let at = 0;
  let number = 0;
  return (now) => {
    number = now > at ? 0 : number + 1;
    at = Math.max(at, now);
    return { at, id: `${String(number).padStart(digits, '0')}-${randomUUID()}` };
  };
}
