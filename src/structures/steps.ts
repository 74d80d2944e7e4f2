import type { Step } from '../model/step.js';

/** The least and the greatest number of something, as of the items of a map. */
export type Numbers = { readonly least: number; readonly most: number };

/** The steps of a job as its structures ask for them, by path in the job (`2.map.17.0`). */
export type JobSteps = {
  /** The run of the flow that is on. */
  readonly run: number;
  /** All attempts at a path that count, oldest first. */
  readonly at: (path: string) => readonly Step[];
  /** The last of them. */
  readonly last: (path: string) => Step | undefined;
  /** The last run in which something was done at a path or below it; undefined: nothing ever was. */
  readonly lastRunBelow: (path: string) => number | undefined;
  /** Something at a path or below it runs or waits. */
  readonly isBusyBelow: (path: string) => boolean;
  /** The numbers of what was begun below a path: of items (`1.map`), slices or rounds. */
  readonly numbersBelow: (path: string) => Numbers | undefined;
  /** Something at a path or below it was begun, not merely left out, in that run or later. */
  readonly wasBegun: (path: string, run: number) => boolean;
  /** A retry asked for what is at a path to be done again. */
  readonly isRepeated: (path: string) => boolean;
};
