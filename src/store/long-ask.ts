import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeResult } from './exchange.js';

/** What a question that may take minutes is asked with. */
export type LongAsk = {
  /** Asks once; the signal gives that try up. */
  readonly ask: (signal: AbortSignal) => Promise<ExchangeResult>;
  /** Whether the server answers a small question now. */
  readonly isAlive: () => Promise<boolean>;
  /** Whether asking twice does no harm. */
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
};

export type LongTimes = {
  /** Between two looks whether the server is alive, ms. */
  readonly lookMs: number;
  /** All in all, ms. */
  readonly longestMs: number;
};

/** A view of a large database is built before the first byte of its answer. */
const usualTimes: LongTimes = { lookMs: 3_000, longestMs: 300_000 };

/**
 * Waits for an answer that may take minutes, as long as the server answers other questions meanwhile.
 * The connection alone may be dead, unseen: the question is asked again beside the first one, after
 * 3 s, 6 s, 12 s and so on, and the first answer counts. Never rejects.
 */
export async function askLong(
  { ask, isAlive, repeatable, signal }: LongAsk,
  { lookMs, longestMs }: LongTimes = usualTimes,
): Promise<ExchangeResult> {
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  signal?.addEventListener('abort', giveUp);
  const began = performance.now();
  let open = 0;
  let done: ExchangeResult | undefined;
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const settle = (answer: ExchangeResult): void => {
    done ??= answer;
    finish();
  };
  const begin = (): void => {
    open += 1;
    void ask(over.signal).then((answer) => {
      open -= 1;
      if (answer.kind === 'answered' || answer.isTooLong === true || open === 0) settle(answer);
    });
  };
  if (signal?.aborted === true) giveUp();
  begin();
  let againMs = lookMs;
  while (done === undefined) {
    await Promise.race([finished, rest(lookMs, over.signal)]);
    if (isSettled()) break;
    const spentMs = performance.now() - began;
    const isGone = spentMs > longestMs || !(await isAlive());
    if (isSettled()) break;
    if (isGone) settle({ kind: 'failed', cause: 'no answer in time' });
    else if (repeatable && spentMs >= againMs) {
      againMs *= 2;
      begin();
    }
  }
  over.abort();
  signal?.removeEventListener('abort', giveUp);
  return done ?? { kind: 'failed', cause: 'no answer in time' };

  function isSettled(): boolean {
    return done !== undefined;
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
