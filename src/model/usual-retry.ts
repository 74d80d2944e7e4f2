/** What a number of retries means, and a policy without `delay`. `delay` and `max` in ms. */
export type RetryDefaults = {
  readonly delay: number;
  readonly factor: number;
  readonly max: number;
};

/** Retries wait 1 s, then twice as long each time, at most a minute, unless the settings say otherwise. */
export const usualRetry: RetryDefaults = { delay: 1_000, factor: 2, max: 60_000 };
