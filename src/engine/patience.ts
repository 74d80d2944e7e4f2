import { setTimeout as sleep } from 'node:timers/promises';

/** Asks the store until it answers; undefined only when the engine ends first. */
export type Retry = <T>(ask: () => Promise<T>) => Promise<T | undefined>;

const firstWaitMs = 100;
const longestWaitMs = 5_000;

/** The feed tells that the database is away, so here nothing is said, only tried again. */
export function createRetry(signal: AbortSignal): Retry {
  return async (ask) => {
    for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
      try {
        return await unlessAborted(ask(), signal);
      } catch {
        await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  };
}

/** The answer, or undefined when the signal comes first: a database may leave us waiting for long. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined);
    signal.addEventListener('abort', end);
    void answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
