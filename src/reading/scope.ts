import type { LiveJob } from '../model/job.js';
import { isStructure } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import { markAt } from '../structures/marks.js';
import { repetitionsAround } from '../structures/paths.js';
import { jobSteps } from './attempts.js';
import { nodeOf } from './leaves.js';

/**
 * What the maps and loops around a path add to what templates and conditions see: `item` (and the
 * name that the map gives it), `index` of the item, `round` of the loop, of the innermost ones.
 */
export function scopeOf(job: LiveJob, path: string): Readonly<Record<string, unknown>> {
  const steps = jobSteps(job);
  const scope: Record<string, unknown> = {};
  for (const { path: at, number } of repetitionsAround(path)) {
    const node = nodeOf(job, at);
    if (node === undefined || !isStructure(node)) continue;
    Object.assign(scope, kindOf(node).repeats?.scope(node, number, markAt(steps, at)));
  }
  return scope;
}
