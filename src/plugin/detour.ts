/** How an attempt ends that is no end of its step. */
export type DetourOutcome =
  /** The step waits for a signal. */
  | {
      readonly kind: 'wait';
      readonly signal: string;
      readonly timeoutMs?: number;
      readonly details?: unknown;
    }
  /** The step begins again. */
  | { readonly kind: 'requeue'; readonly delayMs: number }
  /** The job begins anew. */
  | { readonly kind: 'restart'; readonly delayMs: number };

/**
 * Made by `context.wait`, `context.requeue` and `context.restartJob`: returned or thrown by a plugin,
 * it ends the attempt, but not its step.
 */
export class Detour {
  constructor(readonly outcome: DetourOutcome) {}
}
