import { createLru } from '../../memo.js';
import { isIPv6 } from 'node:net';

/** Says who asks too often. */
export type Rate = {
  /** Takes one request; answers the seconds to wait when it is one too many, else undefined. */
  readonly take: (who: string) => number | undefined;
  /** The same answer, and takes none. */
  readonly wait: (who: string) => number | undefined;
  /** What somebody may still ask for. */
  readonly left: (who: string) => RateLeft;
};

/** So many requests of so many are left; all of them again after `fullInMs`. */
export type RateLeft = {
  readonly limit: number;
  readonly remaining: number;
  readonly fullInMs: number;
};

export type RateOptions = {
  /** Requests that come back each second. */
  readonly perSecond: number;
  /** Requests that can be saved up. */
  readonly burst: number;
  /** Of any clock that goes on steadily, ms. */
  readonly now: () => number;
};

/** So many are kept in mind; whoever is forgotten begins with a full bucket. */
const most = 10_000;

/** A bucket of tokens for everybody who asks. */
export function createRate({ perSecond, burst, now }: RateOptions): Rate {
  const buckets = createLru<{ readonly tokens: number; readonly at: number }>(most);
  const tokensOf = (who: string, at: number): number => {
    const before = buckets.get(who) ?? { tokens: burst, at };
    return Math.min(burst, before.tokens + ((at - before.at) / 1000) * perSecond);
  };
  const waitOf = (tokens: number): number | undefined =>
    tokens < 1 ? Math.max(1, Math.ceil((1 - tokens) / perSecond)) : undefined;
  return {
    wait: (who) => waitOf(tokensOf(who, now())),
    left: (who) => {
      const tokens = tokensOf(who, now());
      const fullInMs = ((burst - tokens) / perSecond) * 1000;
      return { limit: burst, remaining: Math.floor(tokens), fullInMs };
    },
    take: (who) => {
      const at = now();
      const tokens = tokensOf(who, at);
      buckets.set(who, { tokens: tokens < 1 ? tokens : tokens - 1, at });
      return waitOf(tokens);
    },
  };
}

/**
 * Whom an address stands for: of IPv6 the network of 64 bits, since whoever has one address there has
 * them all.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
