/** Watches that something goes on. */
export type SilenceWatch = {
  /** There was a sign of life: the time begins anew. */
  readonly heard: () => void;
  readonly stop: () => void;
};

/** A timer that fires this much late shows that the process itself stood still, ms. */
const standstillMs = 250;

/**
 * Calls `act` once when nothing was heard for `ms`. After a standstill of this process (a blocked
 * event loop, a suspended machine) the whole time is granted again: what arrived meanwhile has not
 * been read yet. It keeps no process alive.
 */
export function watchSilence(ms: number, act: () => void): SilenceWatch {
  let dueAt = performance.now() + ms;
  const fire = (): void => {
    const isLate = performance.now() - dueAt > standstillMs;
    if (isLate) heard();
    else act();
  };
  const timer = setTimeout(fire, ms).unref();
  const heard = (): void => {
    dueAt = performance.now() + ms;
    timer.refresh();
  };
  return { heard, stop: () => clearTimeout(timer) };
}
