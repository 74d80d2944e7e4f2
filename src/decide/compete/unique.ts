import { canonical } from '../../model/canonical.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';
import { ownerOf } from '../../model/task.js';
import { ruleOf, type Unique } from '../../model/unique.js';
import { toTree } from '../../structures/to-tree.js';
import type { WrittenNode } from '../../structures/kind.js';
import type { LockRequest, Question } from '../queries.js';
import type { World } from '../world.js';

/** A job of any form; only as it was written it says what its key is. */
type AnyJob = Readonly<Record<string, unknown>> & { readonly _id: string };

/** What is locked for `unique`: a text, a question to be answered first, or the reason why it is none. */
export type UniqueKey =
  | { readonly kind: 'known'; readonly text: string }
  | { readonly kind: 'asked'; readonly question: Question }
  | { readonly kind: 'wrong'; readonly reason: string };

/**
 * Returns what is locked for `unique` of a job: the same text for all jobs of an owner with the same key.
 * Client and engine ask it alike, so what was reserved with the submit is what the job takes when it begins.
 */
export function uniqueKey(
  job: AnyJob,
  unique: Unique,
  answers: World['answers'] = new Map(),
): UniqueKey {
  const { key } = unique;
  if (typeof key !== 'string') return known(job, unique, chosen(job, key));
  const answer = answers.get(uniqueQuestion);
  if (answer === undefined) return { kind: 'asked', question: questionOf(job, key) };
  if (!answer.ok) return { kind: 'wrong', reason: answer.reason };
  return answer.value === undefined
    ? { kind: 'wrong', reason: `${key} has no value for this job` }
    : known(job, unique, { value: answer.value });
}

/** The id of the question for a key that is an expression. */
const uniqueQuestion = 'unique.key';

/** Returns the request for the lock with this id. */
export function uniqueRequest(id: string, job: AnyJob, unique: Unique): LockRequest {
  return { kind: 'unique', id, key: belongsTo(job, unique), unique: ruleOf(unique) };
}

/** Among which jobs the key is unique, as part of a sentence. */
function belongsTo({ flow }: AnyJob, { name }: Unique): string {
  if (name !== undefined) return `"${name}"`;
  return typeof flow === 'string' ? `flow "${flow}"` : 'these tasks';
}

function known(job: AnyJob, { name }: Unique, key: unknown): UniqueKey {
  const { flow, tasks } = job;
  const owner = ownerOf(job);
  const scope =
    name !== undefined ? { name } : tasks === undefined ? { flow } : { flow, tasks: treeIn(tasks) };
  return { kind: 'known', text: canonical(['unique', owner, scope, key]) };
}

/** Inline tasks in the form in which engines know them. */
function treeIn(tasks: unknown): unknown {
  try {
    return toTree(tasks as WrittenNode);
  } catch {
    // The job will be refused for them.
    return tasks;
  }
}

/** The parameters at these paths, or all of them. */
function chosen({ params }: AnyJob, paths: readonly string[] | undefined): object {
  if (paths === undefined) return { params: params ?? {} };
  return { at: Object.fromEntries(paths.map((path) => [path, valueAt(params, path)])) };
}

function valueAt(params: unknown, path: string): unknown {
  let value = params;
  for (const key of path.split('.')) {
    if (!isObject(value) && !Array.isArray(value)) return null;
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : null;
  }
  return value;
}

/** An expression sees the job as it was submitted. */
function questionOf(job: AnyJob, expression: string): Question {
  const { params } = job;
  const written = { ...without(job, '_rev', 'tasks', 'locked'), owner: ownerOf(job) };
  const given = isObject(params) ? params : {};
  const context = { job: written, step: {}, params: given, results: {}, parent_results: {} };
  return { id: uniqueQuestion, expression, context };
}
