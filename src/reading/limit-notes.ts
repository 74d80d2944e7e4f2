import { addTo } from '../model/grouped.js';
import { limitsIn, type Concurrency } from '../model/concurrency.js';
import type { Flow } from '../model/flow.js';
import { ownerOf, type Task } from '../model/task.js';

/** A definition that may have limits. */
type Limited = {
  readonly name: string;
  readonly owner?: string;
  readonly concurrency?: Concurrency;
};

/** A limit that has a name, so that others may share it. */
type Shared = {
  /** Same for the same limit: where keys take turns a name is a limit of its own. */
  readonly key: string;
  readonly name: string;
  readonly most: number;
  /** Path of its number in the definition. */
  readonly at: string;
  /** How sentences call the definition. */
  readonly of: string;
};

export type DefinedSet = { readonly tasks: readonly Task[]; readonly flows: readonly Flow[] };

function sharedIn(kind: 'task' | 'flow', one: Limited): readonly Shared[] {
  return limitsIn(one.concurrency).flatMap(({ limit: { name, limit: most, strategy }, at }) =>
    name === undefined
      ? []
      : [
          {
            key: JSON.stringify([ownerOf(one), name, strategy === 'round_robin']),
            ...{ name, most, at: `${at}.limit`, of: `${kind} ${one.name}` },
          },
        ],
  );
}

/** Finds where a definition gives a limit another number of permits than the first one that names it. */
export function createLimitNotes({ tasks, flows }: DefinedSet) {
  const all = new Map<string, Shared[]>();
  const shared = [
    ...tasks.flatMap((task) => sharedIn('task', task)),
    ...flows.flatMap((flow) => sharedIn('flow', flow)),
  ];
  for (const one of shared) addTo(all, one.key, one);
  return (kind: 'task' | 'flow', definition: Limited) =>
    sharedIn(kind, definition).flatMap(({ key, name, most, at, of }) => {
      const other = all.get(key)?.find((one) => one.most !== most);
      if (other === undefined) return [];
      const where = other.of === of ? 'the same definition' : other.of;
      const message = `${at} is ${most}, but ${where} gives the limit "${name}" ${other.most} permits: a limit of one name has one number; write the same in both.`;
      return [{ path: at, message, level: 'problem' as const }];
    });
}

/** The names of limits that a job of the flow, or a step of it, needs permits of. */
export function limitNamesOf(definitions: readonly (Limited | undefined)[]): ReadonlySet<string> {
  return new Set(
    definitions.flatMap((one) =>
      limitsIn(one?.concurrency).flatMap(({ limit: { name } }) =>
        name === undefined ? [] : [name],
      ),
    ),
  );
}
