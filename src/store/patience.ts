/**
 * How long requests of one kind may be silent. A server that hangs is given up soon; one that is
 * slow is found out and waited for.
 *
 * T1 The limit grows only by answers that took long, also by late ones: silence teaches nothing, so
 *    an outage, however long, makes nobody wait longer afterwards.
 * T2 Each answer that was fast takes a part of what was learnt back.
 */
export type Patience = {
  /** The limit for a request with so many bytes to send, ms. */
  readonly limitMs: (bytes: number) => number;
  /** Records how long an answer took, ms, for a request of so many bytes. */
  readonly answered: (ms: number, bytes: number) => void;
};

/** A request on a server that neither hangs nor is overloaded is answered by then, ms. */
const usualMs = 3_000;
/** No answer is waited for longer, ms. */
export const longestMs = 60_000;
/** What a link is expected to carry, bytes a millisecond; a slower one is found out. */
const usualRate = 1_000;
/** Of the time that an answer took, what the next may take. */
const margin = 2;
/** What one fast answer leaves of what was learnt. */
const forgetting = 0.8;

/** For a question that nothing but its caller limits, who aborts its signal. */
export const unlimited: Patience = {
  // As long as a timer can be.
  limitMs: () => 2 ** 31 - 1,
  answered: () => undefined,
};

export function createPatience(leastMs: number = usualMs): Patience {
  /** Times of the usual limit. */
  let factor = 1;
  return {
    limitMs: (bytes) => {
      const usual = leastMs + bytes / usualRate;
      return Math.min(Math.max(longestMs, usual), factor * usual);
    },
    answered: (ms, bytes) => {
      const usual = leastMs + bytes / usualRate;
      factor = Math.max(1, forgetting * factor, (margin * ms) / usual);
    },
  };
}

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
