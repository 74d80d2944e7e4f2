type Values = readonly (readonly [key: string, value: unknown])[];

/** Returns the last value that there is. */
export function lastValue(values: Values): unknown {
  return values.findLast(([, value]) => value !== undefined)?.[1];
}

/** Returns the values by number or name; undefined when there is none. */
export function valuesByKey(values: Values): unknown {
  const there = values.filter(([, value]) => value !== undefined);
  return there.length === 0 ? undefined : Object.fromEntries(there);
}

/** Returns the number that comes right after `stem` in a path. */
export function numberBelow(path: string, stem: string): number | undefined {
  const match = path.startsWith(`${stem}.`) ? /^\d+/.exec(path.slice(stem.length + 1)) : null;
  return match === null ? undefined : Number(match[0]);
}
