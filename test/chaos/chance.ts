/** Numbers from 0 to 1, the same for the same seed (mulberry32, public domain). */
export function chanceFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** One of a list that is not empty. */
export function oneOf<T>(list: readonly T[], chance: () => number): T {
  return list[Math.floor(chance() * list.length)] as T;
}

/** A whole number of the range, both ends included. */
export function between(least: number, most: number, chance: () => number): number {
  return least + Math.floor(chance() * (most - least + 1));
}

/** The list in another order. */
export function shuffled<T>(list: readonly T[], chance: () => number): readonly T[] {
  return list
    .map((item) => ({ item, place: chance() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
