import type { LiveJob } from '../model/job.js';
import { isStructure } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import { markAt } from '../structures/marks.js';
import { jobSteps } from './attempts.js';
import { ResultCollector, type Contents, type Results } from './result-collector.js';
import { nodeAt, nodeOf, treeAt } from './leaves.js';
import { repetitionsAround } from '../structures/paths.js';

export type { Contents, Results } from './result-collector.js';

const none: Contents = new Map();

/** All results of the flow. */
export function allResults(job: LiveJob, contents: Contents): Results {
  const collector = new ResultCollector(job, contents);
  collector.add(job.tasks, '');
  return told(collector);
}

/** Results of what is before a path in the flow, not of what happens to run beside it. */
export function resultsBefore(job: LiveJob, path: string, contents: Contents = none): Results {
  const collector = new ResultCollector(job, contents);
  collector.addBefore(job.tasks, '', path);
  return told(collector);
}

/**
 * All results of the flow for what follows a failure or a cancel. Inside a map or a loop, those of
 * its own item and round stand for the lists of all; a branch also sees what it did before.
 */
export function resultsAround(job: LiveJob, path: string, contents: Contents = none): Results {
  const collector = new ResultCollector(job, contents);
  collector.add(job.tasks, '');
  const branch = treeAt(job, path);
  if (branch === undefined) return told(collector);
  const { tree, prefix } = branch;
  const parent_results = { ...collector.parent_results };
  if (prefix !== '') collector.addBefore(tree, prefix, path);
  for (const { item } of repetitionsAround(path)) {
    const node = nodeAt(tree, item, prefix);
    if (node !== undefined) collector.add(node, item);
  }
  return { ...told(collector), parent_results };
}

function told({ results, parent_results, previous, missing }: ResultCollector): Results {
  return { results, parent_results, previous, missing: [...missing] };
}

/**
 * What the maps and loops around a path add to what templates and conditions see: `item` (and the
 * name that the map gives it), `index` of the item, `round` of the loop, of the innermost ones.
 */
export function scopeOf(job: LiveJob, path: string): Readonly<Record<string, unknown>> {
  const scope: Record<string, unknown> = {};
  for (const { path: at, number } of repetitionsAround(path)) {
    const node = nodeOf(job, at);
    if (node === undefined || !isStructure(node)) continue;
    Object.assign(scope, kindOf(node).repeats?.scope(node, number, markAt(jobSteps(job), at)));
  }
  return scope;
}
