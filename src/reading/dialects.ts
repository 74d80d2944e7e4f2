import type { Flow, Handler } from '../model/flow.js';
import { isObject } from '../model/object.js';
import type { Structure } from '../model/tree.js';
import { nodeKinds } from '../structures/kinds.js';
import type { WrittenFlow } from './documents.js';
import { toTree } from '../structures/to-tree.js';
import { leavesOf } from '../structures/tree.js';

/**
 * Two generations of TWS documents are in use; both are read, one form goes on from here:
 * sequences of strings or entries, parameters under `params.tasks.sequence[i]` or under
 * `params["<task>-<i>"]`, a flow's `error` as a name or an object.
 */
export function toFlow(written: WrittenFlow): Flow {
  const tasks = toTree(written.tasks);
  const { error, cancel, params, ...rest } = written;
  return {
    ...rest,
    tasks,
    ...(params === undefined ? {} : { params: toKeyedParams(params, tasks) }),
    ...(error === undefined ? {} : { error: toHandler(error) }),
    ...(cancel === undefined ? {} : { cancel: toTree(cancel) }),
  };
}

function toHandler(written: NonNullable<WrittenFlow['error']>): Handler | Structure {
  if (typeof written === 'string') return { name: written };
  if (!isObject(written) || [...nodeKinds, 'structure'].some((key) => key in written)) {
    return toTree(written);
  }
  const { name, params } = written as Handler;
  return params === undefined ? { name } : { name, params };
}

type Params = Readonly<Record<string, unknown>>;

/** Moves `params.tasks.sequence[i]` (of a flow or a job) to the keys `<task>-<i>`. */
export function toKeyedParams(params: Params, tasks: Structure): Params {
  const list = positional(params);
  if (list === undefined) return params;
  const { tasks: _moved, ...rest } = params;
  const keyed: Record<string, unknown> = { ...rest };
  for (const leaf of leavesOf(tasks)) {
    const given = list[leaf.index];
    if (isObject(given)) keyed[leaf.label] ??= isObject(given['params']) ? given['params'] : given;
  }
  return keyed;
}

function positional(params: Params): readonly unknown[] | undefined {
  const { tasks } = params;
  if (!isObject(tasks)) return undefined;
  return Array.isArray(tasks['sequence']) ? tasks['sequence'] : undefined;
}
