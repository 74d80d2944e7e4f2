import type { LiveJob } from '../../model/job.js';
import { paramsRead } from '../../model/param-keys.js';
import { definedPath } from '../../structures/paths.js';
import { leavesIn } from '../../reading/entries.js';
import { isObject } from '../../model/object.js';
import { merge } from '../../model/record.js';

type Params = Readonly<Record<string, unknown>>;

/**
 * Returns the parameters of a job with changes that name steps by task (all its steps), name, path
 * or `<task>-<n>`; the more exact word takes precedence. They are stored by `<task>-<n>`.
 */
export function withParams(job: LiveJob, changes: Params): Record<string, unknown> {
  const byPath = new Map(Object.keys(changes).map((key) => [definedPath(key), changes[key]]));
  const own = (key: string): unknown => (Object.hasOwn(changes, key) ? changes[key] : undefined);
  const bySteps = leavesIn(job.tasks).list.flatMap(({ label, name, path, entry }) =>
    [own(entry.task), own(name), byPath.get(path), own(label)]
      .filter(isObject)
      .map((change) => ({ [label]: change })),
  );
  const isFree = freeIn(job);
  const free = Object.entries(changes).filter(([key]) => isFree(key));
  return merge(job.params, Object.fromEntries(free), ...bySteps);
}

/** Returns the keys of changed parameters that nothing in the job would ever read. */
export function strayChanges(job: LiveJob, changes: Params): readonly string[] {
  const called = new Set<string>();
  const paths = new Set<string>();
  for (const { label, name, path, entry } of leavesIn(job.tasks).list) {
    for (const one of [entry.task, name, label]) called.add(one);
    paths.add(path);
  }
  const isFree = freeIn(job);
  return Object.keys(changes).filter(
    (key) => !isFree(key) && !called.has(key) && !paths.has(definedPath(key)),
  );
}

/** Lists the steps of a job for a sentence: `a-0, b-1 (mid), c-2`. */
export function stepWords(job: LiveJob): string {
  const words = leavesIn(job.tasks).list.map(({ label, name, entry }) =>
    name === entry.task ? label : `${label} (${name})`,
  );
  return words.length > most ? `${words.slice(0, most).join(', ')} …` : words.join(', ');
}

const most = 30;

/** Tells the keys of the job as a whole, or of a task that a handler may run. */
function freeIn(job: LiveJob): (key: string) => boolean {
  const { params = {}, definitions, flow_definition: flow, tasks } = job;
  const declared = isObject(flow.schema?.['properties']) ? flow.schema['properties'] : {};
  const read = paramsRead({ tasks, definitions, flow, params });
  return (key) =>
    read.has(key) || [params, definitions, declared].some((known) => Object.hasOwn(known, key));
}
