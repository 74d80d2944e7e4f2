import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
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

/** Runs something on behalf of a plugin: whatever it begins, now or later, is the plugin's. */
export function onBehalfOf<T>(attribution: Attribution, run: () => T): T {
  return running.run(attribution, run);
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
