/** What the process is asked: `stop` by the first SIGINT or SIGTERM, `force` by the second. */
export type Signals = {
  readonly stop: AbortSignal;
  readonly force: AbortSignal;
  /** Asks as a signal does. */
  readonly ask: () => void;
  /** Gives SIGINT and SIGTERM their ordinary meaning back. */
  readonly close: () => void;
};

/**
 * Listens to SIGINT, SIGTERM and, in a child that has a channel to its parent, to the parent's
 * end: an engine started by `tws start --engines` must not outlive it.
 */
export function watchSignals(): Signals {
  const stop = new AbortController();
  const force = new AbortController();
  const asked = (): void => {
    if (stop.signal.aborted) force.abort();
    else stop.abort();
  };
  process.on('SIGINT', asked);
  process.on('SIGTERM', asked);
  process.on('disconnect', asked);
  return {
    stop: stop.signal,
    force: force.signal,
    ask: asked,
    close: () => {
      process.off('SIGINT', asked);
      process.off('SIGTERM', asked);
      process.off('disconnect', asked);
    },
  };
}

/** Resolves when the signal is aborted; at once when it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
