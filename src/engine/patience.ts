import { setTimeout as sleep } from 'node:timers/promises';
import { TwsError } from '../errors.js';

/** Asks the store until it answers; undefined only when the engine ends first. */
export type Retry = <T>(ask: () => Promise<T>) => Promise<T | undefined>;

const firstWaitMs = 100;
const longestWaitMs = 5_000;

/**
 * That the database is away is told by the feed; `tell` hears every other reason, once until an
 * answer comes: a missing view or a missing right, for instance, which no patience mends.
 */
export function createRetry(signal: AbortSignal, tell: (reason: string) => void): Retry {
  let told = '';
  const hear = (error: unknown): void => {
    if (error instanceof TwsError && error.code === 'couch_unreachable') return;
    const reason = error instanceof Error ? error.message : String(error);
    if (reason !== told) tell(reason);
    told = reason;
  };
  return async (ask) => {
    for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
      try {
        const answer = await unlessAborted(ask(), signal);
        told = '';
        return answer;
      } catch (error) {
        hear(error);
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
