import { isDeepStrictEqual } from 'node:util';
import { asVersion } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import { toKeyedParams } from '../reading/dialects.js';
import { toJsonPath } from '../model/problems.js';
import type { StoredDocument } from '../model/document.js';
import { ownerOf } from '../model/task.js';
import type { Structure } from '../model/tree.js';
import { toTree } from '../structures/to-tree.js';
import type { WrittenNode } from '../structures/kind.js';

type Job = Readonly<Record<string, unknown>>;

/** What people ask of a job after it was submitted, and what is no content. */
const besides = new Set(['_id', '_rev', 'paused', 'cancel', 'traceparent']);

/**
 * Where a stored job is another one than a job that is submitted under its id: JSON paths, none when
 * it is the same order. What engines add and expand is not looked at, nor what a final job no longer
 * holds.
 */
export function differencesOf(stored: StoredDocument, submitted: Job): readonly string[] {
  const begun = stored['state'] !== undefined;
  const ended = stored['state'] === '$$complete' || stored['state'] === '$$cancelled';
  return Object.entries({ owner: undefined, ...submitted }).flatMap(([key, written]) => {
    const there = stored[key];
    if (besides.has(key) || (ended && there === undefined)) return [];
    // One without an owner is one of DEFAULT.
    if (key === 'owner') return ownerOf(stored) === ownerOf(submitted) ? [] : [key];
    if (!begun) return isDeepStrictEqual(there, written) ? [] : [key];
    if (key === 'flow_version') return asVersion(there) === asVersion(written) ? [] : [key];
    if (key === 'tasks') return isDeepStrictEqual(treeOf(there), treeOf(written)) ? [] : [key];
    if (key === 'params') return missingIn(there, keyed(written, stored), [key]);
    return isDeepStrictEqual(there, written) ? [] : [key];
  });
}

/** The one form in which engines keep a structure; anything else stays as it is. */
function treeOf(tasks: unknown): unknown {
  try {
    return toTree(tasks as WrittenNode);
  } catch {
    return tasks;
  }
}

/** Parameters as engines keep them: by step key. */
function keyed(params: unknown, { tasks }: StoredDocument): unknown {
  if (!isObject(params) || !isObject(params['tasks']) || !isObject(tasks)) return params;
  return toKeyedParams(params, treeOf(tasks) as Structure);
}

/** Paths of what was written and is not there; engines add the parameters of flow and tasks. */
function missingIn(there: unknown, written: unknown, path: readonly string[]): readonly string[] {
  if (isObject(written) && isObject(there)) {
    return Object.entries(written).flatMap(([key, value]) =>
      missingIn(there[key], value, [...path, key]),
    );
  }
  return isDeepStrictEqual(there, written) ? [] : [toJsonPath(path)];
}
