import { canonical } from '../../model/canonical.js';
import { limitsIn, type Concurrency, type Strategy } from '../../model/concurrency.js';
import { secretsIn } from '../../model/encrypted-values.js';
import { isObject } from '../../model/object.js';
import { keyOf, ownerOf } from '../../model/task.js';
import type { PermitWant } from '../queries.js';

/** A limit of a flow or task, before its key is known. */
export type Limit = {
  /** Where the definition has it: `max_running`, `concurrency`, `concurrency[2]`. */
  readonly at: string;
  /** What tells it from other limits: `<flow>::<owner>` for `max_running`. */
  readonly identity: string;
  /** How sentences name it. */
  readonly title: string;
  readonly most: number;
  readonly strategy: Strategy;
  /** JSONata; absent: all share its permits. */
  readonly key?: string;
  readonly name?: string;
};

type Limited = {
  readonly name: string;
  readonly owner?: string;
  readonly max_running?: number;
  readonly concurrency?: Concurrency;
};

/** The limits of a flow: `max_running` is one of them. */
export function limitsOfFlow(flow: Limited): readonly Limit[] {
  const { name, owner, max_running: most } = flow;
  const own = limitsOf('flow', flow);
  if (most === undefined) return own;
  const title = `"max_running" of flow ${name}`;
  const identity = keyOf(name, owner);
  return [{ at: 'max_running', identity, title, most, strategy: 'queue' }, ...own];
}

/** The limits of a task. */
export function limitsOfTask(task: Limited): readonly Limit[] {
  return limitsOf('task', task);
}

/**
 * Limits of one name and owner are one limit; one without a name belongs to its flow or task, and to its
 * place there.
 */
function limitsOf(kind: 'flow' | 'task', of: Limited): readonly Limit[] {
  const { name: whose, concurrency } = of;
  const owner = ownerOf(of);
  return limitsIn(concurrency).map(({ limit, at }, i) => {
    const { name, key, limit: most, strategy = 'queue' } = limit;
    const nth = at === 'concurrency' ? 'the limit' : `limit ${i + 1}`;
    return {
      ...{ at, most, strategy },
      identity: canonical(name === undefined ? [owner, kind, whose, i] : [owner, name]),
      title: name === undefined ? `${nth} of ${kind} ${whose}` : `limit ${name}`,
      ...(key === undefined ? {} : { key }),
      ...(name === undefined ? {} : { name }),
    };
  });
}

/** Longer identities are kept as a hash: they are keys of a view. */
const longestKey = 500;
/** Longer values are neither shown nor stored. */
const longestValue = 64;
/** So many digits of a hash tell values apart for people. */
const shownDigits = 12;

/** A limit whose key is known, with what people read of it. */
export type KeyedLimit = PermitWant & Pick<Limit, 'at' | 'identity' | 'title'>;

/**
 * The permit that a limit asks for. The value of its key is part of its identity, but for `round_robin`,
 * whose permits are those of all keys together. A key that gives nothing is the key `null`. A value that is no
 * short text, number or boolean, or that is encrypted, appears in locks, logs and sentences as a hash.
 */
export function keyedLimit(
  { at, identity, title, most, strategy, key }: Limit,
  value: unknown,
  hash: (text: string) => string,
): KeyedLimit {
  const text = storedKey(value, hash);
  const isShared = strategy === 'round_robin';
  const id = at === 'max_running' ? identity : `limit ${identity}${isShared ? '' : ` ${text}`}`;
  return {
    ...{ at, identity, most, strategy },
    key: id.length > longestKey ? hash(id) : id,
    title: key === undefined ? title : `${title} for ${shownKey(text)}`,
    ...(key === undefined && !isShared ? {} : { value: text }),
  };
}

/** The value of a key as documents have it: JSON of a short text, number or boolean, or a hash. */
export function storedKey(value: unknown, hash: (text: string) => string): string {
  const whole = canonical(value) ?? 'null';
  return isPlain(value, whole) ? whole : hash(whole);
}

/** The same for people; a hash begins like no JSON of such a value. */
export function shownKey(text: string): string {
  const isValue = /^["\-\dtfn]/.test(text);
  return isValue ? text : `hash ${text.replace(/^lock:/, '').slice(0, shownDigits)}`;
}

function isPlain(value: unknown, text: string): boolean {
  const isLong = text.length > longestValue;
  return !isLong && !isObject(value) && !Array.isArray(value) && secretsIn({ value }).size === 0;
}

/** What the key of a limit says: what has the limit, or its name, and whose it is. */
export type LimitName = {
  readonly of: 'flow' | 'task' | 'name';
  readonly name: string;
  readonly owner: string;
  /** Where the definition has it: `max_running`, or the number of the limit in its list. */
  readonly at: 'max_running' | number;
};

/**
 * Reads the key of a permit; `value`: that of the key of its limit, as the lock has it. Undefined where the key is
 * a hash: of very long names.
 */
export function readLimitKey(key: string, value = 'null'): LimitName | undefined {
  const [, name, owner] = /^(.*)::(.*)$/s.exec(key) ?? [];
  const whole = key.replace(/^limit /, '');
  const identity = whole.endsWith(` ${value}`) ? whole.slice(0, -value.length - 1) : whole;
  const parts = whole === key ? undefined : identityIn(identity);
  if (parts !== undefined) return parts;
  if (name === undefined || owner === undefined) return undefined;
  return { of: 'flow', name, owner, at: 'max_running' };
}

function identityIn(text: string): LimitName | undefined {
  try {
    const [owner, first, name, at] = JSON.parse(text) as [string, string, string?, number?];
    if (name === undefined || at === undefined) return { of: 'name', name: first, owner, at: 0 };
    return { of: first as 'flow' | 'task', name, owner, at };
  } catch {
    // A flow of that name has "max_running".
    return undefined;
  }
}

/** Each limit once: of several that are the same one the lowest number counts. */
export function distinct(limits: readonly KeyedLimit[]): readonly KeyedLimit[] {
  return limits.filter(({ key, most }, i) =>
    limits.every(
      (other, j) => other.key !== key || most < other.most || (most === other.most && i <= j),
    ),
  );
}

/** The text whose hash is the id of a permit: the one of that number of a limit. */
export function permitText(key: string, number: number): string {
  return `permit ${key} ${number}`;
}
