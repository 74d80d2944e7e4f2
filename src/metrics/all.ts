import type { EngineMeters } from '../engine/meters.js';

/** Returns meters that report to each of these; a meter that leaves something out measures the rest. */
export function allMeters(meters: readonly Partial<EngineMeters>[]): EngineMeters {
  return {
    claim: (verdict) => meters.forEach(({ claim }) => claim?.(verdict)),
    feedLag: (ms) => meters.forEach(({ feedLag }) => feedLag?.(ms)),
    grants: (count) => meters.forEach(({ grants }) => grants?.(count)),
    waiting: (cause, count) => meters.forEach(({ waiting }) => waiting?.(cause, count)),
    slots: (verdict, count) => meters.forEach(({ slots }) => slots?.(verdict, count)),
    triggers: (by, verdict, count) =>
      meters.forEach(({ triggers }) => triggers?.(by, verdict, count)),
    notification: (event) => meters.forEach(({ notification }) => notification?.(event)),
    slotDelay: (ms) => meters.forEach(({ slotDelay }) => slotDelay?.(ms)),
    attempt: (facts) => {
      const own = meters.flatMap((one) => one.attempt?.(facts) ?? []);
      if (own.length === 0) return undefined;
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
