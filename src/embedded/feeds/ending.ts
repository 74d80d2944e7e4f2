/** A signal that aborts with any of several, and on demand; `release` takes its listeners away. */
type Ending = {
  readonly signal: AbortSignal;
  readonly stop: () => void;
  readonly release: () => void;
};

/**
 * Links signals as `AbortSignal.any` does, but can be undone: the server's own signal outlives
 * every request, and must not collect what each of them left behind.
 */
export function linkEnding(...signals: readonly AbortSignal[]): Ending {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  for (const signal of signals) {
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  }
  return {
    signal: controller.signal,
    stop,
    release: () => {
      for (const signal of signals) signal.removeEventListener('abort', stop);
    },
  };
}

/** Calls back after each period in which `touch` was not called. */
export type SilenceTimer = { touch(): void; clear(): void };

/** One timer, moved on only when it fires: whoever touches it often pays nothing. */
export function onSilence(periodMs: number, call: () => void): SilenceTimer {
  let silentSince = Date.now();
  let timer: NodeJS.Timeout;
  const arm = (ms: number): void => {
    timer = setTimeout(() => {
      const left = silentSince + periodMs - Date.now();
      if (left > 0) return arm(left);
      silentSince = Date.now();
      arm(periodMs);
      call();
    }, ms);
  };
  arm(periodMs);
  return {
    touch: () => {
      silentSince = Date.now();
    },
    clear: () => clearTimeout(timer),
  };
}
