/** A JSON value, or where and why a value is none. */
export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly at: string; readonly what: string };

/**
 * Levels of lists and objects in each other. `JSON.stringify` gives up at some thousands, how many
 * depends on who calls it: what is stored must be far from that.
 */
const deepest = 1_000;

/**
 * Copies a value as JSON would store it: `toJSON` is heeded, absent keys are left out, nothing
 * becomes null, an Error its name and message. What JSON would lose silently or not take at all
 * (functions, symbols, BigInt, Map, Set, circles, more than 1,000 levels) is named with its place instead.
 */
export function toJson(value: unknown): JsonResult {
  try {
    return { ok: true, value: copy(value, { at: 'it', above: [] }) ?? null };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, at: error.at, what: error.what };
    // Thrown by a `toJSON` of the value's own.
    if (error instanceof RangeError) return { ok: false, at: 'it', what: 'nested too deeply' };
    throw error;
  }
}

/** Unwinds the recursion; never leaves this file. */
class NotJson extends Error {
  constructor(
    readonly at: string,
    readonly what: string,
  ) {
    super(what);
  }
}

type Place = { readonly at: string; readonly above: readonly object[] };

function copy(value: unknown, place: Place): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'bigint':
    case 'symbol':
    case 'function':
      throw new NotJson(place.at, `a ${value instanceof Function ? 'function' : typeof value}`);
    case 'object':
      return value === null ? null : copyObject(value, place);
  }
}

function copyObject(value: object, place: Place): unknown {
  if (place.above.includes(value)) throw new NotJson(place.at, 'a circle');
  if (place.above.length >= deepest) {
    throw new NotJson('it', `nested deeper than ${deepest.toLocaleString('en')} levels`);
  }
  const within = { at: place.at, above: [...place.above, value] };
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copy((value.toJSON as () => unknown)(), within);
  }
  if (value instanceof Map || value instanceof Set) {
    throw new NotJson(place.at, `a ${value.constructor.name}`);
  }
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (Array.isArray(value)) {
    return value.map((item, i) => copy(item, { ...within, at: `${place.at}[${i}]` }) ?? null);
  }
  const entries = Object.entries(value)
    .map(([key, item]) => [key, copy(item, { ...within, at: inside(place.at, key) })] as const)
    .filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries);
}

const inside = (at: string, key: string): string => (at === 'it' ? key : `${at}.${key}`);
