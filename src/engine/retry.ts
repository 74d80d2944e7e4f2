import { systemClock, type Waits } from '../clock/clock.js';
import { TwsError } from '../errors.js';
import { usualBackoff } from '../store/backoff.js';

/**
 * Asks the store until it answers; undefined only when the engine ends first. What `isFinal` picks is
 * thrown: waiting does not mend it.
 */
export type Retry = <T>(
  ask: () => Promise<T>,
  isFinal?: (error: unknown) => boolean,
) => Promise<T | undefined>;

export type RetryOptions = {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /**
   * Is called with a sentence about what is wrong and what to do when a question begins to wait. Further
   * questions that wait for the same reason are not reported until none of them waits any more.
   */
  readonly report: (reason: string) => void;
  /** Whether others report, as the feed does, that the database does not answer; default: nobody. */
  readonly isAwayReported?: () => boolean;
  /** By which it waits; default: the clock of the machine. */
  readonly clock?: Waits;
};

const firstWaitMs = 100;
const longestWaitMs = 5_000;
/** The database may be back at any moment. */
const longestAwayMs = 2_000;
/** A refused password is tried once more soon: a server that starts may not know its users yet. */
const firstRefusedMs = 1_000;

/**
 * Asks again after whatever a store does: no answer, an answer that is not one, a missing view, a
 * missing right. The wait grows up to a limit that suits the cause. As soon as one question is
 * answered, all that wait for a database that was away are asked again.
 */
export function createRetry({
  signal,
  report,
  isAwayReported,
  clock = systemClock,
}: RetryOptions): Retry {
  const causes = createCauseReporter(report);
  const waiting = new Set<() => void>();
  const answered = (): void => {
    for (const wake of waiting) wake();
    waiting.clear();
  };
  /** Waits until one of the others has got an answer, for at most `mostMs`. */
  const untilBack = async (mostMs: number): Promise<void> => {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end);
    waiting.add(end);
    await clock.sleep(mostMs, over.signal);
    waiting.delete(end);
    signal.removeEventListener('abort', end);
  };
  const wait = async (error: unknown, tries: number): Promise<void> => {
    const waitMs = firstWaitMs * 2 ** Math.min(tries, 10);
    const kind = kindOf(error);
    switch (kind) {
      case 'other':
        return clock.sleep(Math.min(longestWaitMs, waitMs), signal);
      case 'away':
      case 'refused':
        await clock.sleep(firstWaitMs, signal);
        return untilBack(kind === 'away' ? Math.min(longestAwayMs, waitMs) : refusedMs(tries));
    }
  };
  return async (ask, isFinal = () => false) => {
    // Most questions are answered at once.
    let voice: Voice | undefined;
    try {
      for (let tries = 0; !signal.aborted; tries += 1) {
        try {
          const answer = await unlessAborted(ask(), signal);
          if (waiting.size > 0) answered();
          return answer;
        } catch (error) {
          if (isFinal(error)) throw error;
          const isReported = kindOf(error) === 'away' && isAwayReported?.() === true;
          voice ??= causes.voice();
          voice.meets(isReported ? undefined : error);
          await wait(error, tries);
        }
      }
      return undefined;
    } finally {
      voice?.meets(undefined);
    }
  };
}

/** `away`: the database does not answer; `refused`: it does not take the password. */
function kindOf(error: unknown): 'away' | 'refused' | 'other' {
  const code = error instanceof TwsError ? error.code : undefined;
  if (code === 'couch_unreachable') return 'away';
  return code === 'couch_unauthorized' || code === 'couch_locked' ? 'refused' : 'other';
}

/** CouchDB locks an account after five refusals in five minutes. */
function refusedMs(tries: number): number {
  return tries === 0 ? firstRefusedMs : usualBackoff.refusedMs;
}

/** Of one question. Undefined: nothing that has to be reported keeps it from its answer now. */
type Voice = { readonly meets: (error: unknown) => void };

/** Reports a cause when the first question meets it, and again only after none has met it any more. */
function createCauseReporter(report: (reason: string) => void) {
  const meeting = new Map<string, number>();
  const leave = (key: string): void => {
    const others = (meeting.get(key) ?? 1) - 1;
    if (others === 0) meeting.delete(key);
    else meeting.set(key, others);
  };
  const enter = (key: string, error: unknown): void => {
    const others = meeting.get(key) ?? 0;
    meeting.set(key, others + 1);
    if (others === 0)
      report(error instanceof TwsError ? `${error.message} ${error.hint}` : textOf(error));
  };
  return {
    voice: (): Voice => {
      let met: string | undefined;
      return {
        meets: (error) => {
          const key = error === undefined ? undefined : keyOf(error);
          if (key === met) return;
          const former = met;
          met = key;
          if (key !== undefined) enter(key, error);
          if (former !== undefined) leave(former);
        },
      };
    },
  };
}

/** Which documents or views meet it makes no other cause. */
function keyOf(error: unknown): string {
  return error instanceof TwsError ? error.code : textOf(error);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Waits before something is tried anew that has just failed, `tries` times in a row: longer each time,
 * and not as long for one as for another. Ends with the signal.
 */
export async function backOff(
  tries: number,
  signal: AbortSignal,
  clock: Waits = systemClock,
): Promise<void> {
  const ms = Math.min(longestAwayMs, firstWaitMs * 2 ** Math.min(tries, 10));
  await clock.sleep(ms * (0.5 + Math.random() / 2), signal);
}

/** The answer, or undefined when the signal comes first: a database may leave us waiting for long. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined);
    signal.addEventListener('abort', end);
    void answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
