import { itemsAtOnce } from '../../model/limits.js';
import { below, type MapOver } from '../../model/tree.js';
import { isBusyBelow, lastRunBelow } from '../history.js';
import { markAt, type Mark } from '../marks.js';
import { done, type Interpreting, type Progress } from './progress.js';
import type { Room } from './room.js';
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
 * left behind keeps its place, too. Where no item has begun, those that must wait are not looked at.
 */
function admitted(
  node: MapOver,
  { path, from, total, most }: Items,
  { job, visit, room }: Interpreting,
): readonly Sibling[] {
  const places = new Places(node, most, room);
  const stem = below(path, 'map');
  if (lastRunBelow(job, stem) === undefined) {
    const siblings: Sibling[] = [];
    for (let i = 0; i < total && places.isFree(); i += 1) {
      const at = `${stem}.${from + i}`;
      siblings.push({ path: at, progress: places.admit(() => visit(node.map.do, at)) });
    }
    return siblings;
  }
  const progressAt = new Map<number, Progress>();
  const waiting: number[] = [];
  for (let i = 0; i < total; i += 1) {
    const at = `${stem}.${from + i}`;
    const run = lastRunBelow(job, at);
    const progress = run === undefined ? undefined : visit(node.map.do, at);
    if (progress === undefined || (progress.kind === 'open' && run !== job.run)) {
      waiting.push(i);
    } else {
      progressAt.set(i, progress);
      if (isUnderWay(progress) || isBusyBelow(job, at)) places.keep();
    }
  }
  for (const i of waiting) {
    if (!places.isFree()) break;
    progressAt.set(
      i,
      places.admit(() => visit(node.map.do, `${stem}.${from + i}`)),
    );
  }
  return [...progressAt]
    .sort(([one], [other]) => one - other)
    .map(([i, progress]) => ({ path: `${stem}.${from + i}`, progress }));
}

/**
 * The places of the items of one map. What may begin in all maps of a job is bounded, too, since a
 * decision begins only some of it; a map in an item of another one shares its room with those in the
 * other items.
 */
class Places {
  readonly #node: MapOver;
  readonly #room: Room;
  #free: number;

  constructor(node: MapOver, most: number, room: Room) {
    this.#node = node;
    this.#free = most;
    this.#room = room;
  }

  /** An item has its place already. */
  keep(): void {
    this.#free -= 1;
  }

  isFree(): boolean {
    return this.#free > 0 && this.#room.has(this.#node);
  }

  /** Takes a place for an item if something is to be done in it. */
  admit(look: () => Progress): Progress {
    const progress = look();
    if (!isUnderWay(progress)) return progress;
    this.#free -= 1;
    this.#room.take(this.#node);
    return progress;
  }
}

function isUnderWay({ kind, begin, gates }: Progress): boolean {
  return kind === 'open' || begin.length + gates.length > 0;
}
