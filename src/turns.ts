/** Of the 100 ms for which nothing may hold up the event loop, what one piece of long work takes, ms. */
const pieceMs = 10;

const waiting: (() => void)[] = [];
/** Whether somebody will give turns to those that wait. */
let isPlanned = false;

/** When long work was first seen in this round of the event loop; undefined: not yet. */
let roundFrom: number | undefined;

/**
 * Returns a promise when this round of the event loop has had a piece of time already, or others wait
 * for a turn, else undefined. Call it before work that may be long and cannot be cut: pieces of work
 * that follow each other without a pause then hold up nothing for longer than one of them takes.
 */
export function roundTurn(): Promise<void> | undefined {
  if (waiting.length > 0) return nextTurn();
  if (roundFrom === undefined) return void beginRound();
  return isOver(roundFrom) ? nextTurn() : undefined;
}

/**
 * Resolves when long work may take its next piece of time: the event loop has gone on since. Those that
 * wait get their turns in order, as many in one round as fit into a piece of time, but at least one.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(release);
  });
}

function release(): void {
  const from = beginRound();
  const giveTurn = (): void => {
    waiting.shift()?.();
    // A tick that is planned by a microtask comes after all that the turn does without a pause.
    queueMicrotask(() => process.nextTick(goOn));
  };
  const goOn = (): void => {
    if (waiting.length === 0) isPlanned = false;
    else if (isOver(from)) setImmediate(release);
    else giveTurn();
  };
  giveTurn();
}

function isOver(from: number): boolean {
  return performance.now() - from >= pieceMs;
}

function beginRound(): number {
  roundFrom = performance.now();
  setImmediate(endRound);
  return roundFrom;
}

function endRound(): void {
  roundFrom = undefined;
}

/**
 * Does work that is cut into pieces, of which each takes a few milliseconds; the event loop goes on in
 * between. `around` is called with each piece and has to run it.
 */
export async function takeTurns<T>(
  pieces: Iterator<unknown, T, undefined>,
  around: <R>(piece: () => R) => R = (piece) => piece(),
): Promise<T> {
  for (;;) {
    await roundTurn();
    const { done, value } = around(() => pieces.next());
    if (done === true) return value;
  }
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

/** Calls `over` after so many ms, however many; the answer calls it off. */
export type Waiter = (ms: number, over: () => void) => () => void;

/** The longest a timer of Node can wait; a longer one would fire at once. */
const longestWaitMs = 0x7fff_ffff;

/** By the clock of the process. */
export const after: Waiter = (ms, over) => {
  if (ms === Infinity) return () => undefined;
  if (ms <= longestWaitMs) {
    const timer = setTimeout(over, ms);
    return () => clearTimeout(timer);
  }
  const again = (): void => void (callOff = after(ms - longestWaitMs, over));
  let callOff = after(longestWaitMs, again);
  return () => callOff();
};

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
