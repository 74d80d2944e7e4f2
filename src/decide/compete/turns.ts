/** Work that waits for a permit of a limit whose keys take turns (`round_robin`). */
export type Waiting = { readonly value: string | undefined };

/** What is known of the permits of a limit. */
export type Served = {
  /** The values of the keys that have permits, one for each permit. */
  readonly holders: readonly string[];
  /** When a key last got a permit (epoch ms). */
  readonly served: ReadonlyMap<string, number>;
};

/**
 * The order in which those who wait get permits: of all keys the one that has the fewest, then the one that
 * waited longest, which is the one that got its last permit first. Within a key, and among keys that
 * never had one, they come in the order in which they are given.
 */
export function inTurns<T extends Waiting>(
  waiting: readonly T[],
  { holders, served }: Served,
): readonly T[] {
  const lines = new Map<string, { left: T[]; count: number; at: number; place: number }>();
  waiting.forEach((one, place) => {
    const value = one.value ?? 'null';
    const line = lines.get(value);
    if (line !== undefined) return void line.left.push(one);
    const count = holders.filter((holder) => holder === value).length;
    lines.set(value, { left: [one], count, at: served.get(value) ?? -Infinity, place });
  });
  const keys = [...lines.values()];
  const ordered: T[] = [];
  for (let turn = 0; turn < Math.min(waiting.length, mostTurns); turn += 1) {
    const next = keys.reduce((first, key) => (goesBefore(key, first) ? key : first));
    ordered.push(...next.left.splice(0, 1));
    next.count += 1;
    next.at = Infinity;
    next.place += waiting.length;
    if (next.left.length === 0) keys.splice(keys.indexOf(next), 1);
  }
  return [...ordered, ...keys.flatMap(({ left }) => left)];
}

/** The order of more than there can be permits matters to nobody. */
const mostTurns = 1_000;

type Turn = { readonly count: number; readonly at: number; readonly place: number };

function goesBefore(a: Turn, b: Turn): boolean {
  if (a.count !== b.count) return a.count < b.count;
  return a.at === b.at ? a.place < b.place : a.at < b.at;
}
