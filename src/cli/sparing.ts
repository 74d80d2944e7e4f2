import { performance } from 'node:perf_hooks';

/** Something that is done again and again, but not more often than it can be afforded. */
export type Sparing = {
  /** Does it now, or as soon as enough time has gone by since the last time. */
  readonly soon: () => void;
  /** What was still to come does not come any more. */
  readonly end: () => void;
};

/** `work` takes a fifth of the time at most: very large jobs take a while to draw. */
export function createSparing(work: () => void): Sparing {
  let free = 0;
  let late: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(late);
    const begun = performance.now();
    if (begun < free) {
      late = setTimeout(soon, free - begun);
      return;
    }
    work();
    free = performance.now() + 4 * (performance.now() - begun);
  };
  return { soon, end: () => clearTimeout(late) };
}
