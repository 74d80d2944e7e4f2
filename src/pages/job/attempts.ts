import type { Doc } from '../answers.js';

/** An attempt as a job document tells it, whatever shape the document is in. Times in epoch ms. */
export type Attempt = {
  /** Its place in `steps`. */
  readonly place: number;
  readonly path: string;
  readonly name: string;
  readonly task: string;
  readonly attempt: number;
  readonly run: number;
  readonly phase: string;
  readonly state: string;
  readonly engine?: string;
  readonly accepted?: number;
  readonly start?: number;
  readonly end?: number;
  readonly exit?: number;
  /** When the next attempt may begin. */
  readonly due?: number;
  readonly since?: number;
  readonly until?: number;
  readonly signal?: string;
  readonly event?: string;
  readonly key?: string;
  readonly child?: string;
  readonly reported?: number;
  readonly failure?: { readonly name: string; readonly message: string; readonly code?: string };
  readonly warning?: string;
  /** What the plugin got, what it answered, and what it told on the way; undefined: nothing. */
  readonly params?: unknown;
  readonly result?: unknown;
  readonly progress?: unknown;
  readonly details?: unknown;
  readonly log: readonly {
    readonly at: number;
    readonly message: string;
    readonly data?: unknown;
  }[];
};

/** The attempts of a job in the order in which they were made; marks of structures are none. */
export function attemptsOf({ steps }: Doc): readonly Attempt[] {
  if (!Array.isArray(steps)) return [];
  return (steps as readonly unknown[]).flatMap((step, place) =>
    isObject(step) && step['structure'] === undefined ? [attemptOf(step, place)] : [],
  );
}

/** Claimed, running or waiting. */
export function isOpen({ state }: Attempt): boolean {
  return state === '$$ready' || state === '$$active' || state === '$$waiting';
}

/** Ended without success. */
export function isFailed({ state }: Attempt): boolean {
  return state === '$$error' || state === '$$timeout' || state === '$$cancelled';
}

/** When it began for whoever looks at it: waiting counts from when it waits. */
export function beganAt({ accepted, start, since, end }: Attempt): number | undefined {
  return accepted ?? start ?? since ?? end;
}

/** Whether the path of an attempt (`2.map.17.0`) is one of a node of the picture (`2.map.*.0`). */
export function isAt(path: string, node: string): boolean {
  if (path === node) return true;
  const words = path.split('.');
  const pattern = node.split('.');
  return (
    words.length === pattern.length &&
    pattern.every((word, i) => word === words[i] || (word === '*' && /^\d+$/.test(words[i] ?? '')))
  );
}

function attemptOf(step: Readonly<Record<string, unknown>>, place: number): Attempt {
  const { failure, warning, log } = step;
  return {
    place,
    path: textOf(step['path']) ?? String(place),
    name: textOf(step['name']) ?? textOf(step['task']) ?? 'step',
    task: textOf(step['task']) ?? '',
    attempt: numberOf(step['attempt']) ?? 1,
    run: numberOf(step['run']) ?? 1,
    phase: textOf(step['phase']) ?? 'main',
    state: textOf(step['state']) ?? '',
    ...texts(step, ['engine', 'signal', 'event', 'key', 'child']),
    ...numbers(step, ['accepted', 'start', 'end', 'exit', 'due', 'since', 'until', 'reported']),
    ...(isObject(failure) ? { failure: failureOf(failure) } : {}),
    ...(isObject(warning) ? { warning: failureOf(warning).message } : {}),
    ...rest(step, ['params', 'result', 'progress', 'details']),
    log: Array.isArray(log) ? (log as readonly unknown[]).filter(isObject).map(lineOf) : [],
  };
}

function failureOf({ name, message, code }: Readonly<Record<string, unknown>>) {
  const known = typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {};
  return { name: textOf(name) ?? 'Error', message: textOf(message) ?? '', ...known };
}

function lineOf({ at, message, data }: Readonly<Record<string, unknown>>) {
  return {
    at: numberOf(at) ?? 0,
    message: textOf(message) ?? JSON.stringify(message),
    ...(data === undefined ? {} : { data }),
  };
}

function texts<K extends string>(step: Readonly<Record<string, unknown>>, names: readonly K[]) {
  return pick(names, (name) => textOf(step[name]));
}
function numbers<K extends string>(step: Readonly<Record<string, unknown>>, names: readonly K[]) {
  return pick(names, (name) => numberOf(step[name]));
}
function rest<K extends string>(step: Readonly<Record<string, unknown>>, names: readonly K[]) {
  return pick(names, (name) => step[name]);
}
function pick<K extends string, V>(
  names: readonly K[],
  read: (name: K) => V | undefined,
): Partial<Record<K, V>> {
  const known = names.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(known) as Partial<Record<K, V>>;
}

/** An object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
