import { getEventListeners } from 'node:events';

/** Signals whose plugins know that they were told to stop. */
const noticed = new WeakSet<AbortSignal>();

/**
 * A signal for a plugin that aborts together with the engine's and keeps whether the plugin noticed:
 * it had a listener on the signal at that moment, or has since read `aborted` or `reason` or called
 * `throwIfAborted`. `fetch`, `timers/promises`, `spawn` and `AbortSignal.any` listen on behalf of the
 * plugin that passed the signal to them.
 */
export function stopSignal(given: AbortSignal): AbortSignal {
  const own = new AbortController();
  const { signal } = own;
  const read = (key: 'aborted' | 'reason'): unknown => {
    if (Reflect.get(AbortSignal.prototype, 'aborted', signal) === true) noticed.add(signal);
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
  const abort = (): void => {
    if (isListenedTo(signal)) noticed.add(signal);
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

/** Node keeps the signals that `AbortSignal.any` made of this one apart from the listeners. */
function isListenedTo(signal: AbortSignal): boolean {
  if (getEventListeners(signal, 'abort').length > 0) return true;
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  if (key === undefined) return false;
  // A set of Node's own, which is no instance of `Set`.
  const { size } = (Reflect.get(signal, key) ?? {}) as { readonly size?: unknown };
  return size !== 0;
}
