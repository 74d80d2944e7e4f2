import type { LiveJob } from '../model/job.js';
import { ResultCollector, type Contents, type Results } from './result-collector.js';
import { nodeAt, treeAt } from './leaves.js';
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
