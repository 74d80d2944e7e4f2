import { getEventListeners } from 'node:events';

/** Signals whose plugins know that they were told to stop. */
const noticed = new WeakSet<AbortSignal>();

/**
 * A signal for a plugin that aborts together with the engine's and keeps whether the plugin noticed:
 * it had a listener on the signal at that moment, or has since read `aborted` or `reason` or called
 * `throwIfAborted`. `timers/promises` and `spawn` listen on behalf of the plugin that passed the signal
 * to them, until they are done. What `AbortSignal.any` made of it counts as the signal itself.
 * `fetch` and `Request` leave their listener behind until it is collected as garbage, and nothing tells
 * one that has ended from one that is under way: it counts as listening, because work that is done
 * twice is better than work that is lost.
 */
export function stopSignal(given: AbortSignal): AbortSignal {
  const own = new AbortController();
  const { signal } = own;
  const notice = (): void => void noticed.add(signal);
  watchReads(signal, notice);
  const abort = (): void => {
    const all = [signal, ...dependantsOf(signal)];
    if (all.some((one) => getEventListeners(one, 'abort').length > 0)) notice();
    for (const one of all.slice(1)) watchReads(one, notice);
    own.abort(given.reason);
  };
  if (given.aborted) abort();
  else given.addEventListener('abort', abort, { once: true });
  return signal;
}

/** Whether the plugin that got this signal (of `stopSignal`) noticed that it was told to stop. */
export function noticedStop(signal: AbortSignal): boolean {
  return noticed.has(signal);
}

/** Has `notice` called when the signal is asked about its abort. */
function watchReads(signal: AbortSignal, notice: () => void): void {
  const read = (key: 'aborted' | 'reason'): unknown => {
    if (Reflect.get(AbortSignal.prototype, 'aborted', signal) === true) notice();
    return Reflect.get(AbortSignal.prototype, key, signal);
  };
  const throwIfAborted = (): void => {
    if (read('aborted') === true) throw read('reason');
  };
  Object.defineProperties(signal, {
    aborted: { get: () => read('aborted') },
    reason: { get: () => read('reason') },
    throwIfAborted: { value: throwIfAborted },
  });
}

/** What `AbortSignal.any` made of this signal and is still used: Node keeps it under a symbol. */
function dependantsOf(signal: AbortSignal): readonly AbortSignal[] {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  const kept: unknown = key === undefined ? undefined : Reflect.get(signal, key);
  // A set of Node's own, which is no instance of `Set`.
  const references = (kept ?? new Set()) as ReadonlySet<WeakRef<AbortSignal>>;
  const found: AbortSignal[] = [];
  references.forEach((reference) => {
    const dependant = reference.deref();
    if (dependant !== undefined) found.push(dependant);
  });
  return found;
}
