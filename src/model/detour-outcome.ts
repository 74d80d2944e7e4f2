/** How an attempt ends that is no end of its step. Times in ms. */
export type DetourOutcome =
  /** The step waits for a signal of that name; its result will be what the signal brings. */
  | {
      readonly kind: 'wait';
      readonly signal: string;
      readonly timeoutMs?: number;
      readonly details?: unknown;
    }
  /** The attempt did not come to anything and begins again. */
  | { readonly kind: 'requeue'; readonly delayMs: number }
  /** The whole job begins anew. */
  | { readonly kind: 'restart'; readonly delayMs: number };
