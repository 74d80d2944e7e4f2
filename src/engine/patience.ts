import { setTimeout as sleep } from 'node:timers/promises';
import { TwsError } from '../errors.js';

/** Asks the store until it answers; undefined only when the engine ends first. */
export type Retry = <T>(ask: () => Promise<T>) => Promise<T | undefined>;

const firstWaitMs = 100;
const longestWaitMs = 5_000;
/** The database may be back at any moment. */
const longestAwayMs = 2_000;

/**
 * That the database is away is told by the feed; `tell` hears every other reason, once until an
 * answer comes: a missing view or a missing right, for instance, which no patience mends. As soon as
 * one question is answered, all that wait for a database that was away are asked again.
 */
export function createRetry(signal: AbortSignal, tell: (reason: string) => void): Retry {
  let told = '';
  const waiting = new Set<() => void>();
  const hear = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason !== told) tell(reason);
    told = reason;
  };
  const answered = (): void => {
    told = '';
    for (const wake of waiting) wake();
    waiting.clear();
  };
  /** Until one of the others has got an answer, but for so long at the most. */
  const untilBack = async (mostMs: number): Promise<void> => {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end);
    waiting.add(end);
    await rest(mostMs, over.signal);
    waiting.delete(end);
    signal.removeEventListener('abort', end);
  };
  return async (ask) => {
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const answer = await unlessAborted(ask(), signal);
        answered();
        return answer;
      } catch (error) {
        const isAway = error instanceof TwsError && error.code === 'couch_unreachable';
        if (!isAway) hear(error);
        const waitMs = firstWaitMs * 2 ** Math.min(tries, 10);
        await rest(isAway ? firstWaitMs : Math.min(longestWaitMs, waitMs), signal);
        if (isAway) await untilBack(Math.min(longestAwayMs, waitMs));
      }
    }
    return undefined;
  };
}

/**
 * Waits before something is tried anew that has just failed, `tries` times in a row: longer each time,
 * and not as long for one as for another. Ends with the signal.
 */
export async function pause(tries: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(longestAwayMs, firstWaitMs * 2 ** Math.min(tries, 10));
  await rest(ms * (0.5 + Math.random() / 2), signal);
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** The answer, or undefined when the signal comes first: a database may leave us waiting for long. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined);
    signal.addEventListener('abort', end);
    void answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
