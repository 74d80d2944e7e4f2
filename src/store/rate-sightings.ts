/** When this process first saw the revisions of a document of grants (ms). */
export type Sightings = {
  /** A revision of this number exists, and with it all before it. */
  readonly saw: (gen: number) => void;
  /** The document was read: with another `born` it is another document of the same id. */
  readonly read: (born: unknown, gen: number) => void;
  /** This process wrote it; `sent`: when it began to do so. */
  readonly wrote: (born: string, gen: number, sent: number) => void;
  /** When a revision of that number, or a later one, was first seen. */
  readonly first: (gen: number) => number | undefined;
  /** Whatever was seen may be of another document. */
  readonly forget: () => void;
};

/** So many sightings are kept: of older revisions it counts when the first of these was seen. */
const mostSightings = 4_000;

/** @param steady the clock, ms: of engines one that never jumps */
export function createSightings(steady: () => number): Sightings {
  /** Both grow: the numbers, and when they were first seen. */
  let gens: number[] = [];
  let times: number[] = [];
  let born: unknown;
  const note = (gen: number, at: number): void => {
    if (gen <= (gens.at(-1) ?? 0)) return;
    gens.push(gen);
    times.push(at);
    if (gens.length <= 2 * mostSightings) return;
    gens = gens.slice(-mostSightings);
    times = times.slice(-mostSightings);
  };
  const forget = (): void => {
    gens = [];
    times = [];
  };
  const of = (which: unknown): void => {
    if (which !== born) forget();
    born = which;
  };
  return {
    saw: (gen) => note(gen, steady()),
    read: (which, gen) => {
      of(which);
      note(gen, steady());
    },
    wrote: (which, gen, sent) => {
      of(which);
      note(gen, Math.max(sent, times.at(-1) ?? sent));
    },
    first: (gen) => times[firstFrom(gens, gen)],
    forget,
  };
}

/** The place of the first of growing numbers that is not less; their count where all are. */
function firstFrom(numbers: readonly number[], least: number): number {
  let from = 0;
  let to = numbers.length;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if ((numbers[middle] as number) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
