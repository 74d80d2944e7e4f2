import { childPath, type Parallel } from '../../model/tree.js';
import type { Interpreting, Progress } from './progress.js';
import { siblingsProgress } from './siblings.js';

/** All at once; `join` says how many must succeed, `on_fail` what a failure does to the others. */
export function parallelProgress(node: Parallel, path: string, { visit }: Interpreting): Progress {
  const {
    parallel,
    join = 'all',
    on_fail: onFail = 'wait',
    cancel_rest: cancelRest = false,
  } = node;
  const siblings = parallel.map((child, i) => {
    const at = childPath(path, 'parallel', i);
    return { path: at, progress: visit(child, at) };
  });
  const total = parallel.length;
  const needed = join === 'all' ? total : Math.min(join === 'any' ? 1 : join, total);
  return siblingsProgress(siblings, { needed, total, onFail, cancelRest });
}
