import { createRate } from './rate.js';

/**
 * What happens to links that do not work.
 *
 * PF9 A link that was used, has expired or never was is refused with the same words after the same time, so that nobody
 *    learns from it which jobs and forms there are.
 */
export type LinkRefusals = {
  /** The seconds that an address has to wait when too many of its links were refused. */
  readonly wait: (address: string) => number | undefined;
  /** Counts a refusal; resolves when it may be told. `began`: when the request came, by `now`. */
  readonly refuse: (address: string, began: number) => Promise<void>;
  /** Of a steady clock, ms. */
  readonly now: () => number;
};

export type LinkRefusalParts = Pick<LinkRefusals, 'now'> & {
  readonly perSecond: number;
  readonly burst: number;
  readonly rest: (ms: number) => Promise<void>;
};

/** A refusal takes a whole number of these, ms: much longer than looking for the link takes. */
const paceMs = 400;

export function createLinkRefusals(parts: LinkRefusalParts): LinkRefusals {
  const { now, rest } = parts;
  const rate = createRate(parts);
  return {
    now,
    wait: rate.wait,
    refuse: async (address, began) => {
      rate.take(address);
      const took = now() - began;
      await rest(Math.max(1, Math.ceil(took / paceMs)) * paceMs - took);
    },
  };
}
