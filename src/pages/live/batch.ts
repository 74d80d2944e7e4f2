import type { Summary } from '../answers.js';

/** What happened to jobs since the last batch: of each job the newest state only. */
export type JobChanges = {
  readonly changed: ReadonlyMap<string, Summary>;
  readonly removed: ReadonlySet<string>;
};
