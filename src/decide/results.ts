import type { LiveJob } from '../model/job.js';
import { Book, type Contents, type Results } from './book.js';
import { nodeAt, treeAt } from './leaves.js';
import { repeatsAround } from './paths.js';

export type { Contents, Results } from './book.js';

const none: Contents = new Map();

/** All results of the flow. */
export function allResults(job: LiveJob, contents: Contents): Results {
  const book = new Book(job, contents);
  book.add(job.tasks, '');
  return told(book);
}

/** Results of what is before a path in the flow, not of what happens to run beside it. */
export function resultsBefore(job: LiveJob, path: string, contents: Contents = none): Results {
  const book = new Book(job, contents);
  book.addBefore(job.tasks, '', path);
  return told(book);
}

/**
 * All results of the flow for what follows a failure or a cancel. Inside a map or a loop, those of
 * its own item and round stand for the lists of all; a branch also sees what it did before.
 */
export function resultsAround(job: LiveJob, path: string, contents: Contents = none): Results {
  const book = new Book(job, contents);
  book.add(job.tasks, '');
  const branch = treeAt(job, path);
  if (branch === undefined) return told(book);
  const { tree, prefix } = branch;
  const parent_results = { ...book.parent_results };
  if (prefix !== '') book.addBefore(tree, prefix, path);
  for (const item of repeatsAround(path)) {
    const node = nodeAt(tree, item, prefix);
    if (node !== undefined) book.add(node, item);
  }
  return { ...told(book), parent_results };
}

function told({ results, parent_results, previous, missing }: Book): Results {
  return { results, parent_results, previous, missing: [...missing] };
}
