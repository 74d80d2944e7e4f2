import type { StoredDocument } from '../model/document.js';
import type { Store } from '../store/store.js';

export const documentKinds = ['task', 'flow', 'schedule', 'hook', 'job'] as const;
export type DocumentKind = (typeof documentKinds)[number];

export type LookUpOptions = {
  /**
   * What may be meant; absent: anything, but a schedule only where no task or flow has the name, a hook only
   * where no schedule has it either, and a job only where none of these has it.
   */
  readonly kinds?: readonly DocumentKind[] | undefined;
  /** Whose; absent: anybody's. */
  readonly owner?: string | undefined;
  /** So many jobs of a flow at most. */
  readonly limit?: number;
};

/**
 * The documents that a word may mean: the one of that id, else tasks and flows of that name
 * (`name` or `name::owner`), else schedules, else hooks of that name, else the jobs of a flow
 * of that name.
 */
export async function lookUpDocuments(
  store: Store,
  given: string,
  { kinds, owner, limit = 20 }: LookUpOptions = {},
): Promise<readonly StoredDocument[]> {
  const byId = given === '' ? undefined : await store.get(given);
  if (byId !== undefined) return [byId];
  const [name = given, ofOwner = owner] = given.split('::');
  const range = { ...keysOf(name, ofOwner), includeDocs: true };
  const found: StoredDocument[] = [];
  const look = async (kind: DocumentKind): Promise<void> => {
    const isWanted =
      kinds?.includes(kind) ?? (kind === 'task' || kind === 'flow' || found.length === 0);
    if (!isWanted) return;
    const query = kind === 'job' ? { ...range, limit } : range;
    const rows = await store.view(`${kind}s`, query).catch((error: unknown) => {
      // A database of an earlier version has no views of schedules and hooks, and none of these.
      const isMissing = (error as { readonly code?: unknown }).code === 'view_missing';
      if ((kind === 'schedule' || kind === 'hook') && isMissing) return [];
      throw error;
    });
    found.push(...rows.flatMap(({ doc }) => doc ?? []));
  };
  for (const kind of documentKinds) await look(kind);
  return found;
}

/** All owners of a name, or one. */
function keysOf(name: string, owner: string | undefined) {
  if (owner !== undefined) return { key: `${name}::${owner}` };
  return { startKey: `${name}::`, endKey: `${name}::\uffff` };
}
