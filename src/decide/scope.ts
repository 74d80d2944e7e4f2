import type { LiveJob } from '../model/job.js';
import { markAt } from '../structures/marks.js';
import { jobSteps } from './history.js';
import { nodeAt, treeAt } from './leaves.js';

/**
 * What the maps and loops around a path add to what templates and conditions see: `item` (and the
 * name that the map gives it), `index` of the item, `round` of the loop, of the innermost ones.
 */
export function scopeOf(job: LiveJob, path: string): Readonly<Record<string, unknown>> {
  const scope: Record<string, unknown> = {};
  for (const match of path.matchAll(/(?:^|\.)(map|loop)\.(\d+)(?=\.|$)/g)) {
    const [, kind = '', number = ''] = match;
    const node = path.slice(0, match.index);
    if (kind === 'loop') {
      scope['round'] = Number(number);
      continue;
    }
    const { items, from = 0 } = markAt(jobSteps(job), node) ?? {};
    if (items === undefined) continue;
    const item = items[Number(number) - from];
    const as = mapName(job, node);
    Object.assign(scope, { item, index: Number(number) }, as === undefined ? {} : { [as]: item });
  }
  return scope;
}

function mapName(job: LiveJob, path: string): string | undefined {
  const branch = treeAt(job, path);
  const node = branch && nodeAt(branch.tree, path, branch.prefix);
  return node !== undefined && 'map' in node ? node.map.as : undefined;
}
