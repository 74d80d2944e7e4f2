import type { JobList, Summary } from '../answers.js';
import type { JobChanges } from '../live/batch.js';

/** The jobs that are shown, the newest first. */
export type List = {
  readonly jobs: readonly Summary[];
  /** Where each stands in `jobs`. */
  readonly places: ReadonlyMap<string, number>;
  /** New ones that would move what somebody reads: shown when he asks. */
  readonly above: readonly Summary[];
  /** Leads to older ones; undefined when all are here. */
  readonly cursor: string | undefined;
};

/** The list as its first page tells it. */
export function firstPageOf({ jobs, cursor }: JobList): List {
  return { jobs, places: placesOf(jobs), above: [], cursor };
}

/** With the next page; a job that was there already stays where it is. */
export function withPage(list: List, { jobs, cursor }: JobList): List {
  const more = jobs.filter(({ id }) => !list.places.has(id));
  const all = [...list.jobs, ...more];
  return { ...list, jobs: all, places: placesOf(all), cursor };
}

export type Taking = {
  /** Whether a job belongs into the list. */
  readonly wanted: (job: Summary) => boolean;
  /** New ones go above instead of into the list. */
  readonly hold: boolean;
};

/** With what has changed. One that is no longer wanted leaves, one that is new comes first. */
export function withBatch(list: List, batch: JobChanges, { wanted, hold }: Taking): List {
  const { changed, removed } = batch;
  const known = list.jobs.filter(({ id }) => {
    const job = changed.get(id);
    return !removed.has(id) && (job === undefined || wanted(job));
  });
  const jobs = known.map((job) => changed.get(job.id) ?? job);
  const waiting = new Map(list.above.map((job) => [job.id, job]));
  for (const id of removed) waiting.delete(id);
  for (const [id, job] of changed) {
    if (list.places.has(id)) continue;
    waiting.delete(id);
    if (wanted(job)) waiting.set(id, job);
  }
  const fresh = [...waiting.values()];
  if (hold) return { ...list, jobs, places: placesOf(jobs), above: fresh };
  return joined({ ...list, jobs, above: fresh });
}

/** With the new ones that waited above it. */
export function joined(list: List): List {
  const jobs = list.above.length === 0 ? list.jobs : [...byStart(list.above), ...list.jobs];
  return { ...list, jobs, places: placesOf(jobs), above: [] };
}

/** As the API orders them: what has not begun is the newest. */
function byStart(jobs: readonly Summary[]): readonly Summary[] {
  return jobs.toSorted((a, b) => (b.start ?? Infinity) - (a.start ?? Infinity) || 0);
}

function placesOf(jobs: readonly Summary[]): ReadonlyMap<string, number> {
  return new Map(jobs.map(({ id }, i) => [id, i]));
}
