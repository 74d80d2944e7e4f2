/** Calls `act` soon after being asked, and at most once in so many ms, however often it is asked. */
export function throttled(act: () => void, everyMs: number): { ask: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  return {
    ask: () => {
      if (timer !== undefined) return;
      const wait = Math.max(0, last + everyMs - performance.now());
      timer = setTimeout(() => {
        timer = undefined;
        last = performance.now();
        act();
      }, wait);
    },
    stop: () => clearTimeout(timer),
  };
}
