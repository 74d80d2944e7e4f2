import { noMeters, type EngineMeters } from '../engine/meters.js';

/** Tells several what one engine tells. */
export function allMeters(meters: readonly EngineMeters[]): EngineMeters {
  const [only, ...others] = meters;
  if (only !== undefined && others.length === 0) return only;
  return {
    ...toldToAll(meters),
    attempt: (facts) => {
      const own = meters.flatMap((one) => one.attempt(facts) ?? []);
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

/** The meters that answer nothing. */
type Told = {
  [
    K in keyof EngineMeters as ReturnType<EngineMeters[K]> extends void ? K : never
  ]: EngineMeters[K];
};

function toldToAll(meters: readonly EngineMeters[]): Told {
  const names = (Object.keys(noMeters) as (keyof EngineMeters)[]).filter(
    (name): name is keyof Told => name !== 'attempt',
  );
  const all = names.map((name) => {
    const tell = (...said: unknown[]): void =>
      meters.forEach((one) => (one[name] as (...said: unknown[]) => void)(...said));
    return [name, tell];
  });
  return Object.fromEntries(all) as Told;
}
