import { isObject } from '../model/object.js';

/** What a stored step says, read from a job document of any shape. Times are epoch ms. */
export type StepReading = {
  /** Its place in `steps`. */
  readonly place: number;
  readonly path: string;
  readonly name: string;
  readonly state: string;
  readonly attempt: number;
  readonly run: number;
  /** Claimed, running or waiting. */
  readonly open: boolean;
  /** Ended without success. */
  readonly failed: boolean;
  /** The sentence of its failure. */
  readonly failure?: string;
  readonly task?: string;
  readonly plugin?: string;
  readonly phase?: string;
  readonly engine?: string;
  /** The kind of the structure about which something was found out; no attempt was made. */
  readonly structure?: string;
  readonly child?: string;
  /** When the child was made again, because its document was deleted. */
  readonly remade?: number;
  readonly signal?: string;
  readonly worker?: string;
  /** Since when the worker has it. */
  readonly leased?: number;
  readonly event?: string;
  readonly key?: string;
  /** Of a decider that waits for any signal: how many had come. */
  readonly news?: number;
  readonly accepted?: number;
  readonly start?: number;
  /** Since when it waits, where it ran before. */
  readonly since?: number;
  readonly until?: number;
  readonly end?: number;
  readonly exit?: number;
  /** When the next attempt may begin. */
  readonly due?: number;
  /** The job whose result was used: it did not run. */
  readonly cachedFrom?: string;
  /** When its plugin last said how far it was. */
  readonly reported?: number;
};

const textKeys = [
  ...(['task', 'plugin', 'phase', 'engine', 'structure', 'child'] as const),
  ...(['signal', 'worker', 'event', 'key'] as const),
] as const;
const numberKeys = [
  ...(['remade', 'leased', 'news', 'accepted', 'start', 'since', 'until'] as const),
  ...(['end', 'exit', 'due', 'reported'] as const),
] as const;

/** States of a step that has not ended. */
const openStates = ['$$ready', '$$active', '$$waiting'];
/** States of a step that has ended without success. */
const failedStates = ['$$error', '$$timeout', '$$cancelled'];

/** Reads the steps of a job document, in their order; entries that are no objects are left out. */
export function readSteps({ steps }: Readonly<Record<string, unknown>>): readonly StepReading[] {
  if (!Array.isArray(steps)) return [];
  return (steps as readonly unknown[]).flatMap((step, place) =>
    isObject(step) ? [readStep(step, place)] : [],
  );
}

function readStep(step: Readonly<Record<string, unknown>>, place: number): StepReading {
  const state = textOr(step['state'], '');
  const failure = isObject(step['failure']) ? step['failure']['message'] : undefined;
  return {
    place,
    path: textOr(step['path'], ''),
    name: textOr(step['name'], textOr(step['task'], '')),
    state,
    attempt: numberOr(step['attempt'], 1),
    run: numberOr(step['run'], 1),
    open: openStates.includes(state),
    failed: failedStates.includes(state),
    ...(isObject(step['cached']) ? { cachedFrom: textOr(step['cached']['job'], '') } : {}),
    ...(typeof failure === 'string' ? { failure } : {}),
    ...texts(step, textKeys),
    ...numbers(step, numberKeys),
  };
}

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise;
const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

/** The keys of an object that hold texts. */
export function texts<K extends string>(
  from: Readonly<Record<string, unknown>>,
  keys: readonly K[],
): { readonly [P in K]?: string } {
  const found: { [P in K]?: string } = {};
  for (const key of keys) {
    const value = from[key];
    if (typeof value === 'string') found[key] = value;
  }
  return found;
}

/** The keys of an object that hold numbers. */
export function numbers<K extends string>(
  from: Readonly<Record<string, unknown>>,
  keys: readonly K[],
): { readonly [P in K]?: number } {
  const found: { [P in K]?: number } = {};
  for (const key of keys) {
    const value = from[key];
    if (typeof value === 'number') found[key] = value;
  }
  return found;
}
