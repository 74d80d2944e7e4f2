import { below } from '../model/tree.js';
import type { MapOver } from './map-slices.js';
import type { Interpreting, Progress } from './progress.js';
import type { Room } from './progress.js';
import type { Sibling } from './siblings.js';

type Items = {
  readonly path: string;
  readonly from: number;
  readonly total: number;
  readonly most: number;
};

/**
 * Returns the items that have ended or may run now. Those running in this run keep their places;
 * the others, also those to be repeated, begin when a place is free. Background work of an item
 * that is done keeps its place, too. Items that must wait and have not begun are not read.
 */
export function admitted(
  node: MapOver,
  { path, from, total, most }: Items,
  { steps, visit, room }: Interpreting,
): readonly Sibling[] {
  const places = new Places(node, most, room());
  const stem = below(path, 'map');
  if (steps.lastRunBelow(stem) === undefined) {
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
    const run = steps.lastRunBelow(at);
    const progress = run === undefined ? undefined : visit(node.map.do, at);
    if (progress === undefined || (progress.kind === 'open' && run !== steps.run)) {
      waiting.push(i);
    } else {
      progressAt.set(i, progress);
      if (isUnderWay(progress) || steps.isBusyBelow(at)) places.keep();
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

function isUnderWay({ kind, begin, conditions }: Progress): boolean {
  return kind === 'open' || begin.length + conditions.length > 0;
}
