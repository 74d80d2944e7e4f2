/** What a `PluginError` tells the engine beside its message. */
export type PluginErrorOptions = ErrorOptions & {
  /** A stable word for `retry.on` and `retry.never`; the default is `PluginError`. */
  readonly name?: string;
  readonly code?: string | number;
  /** False ends the retries, whatever the policy says. */
  readonly retryable?: boolean;
  /** Milliseconds from now before which another attempt makes no sense. */
  readonly retryAfter?: number;
  /** The exit, 0 to 255, of the failed step; 2 when absent. */
  readonly exit?: number;
};

/** An expected failure of a plugin. Any thrown error with these properties does the same. */
export class PluginError extends Error {
  readonly code?: string | number;
  readonly retryable?: boolean;
  readonly retryAfter?: number;
  readonly exit?: number;

  constructor(message: string, options: PluginErrorOptions = {}) {
    super(message, options);
    this.name = options.name ?? 'PluginError';
    if (options.code !== undefined) this.code = options.code;
    if (options.retryable !== undefined) this.retryable = options.retryable;
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
    if (options.exit !== undefined) this.exit = options.exit;
  }
}
