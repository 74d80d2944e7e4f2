import type { StoredDocument } from '../model/document.js';

/** Work that is offered. `signal`: its place in line. `doc`: its job, where that is known. */
export type WorkOffered = {
  readonly id: string;
  readonly signal: string;
  readonly owner: string;
  readonly doc?: StoredDocument;
};

/**
 * The line of a queue as far as it is known: in order, up to an end, where it has one. While what comes after that
 * end is read, offers are put there, too; they are not known to stand there before it was read.
 */
export type OfferLine = {
  /** Puts an offer where it stands; false: nobody knows what stands before it. */
  readonly put: (offer: WorkOffered) => boolean;
  readonly take: (offer: WorkOffered) => void;
  /** Whether an offer stands in the line; undefined: not known. */
  readonly has: (offer: WorkOffered) => boolean | undefined;
  /** The offers in their order, as the line changes meanwhile. */
  readonly offers: () => Generator<WorkOffered, void, undefined>;
  /** So many are known to stand there. */
  readonly length: () => number;
  readonly isWhole: () => boolean;
  /** What comes after the end is read from now on. @returns the last offer that is known */
  readonly open: () => WorkOffered | undefined;
  /** It was read up to an offer; undefined: as a whole. */
  readonly close: (last: WorkOffered | undefined) => void;
};

/** Makes an empty line of which nothing is known. It has so many offers at most. */
export function createOfferLine(most: number): OfferLine {
  let offers: WorkOffered[] = [];
  let end: WorkOffered | 'none' | 'start' = 'start';
  let isOpen = false;
  const isKnown = (offer: WorkOffered): boolean =>
    end === 'none' || (end !== 'start' && !isBefore(end, offer));
  const isAt = (place: number, { signal, id }: WorkOffered): boolean =>
    offers[place]?.signal === signal && offers[place].id === id;
  /** How many stand up to an offer, itself included. */
  const upTo = (offer: WorkOffered): number => {
    const place = placeIn(offers, offer);
    return isAt(place, offer) ? place + 1 : place;
  };
  const known = (): number => (end === 'none' ? offers.length : end === 'start' ? 0 : upTo(end));
  return {
    put(offer) {
      if (!isOpen && !isKnown(offer)) return false;
      const place = placeIn(offers, offer);
      offers.splice(place, isAt(place, offer) ? 1 : 0, offer);
      if (!isOpen && offers.length > most) {
        offers.length = most;
        end = offers.at(-1) ?? 'none';
      }
      return true;
    },
    take(offer) {
      const place = placeIn(offers, offer);
      if (isAt(place, offer)) offers.splice(place, 1);
    },
    has: (offer) => (isKnown(offer) ? isAt(placeIn(offers, offer), offer) : undefined),
    *offers() {
      for (let at = 0; ;) {
        const offer = offers[at];
        if (offer === undefined || !isKnown(offer)) return;
        yield offer;
        at = upTo(offer);
      }
    },
    length: known,
    isWhole: () => end === 'none',
    open: () => {
      isOpen = true;
      return typeof end === 'object' ? end : undefined;
    },
    close(last) {
      isOpen = false;
      end = last ?? 'none';
      const length = Math.min(known(), most);
      if (length === offers.length) return;
      offers = offers.slice(0, length);
      end = offers.at(-1) ?? end;
    },
  };
}

/** Where an offer is in a line, or would be. */
function placeIn(offers: readonly WorkOffered[], offer: WorkOffered): number {
  let from = 0;
  let to = offers.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(offers[middle] as WorkOffered, offer)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function isBefore(one: WorkOffered, other: WorkOffered): boolean {
  return one.signal === other.signal ? one.id < other.id : one.signal < other.signal;
}
