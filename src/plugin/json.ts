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
    return { ok: true, value: copy(value, { above: [], keys: [] }) ?? null };
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

/** Where the copying is: the objects that a value is in, from the outside in, and their keys to it. */
type Place = { readonly above: object[]; readonly keys: (string | number)[] };

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
      throw new NotJson(
        textOf(place),
        `a ${value instanceof Function ? 'function' : typeof value}`,
      );
    case 'object':
      return value === null ? null : copyObject(value, place);
  }
}

function copyObject(value: object, place: Place): unknown {
  const { above } = place;
  if (above.includes(value)) throw new NotJson(textOf(place), 'a circle');
  if (above.length >= deepest) {
    throw new NotJson('it', `nested deeper than ${deepest.toLocaleString('en')} levels`);
  }
  above.push(value);
  const copied = copyMembers(value, place);
  above.pop();
  return copied;
}

function copyMembers(value: object, place: Place): unknown {
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copy((value.toJSON as () => unknown)(), place);
  }
  if (value instanceof Map || value instanceof Set) {
    throw new NotJson(textOf(place), `a ${value.constructor.name}`);
  }
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, i) => copyMember(i, item, place) ?? null);
  }
  const copied: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const member = copyMember(key, item, place);
    if (member === undefined) continue;
    if (key === '__proto__') Object.defineProperty(copied, key, { ...ordinary, value: member });
    else copied[key] = member;
  }
  return copied;
}

const ordinary = { enumerable: true, configurable: true, writable: true } as const;

function copyMember(key: string | number, member: unknown, place: Place): unknown {
  place.keys.push(key);
  const copied = copy(member, place);
  place.keys.pop();
  return copied;
}

/** The place as people write it, worked out only when there is something to tell of it. */
function textOf({ keys }: Place): string {
  return keys.reduce<string>((at, key) => {
    if (typeof key === 'number') return `${at}[${key}]`;
    return at === 'it' ? key : `${at}.${key}`;
  }, 'it');
}
