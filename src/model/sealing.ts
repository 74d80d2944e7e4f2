import { secretsIn } from './encrypted-values.js';
import { fieldOf, keysOf } from './secret-reference.js';
import type { Task } from './task.js';

/**
 * Which parameters of a task stay as its definition says. `all`: everything but what is `open`;
 * `some`: what is `sealed`, and nothing else.
 */
export type Seal =
  | { readonly kind: 'all'; readonly sealed: readonly string[]; readonly open: readonly string[] }
  | { readonly kind: 'some'; readonly sealed: readonly string[] };

type Params = Readonly<Record<string, unknown>>;

/**
 * What a task seals. `besideSecret`: an encrypted value stands beside its parameters, wherever it is from. A plugin
 * that may ask for sensitive values has secrets beside its parameters, too.
 */
export function sealOf(
  task: Pick<Task, 'params' | 'sealed' | 'open' | 'sensitive'>,
  besideSecret = false,
): Seal {
  const sealed = (task.sealed ?? []).map(asField);
  const open = (task.open ?? []).map(asField);
  return besideSecret || mayAskSensitive(task) || secretsIn(task.params).size > 0
    ? { kind: 'all', sealed, open }
    : { kind: 'some', sealed };
}

/** Whether the plugin of a task may ask for sensitive values, even if none of its parameters names one. */
export function mayAskSensitive({ sensitive }: Pick<Task, 'sensitive'>): boolean {
  return sensitive !== undefined && sensitive.length > 0;
}

/** Whether a parameter may not be set by anybody but the definition that seals it. */
export function isSealed(seal: Seal, field: string): boolean {
  const isNamed = seal.sealed.some((one) => isIn(field, one) || isIn(one, field));
  return isNamed || (seal.kind === 'all' && !seal.open.some((one) => isIn(field, one)));
}

/** Whether nothing in a parameter may be set: neither it nor anything below it. */
export function isWhollySealed(seal: Seal, field: string): boolean {
  if (seal.sealed.some((one) => isIn(field, one))) return true;
  return seal.kind === 'all' && !seal.open.some((one) => isIn(field, one) || isIn(one, field));
}

/** The first sealed parameter that `given` sets to something else than `defined`; undefined: none. */
export function overridden(seal: Seal, given: Params, defined: Params): string | undefined {
  if (seal.kind === 'some' && seal.sealed.length === 0) return undefined;
  const find = (own: Params, base: Params, above: readonly string[]): string | undefined => {
    for (const [key, value] of Object.entries(own)) {
      const old = Object.hasOwn(base, key) ? base[key] : undefined;
      const keys = [...above, key];
      const deep = isDeep(value, old);
      const below = deep ? find(value as Params, isPlain(old) ? old : {}, keys) : undefined;
      if (below !== undefined) return below;
      if (!deep && !isSame(value, old) && isSealed(seal, fieldOf(keys))) return fieldOf(keys);
    }
    return undefined;
  };
  return find(given, defined, []);
}

/** The parameters with the sealed ones of `defined` that are missing in them, at any depth of objects. */
export function withSealed(seal: Seal, given: Params, defined: Params): Params {
  const fill = (own: Params, base: Params, above: readonly string[]): Params => {
    const missing = Object.entries(base).flatMap(([key, value]): [string, unknown][] => {
      const keys = [...above, key];
      const field = fieldOf(keys);
      if (key === '__proto__' || !isSealed(seal, field)) return [];
      const there = Object.hasOwn(own, key) ? own[key] : undefined;
      if (there === undefined && isWhollySealed(seal, field)) return [[key, value]];
      if (!isPlain(value) || (there !== undefined && !isPlain(there))) return [];
      const filled = fill(there ?? {}, value, keys);
      return filled === there || Object.keys(filled).length === 0 ? [] : [[key, filled]];
    });
    return missing.length === 0 ? own : { ...own, ...Object.fromEntries(missing) };
  };
  return fill(given, defined, []);
}

/**
 * Whether two values are compared key by key. An object that adds nothing but itself has no keys to
 * compare: it is a value. Merging drops the key `__proto__`.
 */
function isDeep(value: unknown, old: unknown): boolean {
  if (!isPlain(value)) return false;
  if (old !== undefined) return isPlain(old);
  return Object.keys(value).some((key) => key !== '__proto__');
}

function isPlain(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values of documents are the same. Lists and what is in them are one value. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const areObjects = typeof a === 'object' && typeof b === 'object';
  return areObjects && JSON.stringify(a) === JSON.stringify(b);
}

function asField(written: string): string {
  return fieldOf(keysOf(written));
}

/** `a.b` is in `a` and in itself. */
function isIn(field: string, above: string): boolean {
  return field === above || field.startsWith(`${above}.`);
}
