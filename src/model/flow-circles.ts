import type { Place, World } from './check.js';
import type { Flow } from './flow.js';
import { keyOf } from './task.js';

/** A flow that comes back to itself: where, and the names on the way round. */
export type Circle = { readonly at: string; readonly names: readonly string[] };

/**
 * The entries of a flow whose child jobs lead back to it. That is no mistake where a condition ends
 * it; without one its jobs go as deep as they may.
 */
export function circlesOf(
  flow: Flow,
  placesIn: (flow: Flow) => readonly Place[],
  world: World,
): readonly Circle[] {
  const children = (of: Flow): readonly { readonly at: string; readonly flow: Flow }[] =>
    placesIn(of).flatMap(({ leaf: { entry }, at }) => {
      const name = entry.flow ?? world.task(entry.task, of.owner)?.flow;
      const child = name === undefined ? undefined : world.flow(name, of.owner);
      return child === undefined ? [] : [{ at, flow: child }];
    });
  const wanted = keyOf(flow.name, flow.owner);
  const seen = new Set<string>();
  const wayBack = (from: Flow): readonly string[] | undefined => {
    const key = keyOf(from.name, from.owner);
    if (key === wanted) return [from.name];
    // From where no way was found before there is none.
    if (seen.has(key)) return undefined;
    seen.add(key);
    for (const { flow: child } of children(from)) {
      const way = wayBack(child);
      if (way !== undefined) return [from.name, ...way];
    }
    return undefined;
  };
  return children(flow).flatMap(({ at, flow: child }) => {
    seen.clear();
    const way = wayBack(child);
    return way === undefined ? [] : [{ at, names: [flow.name, ...way] }];
  });
}
