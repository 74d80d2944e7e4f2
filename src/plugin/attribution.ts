import { AsyncLocalStorage, AsyncResource, createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { PluginContext } from './api.js';
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

/** What the plugin that is called has begun: how much, and the last of it. */
const begun: { count: number; last?: object | undefined } = { count: 0 };
const countBegun = createHook({
  init: (_id, _type, _trigger, resource: object) => {
    if (running.getStore() === undefined) return;
    begun.count += 1;
    begun.last = resource;
  },
});

/**
 * The same for one call of a plugin's function. A call that begins nothing, or nothing but the promise
 * of its answer, leaves nothing to be followed.
 */
function callOnBehalfOf<T>(attribution: Attribution, call: () => T): T {
  if (isFollowed) return running.run(attribution, call);
  begun.count = 0;
  countBegun.enable();
  let answer: T | undefined;
  try {
    return (answer = running.run(attribution, call));
  } finally {
    countBegun.disable();
    isFollowed = begun.count > 1 || (begun.count === 1 && begun.last !== answer);
    begun.last = undefined;
    if (!isFollowed && loads === 0) running.disable();
  }
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
 * do not say; then it is the only running plugin in whose file the error was made.
 */
export function attributionOf(error?: unknown): Attribution | undefined {
  const own = running.getStore();
  if (own !== undefined || !(error instanceof Error)) return own;
  const stack = error.stack ?? '';
  const [only, other] = [...all].filter(({ file }) => stack.includes(file));
  return other === undefined ? only : undefined;
}
