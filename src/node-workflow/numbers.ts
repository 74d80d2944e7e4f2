/** How long a workflow, and each of its tasks, may take where it does not say, in seconds. */
export const usualTimeoutS = 3_600;

/** A number, 0 or more, that may be written as a text; `usual` where there is none. Undefined: it is no such number. */
export function numberIn(given: unknown, usual: number): number | undefined {
  if (given === undefined || given === null || given === '') return usual;
  const number = typeof given === 'string' ? Number(given) : given;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

export function secondsToMs(seconds: number): number {
  return Math.round(seconds * 1_000);
}
