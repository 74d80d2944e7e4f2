/** Of the 100 ms for which nothing may hold up the event loop, what one piece of long work takes, ms. */
const pieceMs = 10;

const waiting: (() => void)[] = [];

/** When long work was first seen in this round of the event loop; undefined: not yet. */
let roundFrom: number | undefined;

/**
 * To be asked before work that may be long and cannot be cut: answers a promise to wait for when this
 * round of the event loop has had a piece of time already, else undefined. Pieces of work that follow
 * each other without a pause then hold up nothing for longer than one of them takes.
 */
export function roundTurn(): Promise<void> | undefined {
  if (roundFrom === undefined) return void beginRound();
  return performance.now() - roundFrom < pieceMs ? undefined : nextTurn();
}

function beginRound(): void {
  roundFrom = performance.now();
  setImmediate(endRound);
}

function endRound(): void {
  roundFrom = undefined;
}

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
  beginRound();
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
