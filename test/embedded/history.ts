/** What a document was from one moment to another; `n` is undefined while there is none. */
type State = { readonly n: number | undefined; readonly begun: number; stored: number };

/** A document, the number it was seen with, and those that it may have had. */
export type Fault = readonly [id: string, seen: number | undefined, may: readonly unknown[]];

/** What was written and when, in ticks of a clock of its own, and what a reader may have seen of it. */
export type History = {
  now(): number;
  /** A write of `n`, or a deletion, begins; call what is returned once it is stored. */
  write(id: string, n: number | undefined): () => void;
  /** The documents that were seen in a state that they had at no time between two moments. */
  faults(seen: ReadonlyMap<string, number | undefined>, from: number, to: number): Fault[];
};

const never: State = { n: undefined, begun: 0, stored: 0 };

export function createHistory(): History {
  const states = new Map<string, State[]>();
  let ticks = 0;

  const possible = (id: string, from: number, to: number): (number | undefined)[] => {
    const all = states.get(id) ?? [never];
    return all
      .filter(({ begun }, i) => begun < to && (all[i + 1]?.stored ?? Infinity) > from)
      .map(({ n }) => n);
  };

  return {
    now: () => (ticks += 1),
    write(id, n) {
      const all = states.get(id) ?? [never];
      const state = { n, begun: (ticks += 1), stored: Infinity };
      states.set(id, [...all, state]);
      return () => {
        state.stored = ticks += 1;
      };
    },
    faults: (seen, from, to) =>
      [...seen].flatMap(([id, n]): Fault[] => {
        const may = possible(id, from, to);
        return may.includes(n) ? [] : [[id, n, may]];
      }),
  };
}
