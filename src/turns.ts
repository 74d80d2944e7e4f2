/** Of the 100 ms for which nothing may hold up the event loop, what one piece of long work takes, ms. */
const pieceMs = 10;

const waiting: (() => void)[] = [];

/**
 * Resolves when long work may take its next piece of time: the event loop has gone on since, and no
 * other work that asked for a turn has one in the same round of it.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(release);
  });
}

function release(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(release);
}

/**
 * To be asked in the middle of long work, between two small parts of it: answers a promise to wait for
 * when the work has taken its piece of time, else undefined.
 */
export function createTurns(mostMs = pieceMs): () => Promise<void> | undefined {
  let until = performance.now() + mostMs;
  return () => {
    if (performance.now() < until) return undefined;
    return nextTurn().then(() => {
      until = performance.now() + mostMs;
    });
  };
}
