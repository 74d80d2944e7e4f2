import { isObject } from './object.js';

/** A copy without some keys. */
export function without<T extends object, K extends keyof T & string>(
  record: T,
  ...keys: readonly K[]
): Omit<T, K> & T {
  const copy = { ...record };
  for (const key of keys) delete copy[key];
  return copy;
}

/**
 * Deep merge of plain objects, strongest last. Arrays, `null`, `""` and `0` replace.
 * The key `__proto__` is dropped: documents come from anybody.
 */
export function merge(
  ...layers: readonly (Readonly<Record<string, unknown>> | undefined)[]
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    if (layer === undefined) continue;
    for (const key of Object.keys(layer)) {
      if (key === '__proto__') continue;
      const value = layer[key];
      const below = merged[key];
      merged[key] = isObject(value) ? merge(isObject(below) ? below : {}, value) : value;
    }
  }
  return merged;
}

/** The value at a dotted path of own keys; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, key)
          ? (at as Record<string, unknown>)[key]
          : undefined,
      value,
    );
}

/** A copy with the value at a dotted path; objects are made on the way. `__proto__` is left out. */
export function withValueAt(
  record: Readonly<Record<string, unknown>>,
  path: string,
  value: unknown,
): Record<string, unknown> {
  const [key = '', ...rest] = path.split('.');
  if (key === '__proto__') return merge(record);
  if (rest.length === 0) return merge(record, { [key]: value });
  const below = record[key];
  return { ...record, [key]: withValueAt(isObject(below) ? below : {}, rest.join('.'), value) };
}
