import type { StoredDocument } from '../model/document.js';
import type { Store } from '../store/store.js';

export const documentKinds = ['task', 'flow', 'job'] as const;
export type DocumentKind = (typeof documentKinds)[number];

export type LookUpOptions = {
  /** What may be meant; absent: anything, but a job only where no task or flow has the name. */
  readonly kinds?: readonly DocumentKind[] | undefined;
  /** Whose; absent: anybody's. */
  readonly owner?: string | undefined;
  /** So many jobs of a flow at most. */
  readonly limit?: number;
};

/**
 * The documents that a word may mean: the one of that id, else tasks and flows of that name
 * (`name` or `name::owner`), else the jobs of a flow of that name.
 */
export async function lookUpDocuments(
  store: Store,
  given: string,
  { kinds, owner, limit = 20 }: LookUpOptions = {},
): Promise<readonly StoredDocument[]> {
  const byId = given === '' ? undefined : await store.get(given);
  if (byId !== undefined) return [byId];
  const [name = given, ofOwner = owner] = given.split('::');
  const wants = (kind: DocumentKind): boolean => kinds?.includes(kind) ?? kind !== 'job';
  const range = keysOf(name, ofOwner);
  const definitions = [
    ...(wants('task') ? await store.view('tasks', { ...range, includeDocs: true }) : []),
    ...(wants('flow') ? await store.view('flows', { ...range, includeDocs: true }) : []),
  ].flatMap(({ doc }) => doc ?? []);
  const jobs = kinds === undefined ? definitions.length === 0 : wants('job');
  if (!jobs) return definitions;
  const rows = await store.view('jobs', { ...range, limit, includeDocs: true });
  return [...definitions, ...rows.flatMap(({ doc }) => doc ?? [])];
}

/** All owners of a name, or one. */
function keysOf(name: string, owner: string | undefined) {
  if (owner !== undefined) return { key: `${name}::${owner}` };
  return { startKey: `${name}::`, endKey: `${name}::\uffff` };
}
