import { nameSchema } from '../model/scalars.js';
import type { Outcome, PluginContext } from './api.js';
import { pluginProblem } from './failures.js';

/** How an attempt ends that is no end of its step. */
export type DetourOutcome = Extract<Outcome, { kind: 'wait' | 'requeue' | 'restart' }>;

/**
 * Made by `context.wait`, `context.requeue` and `context.restartJob`: returned or thrown by a plugin,
 * it ends the attempt, but not its step.
 */
export class Detour {
  constructor(readonly outcome: DetourOutcome) {}
}

type Makers = Pick<PluginContext, 'wait' | 'requeue' | 'restartJob'>;

/** The functions that make detours. `keepable` brings details into the form in which they are kept. */
export function detours(keepable: (details: unknown) => unknown): Makers {
  return {
    wait: (signal, { timeout, details } = {}) => {
      const name = nameSchema.safeParse(signal);
      if (!name.success) throw invalid('wait', `the signal ${reasonOf(name.error.issues)}`);
      return new Detour({
        kind: 'wait',
        signal: name.data,
        ...(timeout === undefined ? {} : { timeoutMs: duration('wait', 'timeout', timeout) }),
        ...(details === undefined ? {} : { details: keepable(details) }),
      });
    },
    requeue: ({ delay = 0 } = {}) =>
      new Detour({ kind: 'requeue', delayMs: duration('requeue', 'delay', delay) }),
    restartJob: ({ delay = 0 } = {}) =>
      new Detour({ kind: 'restart', delayMs: duration('restartJob', 'delay', delay) }),
  };
}

/** A year; who waits longer waits without a limit. */
const longestMs = 31_536_000_000;

function duration(maker: string, name: string, ms: unknown): number {
  if (typeof ms === 'number' && ms >= 0 && ms <= longestMs) return Math.round(ms);
  throw invalid(maker, `${name} must be milliseconds, from 0 to ${longestMs}`);
}

const invalid = (maker: string, problem: string) =>
  pluginProblem('DetourInvalid', { maker, problem });

const reasonOf = (issues: readonly { readonly message: string }[]): string =>
  issues[0]?.message ?? 'is not valid';
