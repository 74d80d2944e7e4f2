import { createLru } from '../../memo.js';
import { LAST } from '../storage/level.js';
import type { OrderedMap } from '../storage/storage.js';

/**
 * How many rows lie before those of a query: CouchDB's B-tree knows that, ours would have to count
 * all of them each time. What was counted once is kept right by every row that comes or goes.
 *
 * O1 A number is kept only when nothing was being written while it was counted.
 * O2 Keys are compared as LevelDB does it, by their bytes.
 */
export type Offsets = {
  /** Rows of a view (`prefix`) with a key below this one, or above it. */
  readonly below: (prefix: string, key: string) => Promise<number>;
  readonly above: (prefix: string, key: string) => Promise<number>;
  /** Writes rows that come (1) or go (-1). What the write throws is thrown on. */
  readonly write: (moved: readonly Moved[], write: () => Promise<void>) => Promise<void>;
};

export type Moved = readonly [rowKey: string, step: 1 | -1];

/** So many places are kept; the one that was asked for longest ago goes first. */
const most = 64;

type Side = 'below' | 'above';
type Place = { readonly prefix: string; readonly bytes: Buffer; readonly side: Side; rows: number };

/** Counts in an index, whose row keys begin with the prefix of their view. */
export function createOffsets(map: OrderedMap): Offsets {
  const places = createLru<Place>(most);
  let writes = 0;
  let writing = 0;

  const read = async (side: Side, prefix: string, key: string): Promise<number> => {
    const name = `${side} ${key}`;
    const known = places.get(name);
    if (known !== undefined) return known.rows;
    const before = writes;
    const isQuiet = writing === 0;
    const [from, to] = side === 'below' ? [prefix, key] : [key, `${prefix}${LAST}`];
    // Both ends are counted; the key itself belongs to the rows of the query.
    const rows = (await map.count(from, to)) - (await map.count(key, key));
    if (!isQuiet || writes !== before) return rows;
    places.set(name, { prefix, bytes: Buffer.from(key), side, rows });
    return rows;
  };

  return {
    below: (prefix, key) => read('below', prefix, key),
    above: (prefix, key) => read('above', prefix, key),
    write: async (moved, write) => {
      writes += 1;
      writing += 1;
      try {
        for (const place of places.values()) move(place, moved);
        await write();
      } catch (error) {
        // Nobody knows how much of it was written.
        places.clear();
        throw error;
      } finally {
        writing -= 1;
      }
    },
  };
}

function move(place: Place, moved: readonly Moved[]): void {
  const { prefix, bytes, side } = place;
  for (const [rowKey, step] of moved) {
    if (!rowKey.startsWith(prefix)) continue;
    const order = Buffer.compare(Buffer.from(rowKey), bytes);
    if (side === 'below' ? order < 0 : order > 0) place.rows += step;
  }
}
