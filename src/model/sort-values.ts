const alphabet = new Intl.Collator('en', { numeric: true });

/** What a list is sorted by: a moment or a duration (ms), or a name; undefined: there is none. */
export type SortValue = number | string | undefined;

/**
 * Compares by the order of lists of jobs: the newest and the longest first, names by alphabet (numbers in
 * them by their size). What has no value comes last in either direction.
 */
export function compareValues(a: SortValue, b: SortValue, isReversed: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const areNumbers = typeof a === 'number' && typeof b === 'number';
  const order = areNumbers ? b - a : alphabet.compare(String(a), String(b));
  return isReversed ? -order : order;
}
