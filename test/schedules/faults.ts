import { between } from '../chaos/chance.js';

/** One copy is out of reach for a while. Times are ms from the beginning. */
export type Outage = {
  readonly copy: number;
  readonly from: number;
  readonly to: number;
  /** `down`: nobody reaches it. `cut`: it and what talks to its node reach nothing but each other. */
  readonly kind: 'down' | 'cut';
};

/** What goes wrong in a schedule, as shares from 0 to 1 of the messages it concerns. */
export type Faults = {
  /** A request never comes to a copy. */
  readonly dropped: number;
  /** The reply of a copy is lost. */
  readonly unheard: number;
  /** The connection breaks before the answer, the request goes on. */
  readonly broken: number;
  /** A message takes up to half a second. */
  readonly slow: number;
  /** A message takes up to 20 s: it comes when nobody thinks of it any more. */
  readonly stray: number;
  /** A feed event comes twice. */
  readonly repeated: number;
  readonly outages: readonly Outage[];
  /** From then on nothing goes wrong any more, and everything under way is delivered. */
  readonly endAt: number;
};

/** Some schedules are calm, some are wild. */
export function drawFaults(chance: () => number, endAt: number): Faults {
  const share = (most: number): number => (chance() < 0.4 ? 0 : most * chance());
  return {
    dropped: share(0.15),
    unheard: share(0.15),
    broken: share(0.15),
    slow: share(0.5),
    stray: share(0.15),
    repeated: share(0.3),
    outages: chance() < 0.6 ? [] : drawOutages(chance, endAt),
    endAt,
  };
}

/** One after the other: two copies are never away at the same time. */
function drawOutages(chance: () => number, endAt: number): readonly Outage[] {
  const outages: Outage[] = [];
  for (let at = between(0, 3_000, chance); at < endAt; at += between(100, 8_000, chance)) {
    const to = Math.min(endAt, at + between(50, 10_000, chance));
    const kind = chance() < 0.5 ? 'down' : 'cut';
    outages.push({ copy: between(0, 2, chance), from: at, to, kind });
    at = to;
    if (chance() < 0.4) break;
  }
  return outages;
}
