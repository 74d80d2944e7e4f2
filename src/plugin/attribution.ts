import { AsyncLocalStorage, AsyncResource, createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { inspect, types } from 'node:util';
import type { PluginContext } from './api.js';
import type { Redact } from '../secrets/redaction.js';
import type { Failed } from './outcome.js';

/** Whose code runs: a plugin, and the attempt on behalf of which, if there is one. */
export type Attribution = {
  readonly plugin: string;
  /** The plugin's file, absolute. */
  readonly file: string;
  /** Job, step and attempt, as they stand in the log. */
  readonly about: Readonly<Record<string, unknown>>;
  /** When its time is over, epoch ms; absent when nothing limits it. */
  readonly endsAt?: number;
  /** Ends the attempt as failed; false when it had ended already, or when there is none. */
  readonly fail: (outcome: Failed) => boolean;
  /** The log of the attempt, where its console goes as well; absent until it is called. */
  log?: PluginContext['log'];
  /** Hides the secrets of the attempt; absent until it is called. */
  redact?: Redact | undefined;
};

const running = new AsyncLocalStorage<Attribution>();
const all = new Set<Attribution>();

/**
 * Whether contexts are followed through what is begun in them, from here on. Since Node 24 that costs next
 * to nothing; before, it makes every promise of the process dearer (a tenth of an engine's processor
 * time), so it begins when a plugin first leaves something to be followed.
 */
let isFollowed = Number.parseInt(process.versions.node, 10) >= 24;
/** Plugins that are being loaded: contexts are followed meanwhile. */
let loads = 0;

/** Runs something on behalf of a plugin: whatever it begins, now or later, is the plugin's. */
export function onBehalfOf<T>(attribution: Attribution, run: () => T): T {
  isFollowed = true;
  return running.run(attribution, run);
}

/**
 * What the plugin that is called has begun: how much, and the last of it. `wakes`: it has settled a promise
 * that something begun earlier may wait for.
 */
const begun: { count: number; id: number; last?: object | undefined; wakes: boolean } = {
  ...{ count: 0, id: 0, wakes: false },
};
const countBegun = createHook({
  init: (id, _type, _trigger, resource: object) => {
    if (running.getStore() === undefined) return;
    begun.count += 1;
    begun.id = id;
    begun.last = resource;
  },
  promiseResolve: (id) => {
    if (running.getStore() !== undefined && id !== begun.id) begun.wakes = true;
  },
});

/**
 * The same for one call of a plugin's function. A call that begins nothing, or nothing but the promise that
 * it returns, settled already, leaves nothing to be followed. Calls do not contain each other.
 */
function callOnBehalfOf<T>(attribution: Attribution, call: () => T): T {
  const run = (): T => running.run(attribution, () => adopted(call()));
  if (isFollowed) return run();
  Object.assign(begun, { count: 0, id: 0, wakes: false });
  countBegun.enable();
  let answer: T | undefined;
  try {
    answer = run();
    return answer;
  } finally {
    countBegun.disable();
    const { count, last, wakes } = begun;
    const isAnswerOnly = count === 0 || (count === 1 && last === answer && isSettled(answer));
    isFollowed ||= wakes || !isAnswerOnly;
    begun.last = undefined;
    if (!isFollowed && loads === 0) running.disable();
  }
}

/** What begins when somebody waits for it (a query that was built) begins on behalf of the plugin. */
function adopted<T>(answer: T): T {
  if (types.isPromise(answer) || !isThenable(answer)) return answer;
  isFollowed = true;
  return Promise.resolve(answer) as T;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  const mayHave = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return mayHave && typeof (value as { readonly then?: unknown }).then === 'function';
}

const short = { depth: 0, customInspect: false, maxStringLength: 0 } as const;

/** Whether this is a promise that has its result; nothing else of Node tells so at once. */
function isSettled(value: unknown): boolean {
  return types.isPromise(value) && !inspect(value, short).includes('<pending>');
}

/** Calls a function of a plugin. */
export type Caller = <T>(call: () => T) => T;

/** Calls functions on behalf of this plugin; as they are, when there is none. */
export function callerFor(attribution: Attribution | undefined): Caller {
  if (attribution === undefined) return (call) => call();
  return (call) => callOnBehalfOf(attribution, call);
}

/** What loads have begun that goes on: timers, sockets, files, by the ids of `async_hooks`. */
const goingOn = new Set<number>();
/** They do nothing by themselves: what settles a promise, and each query of a resolver, is one of its own. */
const passive: readonly string[] = ['PROMISE', 'DNSCHANNEL'];
const watchBegun = createHook({
  init: (id, type) => {
    if (!passive.includes(type) && running.getStore() !== undefined) goingOn.add(id);
  },
  destroy: (id) => void goingOn.delete(id),
});

/** The same for loading a plugin: it is followed afterwards if something that it began goes on. */
export async function loadOnBehalfOf<T>(
  attribution: Attribution,
  load: () => Promise<T>,
): Promise<T> {
  if (isFollowed) return await running.run(attribution, load);
  loads += 1;
  watchBegun.enable();
  try {
    return await running.run(attribution, load);
  } finally {
    // What has ended is told at the end of a turn.
    await turn();
    await turn();
    loads -= 1;
    if (loads === 0) stopWatching();
  }
}

function stopWatching(): void {
  watchBegun.disable();
  isFollowed ||= goingOn.size > 0;
  goingOn.clear();
  if (!isFollowed) running.disable();
}

/** Made before any plugin runs. */
const home = new AsyncResource('tws:engine');

/** Runs something that a plugin caused but that is the engine's own doing. */
export function onOwnBehalf<T>(run: () => T): T {
  return home.runInAsyncScope(run);
}

/** Counts an attempt among those that may be meant by their file; the answer ends that. */
export function trackAttribution(attribution: Attribution): () => void {
  all.add(attribution);
  return () => void all.delete(attribution);
}

/**
 * On whose behalf the code runs that asks, or that threw `error`. Some callbacks (`queueMicrotask`)
 * do not say; then it is the only running plugin in whose file the error was made. Nobody's attempt fails
 * for it when several of the plugin run.
 */
export function attributionOf(error?: unknown): Attribution | undefined {
  const own = running.getStore();
  if (own !== undefined || !(error instanceof Error)) return own;
  const stack = error.stack ?? '';
  const [first, ...others] = [...all].filter(({ file }) => stack.includes(file));
  if (first === undefined || others.length === 0) return first;
  // Which of its attempts it is, is not known; the plugin is.
  const isOne = others.every(({ plugin }) => plugin === first.plugin);
  return isOne ? { ...first, about: { plugin: first.plugin }, fail: () => false } : undefined;
}
