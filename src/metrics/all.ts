import type { EngineMeters } from '../engine/meters.js';

/** Tells several what one engine tells. */
export function allMeters(meters: readonly EngineMeters[]): EngineMeters {
  return {
    claim: (verdict) => meters.forEach((one) => one.claim(verdict)),
    feedLag: (ms) => meters.forEach((one) => one.feedLag(ms)),
    attempt: (facts) => {
      const own = meters.map((one) => one.attempt(facts));
      return {
        run: (call) =>
          own.reduceRight<() => ReturnType<typeof call>>(
            (inner, { run }) =>
              () =>
                run(inner),
            call,
          )(),
        end: (outcome, failure) => own.forEach(({ end }) => end(outcome, failure)),
      };
    },
  };
}
