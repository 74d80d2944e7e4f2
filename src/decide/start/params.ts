import type { FlowSettings, LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { paramsOfKey, paramsRead, takesAnyParams } from '../../model/param-keys.js';
import { namesTask, type Entry, type Leaf } from '../../model/tree.js';
import { deciderOf } from '../../structures/paths.js';
import type { Beginning } from '../../structures/progress.js';
import { failure } from '../../model/failures.js';
import { isSame } from '../../model/sealing.js';
import { isOfFlow, type Failure } from '../../model/step.js';
import { isObject } from '../../model/object.js';
import { merge, valueAt, withValueAt } from '../../model/record.js';

type Params = Readonly<Record<string, unknown>>;
type Definitions = LiveJob['definitions'];

/**
 * Returns the params of a job after initialisation: what the user wrote, and for every step of the
 * flow its merged parameters under `<task>-<n>`.
 */
export function expandParams(
  written: Params,
  leaves: readonly Leaf[],
  flow: FlowSettings,
  definitions: Definitions,
): Params {
  const expanded: Record<string, unknown> = merge(written);
  const isWritten = Object.keys(written).length > 0;
  for (const { entry, label } of leaves) {
    const { params } = flow;
    expanded[label] = merge(
      namesTask(entry) ? definitions[entry.task]?.params : undefined,
      ...(params === undefined ? [] : [objectAt(params, entry.task), objectAt(params, label)]),
      entry.params,
      ...(isWritten ? [objectAt(written, entry.task), objectAt(written, label)] : []),
    );
  }
  return expanded;
}

/**
 * Returns the parameters of a job with the flow's values for those that its schema declares: these
 * are parameters of the job as a whole, not of a step.
 */
export function withDefaults(written: Params, flow: FlowSettings): Params {
  const { params = {} } = flow;
  const declared = Object.keys(params).filter((key) => declaredBy(flow).has(key));
  return merge(Object.fromEntries(declared.map((key) => [key, params[key]])), written);
}

/** The names that the schema of the flow knows. */
function declaredBy({ schema }: FlowSettings): ReadonlySet<string> {
  return new Set(isObject(schema?.['properties']) ? Object.keys(schema['properties']) : []);
}

/** Returns the part of `params` that differs from `defaults`, at any depth of objects. */
export function difference(params: Params, defaults: Params): Params {
  const own: Record<string, unknown> = {};
  for (const key of Object.keys(params)) {
    if (key === '__proto__') continue;
    const value = params[key];
    const old = Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    if (isObject(value) && isObject(old)) {
      const inner = difference(value, old);
      if (Object.keys(inner).length > 0) own[key] = inner;
    } else if (!isSame(value, old)) {
      own[key] = value;
    }
  }
  return own;
}

/**
 * Returns the parameters of a handler or of a step of the cancel branch, which have no position in
 * the flow.
 */
export function handlerParams(
  job: Pick<LiveJob, 'definitions' | 'flow_definition' | 'params'>,
  entry: Entry,
): Params {
  const { task, params } = entry;
  return merge(
    namesTask(entry) ? job.definitions[task]?.params : undefined,
    objectAt(job.flow_definition.params, task),
    params,
    objectAt(job.params, task),
  );
}

/**
 * Returns the parameters of a step as they are in the job now; users may edit them until the step
 * begins.
 */
export function stepParams(job: LiveJob, leaf: Leaf): Params {
  return objectAt(job.params, leaf.label) ?? {};
}

/** Returns the parameters of a step as they are in the job. */
export function writtenParams(job: LiveJob, beginning: Beginning): Params {
  const { leaf } = beginning;
  return isOwn(beginning) ? stepParams(job, leaf) : handlerParams(job, leaf.entry);
}

/**
 * Whether a step belongs to the flow itself; handlers, and what a decider began, bring their own
 * parameters.
 */
export function isOwn({ leaf, phase }: Beginning): boolean {
  return isOfFlow(phase) && deciderOf(leaf.path) === undefined;
}

/** Maximum number of problems that are reported; the next job reports those that are left. */
const mostTold = 20;

/**
 * Returns the keys of the job's params that belong to no step and that nothing in the flow or the
 * tasks reads.
 */
export function strayParams(
  written: Params,
  leaves: readonly Leaf[],
  flow: FlowSettings,
  definitions: Definitions,
): readonly Problem[] {
  if (Object.keys(written).length === 0 || takesAnyParams(flow)) return [];
  const known = new Set([
    ...leaves.map((leaf) => leaf.label),
    ...Object.keys(definitions),
    ...declaredBy(flow),
    ...Object.keys(flow.params ?? {}),
  ]);
  const unknown = Object.keys(written).filter((key) => !known.has(key));
  if (unknown.length === 0) return [];
  const read = paramsRead([flow, definitions, written, paramsOfKey(flow.unique)]);
  return unknown
    .filter((key) => !read.has(key))
    .slice(0, mostTold)
    .map((key) => ({
      path: `params.${key}`,
      message: `params.${key} names no step of the flow; steps see it only as {{job.params.${key}}}.`,
    }));
}

export type Mapped =
  | { readonly ok: true; readonly params: Params }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Applies `stdio`: keys of the previous result (for the first step: of the params of the job) are
 * copied to paths in the params. The key `stdout` means the whole result when the result has no
 * such key.
 */
export function mapStdio(params: Params, leaf: Leaf, source: unknown): Mapped {
  let mapped = params;
  for (const [from, to] of Object.entries(leaf.entry.stdio ?? {})) {
    const own = valueAt(source, from);
    const value = own === undefined && from === 'stdout' ? source : own;
    if (value === undefined) {
      const reason = 'there is no such key in what came before';
      return { ok: false, failure: failure('MappingError', { from, reason }) };
    }
    mapped = withValueAt(mapped, to, value);
  }
  return { ok: true, params: mapped };
}

/** Returns the parameters that a record has for a step or task. */
export function objectAt(record: Params | undefined, key: string): Params | undefined {
  if (record === undefined || !Object.hasOwn(record, key)) return undefined;
  const value = record[key];
  return isObject(value) ? value : undefined;
}
