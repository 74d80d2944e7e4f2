import type { Answer, Outcome } from '../../src/decide/intent.js';
import { share } from '../../src/decide/retry.js';

/** How an attempt ends, by chance; with `detours` it may ask to begin again. */
export function outcomeBy(chance: () => number, detours: boolean): Outcome {
  const failure = { name: chance() < 0.5 ? 'Broken' : 'Released', message: 'It is broken.' };
  const drawn = chance();
  if (drawn < 0.55) return { kind: 'done', result: { n: Math.floor(chance() * 100) } };
  if (drawn < 0.6) return { kind: 'done', exit: chance() < 0.5 ? 0 : 7 };
  if (drawn < 0.85) return { kind: 'failed', failure };
  if (drawn < 0.89) return { kind: 'failed', failure, retryable: false };
  if (drawn < 0.93) return { kind: 'failed', failure, retryAfterMs: Math.floor(chance() * 3_000) };
  if (drawn < 0.95 && detours) return { kind: 'requeue', delayMs: Math.floor(chance() * 3_000) };
  if (drawn < 0.97) return { kind: 'silent', heartbeatMs: 1 };
  return { kind: 'timeout', timeoutMs: 1 };
}

/** Conditions are mostly true, some are false, few cannot be evaluated. */
export function answerTo(id: string, seed: number): Answer {
  const drawn = share(`${id}:${seed}`);
  return drawn < 0.05 ? { ok: false, reason: 'no' } : { ok: true, value: drawn < 0.75 };
}

/** One of a list that is not empty. */
export function oneOf<T>(list: readonly T[], chance: () => number): T {
  return list[Math.floor(chance() * list.length)] as T;
}

/** Numbers from 0 to 1, the same for the same seed. */
export function chanceFrom(seed: number): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    return share(`${seed}:${drawn}:${(seed * drawn) % 7919}`);
  };
}
