import type { Flow } from '../model/flow.js';
import type { Leaf } from '../model/tree.js';
import type { DefinitionLookup } from './definition-lookup.js';

/** An entry with its JSON path in the flow document. */
type Placed = { readonly leaf: Leaf; readonly at: string };
type Warning = { readonly path: string; readonly message: string; readonly level: 'warning' };

/** Several steps may have one name; only where something reads the result by that name may it be a mistake. */
export function sameNameNotes(
  places: readonly Placed[],
  flow: Flow,
  world: DefinitionLookup,
): readonly Warning[] {
  const tasks = places.map(({ leaf }) => world.task(leaf.entry.task, flow.owner));
  const text = JSON.stringify([flow, tasks]);
  const first = new Map<string, number>();
  return places.flatMap(({ leaf, at }): readonly Warning[] => {
    const { name, index, entry } = leaf;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      return [];
    }
    if (!readsResult(text, name)) return [];
    const path = `${at}.${entry.name === undefined ? 'task' : 'name'}`;
    const message = `${path}: step ${earlier} is named "${name}", too; results.${name} then means the later one.`;
    return [{ path, message, level: 'warning' }];
  });
}

/** `results.a`, not `results.ab`; templates and JSONata have ways to write a name that is no word. */
function readsResult(text: string, name: string): boolean {
  const isRead = text
    .split(`results.${name}`)
    .slice(1)
    .some((after) => !/^[\w-]/.test(after));
  const quoted = [`results.[${name}]`, `results.\`${name}\``, `results.\\"${name}\\"`];
  return isRead || quoted.some((one) => text.includes(one));
}
