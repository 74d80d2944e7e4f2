import { isObject } from './object.js';

/*
 * How two changes of one value are brought together: of a definition by two people, or by a file and the database.
 * `base` is what both began with; without one it is empty, so nothing counts as removed.
 *
 * PL1 What only one side has changed, added or removed is taken from that side.
 * PL2 What both have changed in the same way is no conflict.
 * PL3 Objects are merged key by key, and lists of the same length on all three sides entry by entry; any other list
 *     is one value.
 * PL4 What both have changed differently is a conflict: it is told, and the preferred side is taken there.
 */

/** One place where two people wrote different things. */
export type Conflict = {
  /** JSON path, as the checks write it. */
  readonly path: string;
  /** undefined: it was removed there. */
  readonly mine: unknown;
  readonly theirs: unknown;
};

/** What one edition has otherwise than another; `before` or `after` undefined: it is not there. */
export type Difference = {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
};

/** Both changes in one value, and where they meet. */
export type Merged = { readonly value: unknown; readonly conflicts: readonly Conflict[] };

/** Whose value stands where both have changed it; by its path. */
export type Prefer = (path: string) => 'mine' | 'theirs';

const mineAlways: Prefer = () => 'mine';

/**
 * Joins two changes of one value: of each key the one that was changed. Lists are looked at item by item
 * while all have the same length, and as a whole otherwise.
 */
export function mergeEdits(
  base: unknown,
  mine: unknown,
  theirs: unknown,
  prefer: Prefer = mineAlways,
): Merged {
  return mergeAt({ base, mine, theirs }, prefer, '');
}

type Three = { readonly base: unknown; readonly mine: unknown; readonly theirs: unknown };

function mergeAt({ base, mine, theirs }: Three, prefer: Prefer, path: string): Merged {
  if (isSameJson(mine, theirs) || isSameJson(base, theirs)) return { value: mine, conflicts: [] };
  if (isSameJson(base, mine)) return { value: theirs, conflicts: [] };
  if (isObject(mine) && isObject(theirs)) {
    return mergeKeys({ base: isObject(base) ? base : {}, mine, theirs }, prefer, path);
  }
  if (isList(mine) && isList(theirs) && isList(base)) {
    const isLong = base.length === mine.length && mine.length === theirs.length;
    if (isLong) return mergeItems({ base, mine, theirs }, prefer, path);
  }
  const value = prefer(path) === 'mine' ? mine : theirs;
  return { value, conflicts: [{ path, mine, theirs }] };
}

type ThreeOf<T> = { readonly base: T; readonly mine: T; readonly theirs: T };
type Fields = Readonly<Record<string, unknown>>;

function mergeKeys({ base, mine, theirs }: ThreeOf<Fields>, prefer: Prefer, path: string): Merged {
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
  const merged = keys.map((key) => {
    const own = (of: Fields): unknown => (Object.hasOwn(of, key) ? of[key] : undefined);
    const three = { base: own(base), mine: own(mine), theirs: own(theirs) };
    return { key, ...mergeAt(three, prefer, below(path, key)) };
  });
  const kept = merged.filter(({ value }) => value !== undefined);
  return {
    value: Object.fromEntries(kept.map(({ key, value }) => [key, value])),
    conflicts: merged.flatMap(({ conflicts }) => conflicts),
  };
}

function mergeItems(
  { base, mine, theirs }: ThreeOf<readonly unknown[]>,
  prefer: Prefer,
  path: string,
): Merged {
  const items = mine.map((item, i) =>
    mergeAt({ base: base[i], mine: item, theirs: theirs[i] }, prefer, `${path}[${i}]`),
  );
  return {
    value: items.map(({ value }) => value),
    conflicts: items.flatMap(({ conflicts }) => conflicts),
  };
}

/** What has changed between two editions, down to the keys and items that have. */
export function differences(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isSameJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) =>
      differences(
        Object.hasOwn(before, key) ? before[key] : undefined,
        Object.hasOwn(after, key) ? after[key] : undefined,
        below(path, key),
      ),
    );
  }
  if (isList(before) && isList(after) && before.length === after.length) {
    return before.flatMap((item, i) => differences(item, after[i], `${path}[${i}]`));
  }
  return [{ path, before, after }];
}

/** Whether two values are the same JSON; the order of keys does not count. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, i) => isSameJson(item, other[i]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameJson(one[key], other[key]))
  );
}

function below(path: string, key: string): string {
  if (path !== '' && !/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
