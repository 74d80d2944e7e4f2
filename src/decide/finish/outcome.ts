import type { BigResult } from '../../model/big-result.js';
import type { DetourOutcome } from '../../model/detour-outcome.js';
import type { Failure } from '../../model/step.js';

/** How an attempt ended, as reported by the runner. Delays in ms. */
export type Outcome =
  | {
      readonly kind: 'done';
      readonly result?: unknown;
      readonly exit?: number;
      /** The result once more, when it is to be kept as an attachment. */
      readonly big?: BigResult;
    }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly exit?: number;
      readonly retryable?: boolean;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  /** It gave no sign of life for so long. */
  | { readonly kind: 'silent'; readonly heartbeatMs: number }
  | { readonly kind: 'cancelled' }
  /** The engine stops and hands the attempt back. */
  | { readonly kind: 'released' }
  | DetourOutcome;
