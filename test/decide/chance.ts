import type { Answer } from '../../src/decide/world.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import { share } from '../../src/decide/finish/retry.js';

/** How an attempt ends, by chance; with `detours` it may ask to begin again, or wait. */
export function outcomeBy(chance: () => number, detours: boolean): Outcome {
  const failure = { name: chance() < 0.5 ? 'Broken' : 'Released', message: 'It is broken.' };
  const drawn = chance();
  if (drawn < 0.55) return { kind: 'done', result: { n: Math.floor(chance() * 100) } };
  if (drawn < 0.6) return { kind: 'done', exit: chance() < 0.5 ? 0 : 7 };
  if (drawn < 0.85) return { kind: 'failed', failure };
  if (drawn < 0.89) return { kind: 'failed', failure, retryable: false };
  if (drawn < 0.93) return { kind: 'failed', failure, retryAfterMs: Math.floor(chance() * 3_000) };
  if (drawn < 0.95 && detours) return { kind: 'requeue', delayMs: Math.floor(chance() * 3_000) };
  if (drawn < 0.96 && detours) return { kind: 'wait', signal: 's0', timeoutMs: 2_000 };
  if (drawn < 0.97) return { kind: 'silent', heartbeatMs: 1 };
  return { kind: 'timeout', timeoutMs: 1 };
}

/** What is begun by each decision; some ids are words that the engine uses in paths. */
const activities = ['on_success', 'a1', 'slice'];
const seconds = ['b0', 'map', 'decision'];
const timers = ['activity', 't1', 'on_complete'];
const children = ['c0', 'on_failure', 'news'];

/** What a decider answers with at its decision `number`, by chance; it ends after a few. */
export function decisionsBy(chance: () => number, number: number): Outcome {
  const drawn = chance();
  if (drawn < 0.05) return { kind: 'done', result: 'nonsense' };
  if (drawn < 0.1) return { kind: 'done', result: [{ fail: 'It gave up.' }] };
  if (number > 2 || (number > 0 && drawn < 0.5)) {
    return { kind: 'done', result: [{ complete: { number } }] };
  }
  const begun = [
    { schedule: 't0', id: activities[number] },
    ...(chance() < 0.4 ? [{ schedule: 't1', id: seconds[number], retry: 1 }] : []),
    ...(chance() < 0.4 ? [{ start_timer: Math.floor(chance() * 3_000), id: timers[number] }] : []),
    ...(chance() < 0.2 ? [{ start_child: 'sub', id: children[number] }] : []),
    ...(chance() < 0.3 ? [{ cancel: activities[number - 1] ?? 'none' }] : []),
  ];
  return { kind: 'done', result: begun };
}

/** Conditions are mostly true, some are false, few cannot be evaluated; maps get short lists. */
export function answerTo(id: string, seed: number): Answer {
  const drawn = share(`${id}:${seed}`);
  if (drawn < 0.05) return { ok: false, reason: 'no' };
  if (!id.endsWith('map.over')) return { ok: true, value: drawn < 0.75 };
  const items = Array.from({ length: Math.floor(drawn * 5) }, (_, i) => ({ i }));
  return { ok: true, value: items };
}

/** One of a list that is not empty. */
export function oneOf<T>(list: readonly T[], chance: () => number): T {
  return list[Math.floor(chance() * list.length)] as T;
}

/** Numbers from 0 to 1, the same for the same seed. */
export function chanceFrom(seed: number | string): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    return share(`${seed}:${drawn}:${(Number(seed) || 1) * drawn}`);
  };
}
