import type { LiveJob } from '../model/job.js';
import { readsParam } from '../model/param-keys.js';
import { definedPath, type Leaf } from '../model/tree.js';
import { leavesIn } from './leaves.js';
import { isPlain, merge } from './record.js';

type Params = Readonly<Record<string, unknown>>;

/**
 * The parameters of a job with changes that name steps as people do: by task (all its steps), name,
 * path or `<task>-<n>`, the more exact word being the stronger. They are kept by `<task>-<n>`.
 */
export function withParams(job: LiveJob, changes: Params): Record<string, unknown> {
  const { list } = leavesIn(job.tasks);
  const bySteps = ways.flatMap((way) =>
    list
      .map((leaf) => [leaf.label, changeFor(leaf, way, changes)] as const)
      .filter(([, change]) => isPlain(change))
      .map(([label, change]) => ({ [label]: change })),
  );
  const free = Object.entries(changes).filter(([key]) => isFree(job, key));
  return merge(job.params, Object.fromEntries(free), ...bySteps);
}

/** The keys of changed parameters that nothing in the job would ever get to see. */
export function strayChanges(job: LiveJob, changes: Params): readonly string[] {
  const { list } = leavesIn(job.tasks);
  return Object.keys(changes).filter(
    (key) => !isFree(job, key) && !list.some((leaf) => ways.some((way) => way(leaf, key))),
  );
}

/** How a job's steps are called, in a sentence: `a-0, b-1 (mid), c-2`. */
export function stepWords(job: LiveJob): string {
  const words = leavesIn(job.tasks).list.map(({ label, name, entry }) =>
    name === entry.task ? label : `${label} (${name})`,
  );
  return words.length > most ? `${words.slice(0, most).join(', ')} …` : words.join(', ');
}

const most = 30;

type Way = (leaf: Leaf, key: string) => boolean;

/** The weakest first. */
const ways: readonly Way[] = [
  ({ entry }, key) => entry.task === key,
  ({ name }, key) => name === key,
  ({ path }, key) => path === definedPath(key),
  ({ label }, key) => label === key,
];

function changeFor(leaf: Leaf, way: Way, changes: Params): unknown {
  const key = Object.keys(changes).find((one) => way(leaf, one));
  return key === undefined ? undefined : changes[key];
}

/** Of the job as a whole, or of a task that a handler may run. */
function isFree(job: LiveJob, key: string): boolean {
  const { params = {}, definitions, flow_definition: flow, tasks } = job;
  const declared = isPlain(flow.schema?.['properties']) ? flow.schema['properties'] : {};
  return (
    [params, definitions, declared].some((known) => Object.hasOwn(known, key)) ||
    readsParam({ tasks, definitions, flow, params }, key)
  );
}
