/** What a slice of a map leaves as its result: what its items came to, and its steps by name. */
export type SliceResult = {
  readonly items?: readonly unknown[];
  /** By step name and by `<task>-<n>`, a list each; absent where `do` is one entry. */
  readonly results?: Readonly<Record<string, readonly unknown[]>>;
};

/** A slice with its number of items, and what it told; nothing when it has not ended. */
export type Part = { readonly size: number; readonly told: SliceResult };

/** What all items came to, in their order. */
export function itemsOf(parts: readonly Part[]): readonly unknown[] {
  return parts.flatMap(({ size, told }) => told.items ?? nothing(size));
}

/**
 * The results of each step in a sliced map, as lists. `names`: the map does one entry, under whose
 * names the results of the items are seen.
 */
export function listsOf(
  parts: readonly Part[],
  names: readonly string[] | undefined,
): Readonly<Record<string, readonly unknown[]>> {
  if (names !== undefined) {
    const items = itemsOf(parts);
    return Object.fromEntries(names.map((name) => [name, items]));
  }
  const all = new Set(parts.flatMap(({ told }) => Object.keys(told.results ?? {})));
  return Object.fromEntries(
    [...all].map((name) => [
      name,
      parts.flatMap(({ size, told }) => told.results?.[name] ?? nothing(size)),
    ]),
  );
}

function nothing(size: number): readonly null[] {
  return Array.from({ length: size }, () => null);
}
