import type { FailureKind } from '../model/catalogue.js';

/** What a `PluginError` tells the engine beside its message. */
export type PluginErrorOptions = ErrorOptions & {
  /** A stable word for `retry.on` and `retry.never`; the default is `PluginError`. */
  readonly name?: string;
  readonly code?: string | number;
  /** False ends the retries, whatever the policy says. */
  readonly retryable?: boolean;
  /** Before it another attempt makes no sense: ms from now, a Date, or ISO 8601 with a zone. */
  readonly retryAfter?: number | Date | string;
  /** `business`: the data that were given are wrong, so that trying again does not help. */
  readonly kind?: FailureKind;
  /** The exit, 0 to 255, of the failed step; 2 when absent. */
  readonly exit?: number;
};

/** An expected failure of a plugin. Any thrown error with these properties does the same. */
export class PluginError extends Error {
  readonly code?: string | number;
  readonly retryable?: boolean;
  readonly retryAfter?: number | Date | string;
  readonly kind?: FailureKind;
  readonly exit?: number;

  constructor(message: string, options: PluginErrorOptions = {}) {
    super(message, options);
    this.name = options.name ?? 'PluginError';
    if (options.code !== undefined) this.code = options.code;
    if (options.retryable !== undefined) this.retryable = options.retryable;
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
    if (options.kind !== undefined) this.kind = options.kind;
    if (options.exit !== undefined) this.exit = options.exit;
  }
}
