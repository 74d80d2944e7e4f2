import { addTo } from '../model/grouped.js';
import type { Flow } from '../model/flow.js';
import { chooseVersion } from '../model/flow-versions.js';
import { defaultOwner, keyOf, type Task } from '../model/task.js';

type Named = { readonly name: string; readonly owner?: string };

/** A definition by its name, as an owner sees it. */
export type Find<T> = (name: string, owner: string) => T | undefined;
/** Definitions by name. */
export type DefinitionLookup = {
  readonly task: Find<Task>;
  readonly flow: FindFlow;
  /** Whether there is any document of that name. */
  readonly isFlow?: (name: string, owner: string) => boolean;
};
/** A flow by its name, as an owner sees it: the current version, or the one that is asked for. */
export type FindFlow = (name: string, owner: string, version?: string) => Flow | undefined;

/** Looks up as the engine does: the owner's own definition first, then the one of everybody. */
export function finder<T extends Named>(definitions: readonly T[]): Find<T> {
  const byKey = new Map(definitions.map((one) => [keyOf(one.name, one.owner), one]));
  return (name, owner) => byKey.get(keyOf(name, owner)) ?? byKey.get(keyOf(name, defaultOwner));
}

/** Definitions by name and owner. */
export function byOwnName<T extends Named>(
  definitions: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const byKey = new Map<string, T[]>();
  for (const one of definitions) addTo(byKey, keyOf(one.name, one.owner), one);
  return byKey;
}

/** Looks up flows as the engine does: of the owner's own documents, or of everybody's, the version that counts. */
export function flowFinder(flows: readonly Flow[]): FindFlow {
  const byKey = byOwnName(flows);
  return (name, owner, version) => {
    const docs = byKey.get(keyOf(name, owner)) ?? byKey.get(keyOf(name, defaultOwner)) ?? [];
    const choice = chooseVersion(docs, { version });
    return choice.kind === 'chosen' ? choice.doc : undefined;
  };
}
