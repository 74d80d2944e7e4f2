import { systemClock, type Clock } from '../../clock/clock.js';

/** Waits for signs of life. */
export type HeartbeatWatch = {
  /** A sign of life. */
  readonly beat: () => void;
  readonly stop: () => void;
};

/**
 * Calls `over` once, when there was no sign of life for so many ms. Time in which
 * this process stood still does not count: another attempt may have blocked it.
 */
export function watchHeartbeat(
  ms: number,
  over: () => void,
  { steady, after }: Pick<Clock, 'steady' | 'after'> = systemClock,
): HeartbeatWatch {
  let heardAt = steady();
  let stopped = false;
  let callOff = (): void => undefined;
  const listen = (forMs: number): void => {
    const due = steady() + forMs;
    // What came while the process stood still is heard before the silence is judged.
    callOff = after(forMs, () => void setImmediate(judge, due));
  };
  const judge = (due: number): void => {
    if (stopped) return;
    const now = steady();
    if (now - due > Math.max(100, ms / 2)) heardAt = now;
    const leftMs = Math.ceil(heardAt + ms - now);
    if (leftMs > 0) return listen(leftMs);
    stopped = true;
    over();
  };
  listen(ms);
  return {
    beat: () => {
      heardAt = steady();
    },
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}
