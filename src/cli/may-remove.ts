import type { NamedKind } from '../client.js';
import { versionOf } from '../model/flow-versions.js';
import { ownerOf } from '../model/task.js';

type Document = Readonly<Record<string, unknown>>;

/** What `tws push --prune` knows when it chooses what to remove. */
export type PruneFacts = {
  /** The project that prunes. */
  readonly project: string;
  readonly kinds: readonly NamedKind[];
  /** Only documents of this owner; absent: of any owner. */
  readonly owner: string | undefined;
  /** The documents of all files and samples that are still there, whether they are pushed or not. */
  readonly held: readonly Document[];
  /** Ids under which files are stored. */
  readonly keptIds: ReadonlySet<string>;
};

/**
 * Whether `--prune` may remove a stored document: the folder of this project brought it, it is of the
 * kinds and the owner that are pruned, and neither a file nor a sample holds it any more.
 */
export function mayRemove(doc: Document, facts: PruneFacts): boolean {
  const { project, kinds, owner, held, keptIds } = facts;
  return (
    doc['pushed_from'] === project &&
    kinds.some((kind) => kind === doc['type']) &&
    (owner === undefined || ownerOf(doc) === owner) &&
    !keptIds.has(String(doc['_id'])) &&
    !held.some((one) => isHeldBy(doc, one))
  );
}

/** Whether a file stands for a document: by its id, or by kind, name and owner, and of a flow by its version. */
function isHeldBy(doc: Document, file: Document): boolean {
  if (file['_id'] !== undefined && file['_id'] === doc['_id']) return true;
  const isFlow = doc['type'] === 'flow';
  return (
    definitionKey(file) === definitionKey(doc) && (!isFlow || versionOf(file) === versionOf(doc))
  );
}

/** What tells one definition from another, whatever its id. */
export function definitionKey(doc: Document): string {
  return JSON.stringify([doc['type'], doc['name'], ownerOf(doc)]);
}
