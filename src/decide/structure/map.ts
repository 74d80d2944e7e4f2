import { itemsAtOnce } from '../../model/limits.js';
import { childPath, type MapOver } from '../../model/tree.js';
import { isBusyBelow, lastRunBelow } from '../history.js';
import { markAt, type Mark } from '../marks.js';
import { done, type Interpreting, type Progress } from './progress.js';
import { siblingsProgress, type Sibling } from './siblings.js';
import { slicesProgress, toleratedOf } from './slices.js';

/**
 * The same for every item of a list, in its order, at most `limit` and never more than 1,000 at a time. Every item is worked
 * on, whatever became of others; more failures than `tolerate` make it fail.
 */
export function mapProgress(node: MapOver, path: string, interpreting: Interpreting): Progress {
  const { job } = interpreting;
  const { on_fail: onFail = 'wait' } = node.map;
  const { items = [], from = 0, slice } = markAt(job, path) as Mark;
  const total = items.length;
  if (total === 0) return done;
  if (slice !== undefined) return slicesProgress(node, path, { total, slice }, interpreting);
  const most = itemsAtOnce(node.map);
  const siblings = admitted(node, { path, from, total, most }, interpreting);
  // A slice may have as many failures as the whole list.
  const whole = job.slice?.path === path ? job.slice.total : total;
  const needed = total - toleratedOf(node, whole);
  const rule = { needed, total, onFail, cancelRest: false, allEnd: true };
  return siblingsProgress(siblings, rule);
}

type Items = {
  readonly path: string;
  readonly from: number;
  readonly total: number;
  readonly most: number;
};

/**
 * The items that have ended or may go on now. Those under way in this run keep their places; the
 * others, also those to be done again, come in when a place is free. What an item that is done has
 * left behind keeps its place, too.
 */
function admitted(
  { map }: MapOver,
  { path, from, total, most }: Items,
  { job, visit }: Interpreting,
): readonly Sibling[] {
  const paths = Array.from({ length: total }, (_, i) => childPath(path, 'map', from + i));
  const progressAt = new Map<string, Progress>();
  let places = most;
  const waiting: string[] = [];
  for (const at of paths) {
    const run = lastRunBelow(job, at);
    const progress = run === undefined ? undefined : visit(map.do, at);
    if (progress === undefined || (progress.kind === 'open' && run !== job.run)) {
      waiting.push(at);
    } else {
      progressAt.set(at, progress);
      if (isUnderWay(progress) || isBusyBelow(job, at)) places -= 1;
    }
  }
  for (const at of waiting) {
    if (places <= 0) break;
    const progress = visit(map.do, at);
    progressAt.set(at, progress);
    if (isUnderWay(progress)) places -= 1;
  }
  return paths.flatMap((at): Sibling[] => {
    const progress = progressAt.get(at);
    return progress === undefined ? [] : [{ path: at, progress }];
  });
}

function isUnderWay({ kind, begin, gates }: Progress): boolean {
  return kind === 'open' || begin.length + gates.length > 0;
}
