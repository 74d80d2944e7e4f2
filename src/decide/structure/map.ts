import { childPath, type MapOver } from '../../model/tree.js';
import { hasStepsBelow } from '../history.js';
import { markAt } from '../marks.js';
import { done, type Interpreting, type Progress } from './progress.js';
import { siblingsProgress, type Sibling } from './siblings.js';

/**
 * The same for every item of a list, in its order, at most `limit` at a time. Every item is worked
 * on, whatever became of others; more failures than `tolerate` make it fail.
 */
export function mapProgress(node: MapOver, path: string, { job, visit }: Interpreting): Progress {
  const { limit = 0, tolerate = 0, on_fail: onFail = 'wait', do: each } = node.map;
  const total = markAt(job, path)?.items?.length ?? 0;
  if (total === 0) return done;
  const most = limit === 0 ? Infinity : limit;
  const siblings: Sibling[] = [];
  const later: string[] = [];
  let begun = 0;
  for (let i = 0; i < total; i += 1) {
    const at = childPath(path, 'map', i);
    const isBegun = hasStepsBelow(job, at);
    if (!isBegun && begun >= most) {
      later.push(at);
      continue;
    }
    const progress = visit(each, at);
    if (progress.kind === 'open') begun += 1;
    siblings.push({ path: at, progress });
  }
  const needed = total - toleratedOf(tolerate, total);
  const rule = { needed, total, onFail, cancelRest: false, allEnd: true };
  return siblingsProgress(siblings, rule);
}

function toleratedOf(tolerate: number | string, total: number): number {
  if (typeof tolerate === 'number') return Math.min(tolerate, total);
  return Math.floor((Number.parseInt(tolerate, 10) * total) / 100);
}
