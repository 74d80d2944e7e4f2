import type { FailedMessage } from './isolate-messages.js';
import type { Failed } from './outcome.js';

/** A failure as it is told to the other side. */
export function failedMessage({ failure, retryable, retryAfterMs, exit }: Failed): FailedMessage {
  const { message, ...named } = failure;
  const details = {
    ...named,
    ...(retryable === undefined ? {} : { retryable }),
    ...(retryAfterMs === undefined ? {} : { retryAfter: retryAfterMs }),
    ...(exit === undefined ? {} : { exit }),
  };
  return { type: 'failed', message, details };
}
