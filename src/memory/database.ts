import type { StoredDocument } from '../model/document.js';
import type { WriteResult } from '../store/batch.js';
import type { NewDocument } from '../store/writer.js';
import {
  compareRevisions,
  generationIn,
  revisionsOf,
  includes,
  type Revision,
} from './revisions.js';

/** A leaf revision: nobody has written upon it. */
export type MemoryLeaf = {
  readonly revision: Revision;
  readonly doc: StoredDocument;
  readonly isDeleted: boolean;
};

/** A document that was changed: `seq` is its place in the order of the last changes. */
export type MemoryChange = { readonly id: string; readonly seq: number; readonly leaf: MemoryLeaf };

/** Documents in memory. Everything happens at once; documents go in and out as they are. */
export type MemoryDatabase = {
  /** How many changes there were. */
  readonly seq: () => number;
  /** The ids of all documents that are not deleted, in their order. */
  readonly ids: () => readonly string[];
  /** The document as it is: the winner of its leaf revisions. */
  readonly get: (id: string) => StoredDocument | undefined;
  /** All leaf revisions, the winner first, deleted ones last. */
  readonly leaves: (id: string) => readonly MemoryLeaf[];
  /** Compare-and-set on `_rev` (X11). */
  readonly write: (doc: NewDocument) => WriteResult;
  /** Stores a revision under its own name, as a replication does; one that is known stays as it is. */
  readonly graft: (revision: Revision, doc: StoredDocument) => void;
  /** Forgets a deleted document, if that is its only leaf revision; false: it is not. */
  readonly purge: (id: string, rev: string) => boolean;
  /** The changes after a place, in their order (X13). */
  readonly changes: (since: number) => readonly MemoryChange[];
  /** Calls a listener with each change; the answer ends that. */
  readonly subscribe: (listener: (change: MemoryChange) => void) => () => void;
};

type Kept = { leaves: readonly MemoryLeaf[]; seq: number };

export function createMemoryDatabase(): MemoryDatabase {
  const documents = new Map<string, Kept>();
  const listeners = new Set<(change: MemoryChange) => void>();
  /** The document of each change; the last change of a document is the one that counts. */
  const log: string[] = [];
  const leavesOf = (id: string): readonly MemoryLeaf[] => documents.get(id)?.leaves ?? [];
  const keep = (id: string, leaves: readonly MemoryLeaf[]): void => {
    const sorted = leaves.toSorted(winnerFirst);
    const seq = log.push(id);
    documents.set(id, { leaves: sorted, seq });
    const [leaf] = sorted;
    if (leaf !== undefined) for (const tell of listeners) tell({ id, seq, leaf });
  };
  let count = 0;
  const write = (doc: NewDocument): WriteResult => {
    const { _id: id, _rev: upon } = doc;
    const leaves = leavesOf(id);
    const parent = parentOf(leaves, upon);
    if (parent === 'conflict') return { kind: 'conflict' };
    const rev = revisionAfter(parent, (count += 1));
    const leaf: MemoryLeaf = {
      revision: { rev, parent: parent?.revision },
      doc: { ...doc, _rev: rev },
      isDeleted: doc['_deleted'] === true,
    };
    keep(id, [...leaves.filter((one) => one !== parent), leaf]);
    return { kind: 'written', rev };
  };
  return {
    seq: () => log.length,
    ids: () => [...documents].flatMap(([id, { leaves }]) => (isLive(leaves[0]) ? [id] : [])).sort(),
    get: (id) => {
      const [winner] = leavesOf(id);
      return isLive(winner) ? winner.doc : undefined;
    },
    leaves: leavesOf,
    write,
    graft: (revision, doc) => {
      const leaves = leavesOf(doc._id);
      if (leaves.some((one) => includes(one.revision, revision.rev))) return;
      const before = new Set(revisionsOf(revision));
      const others = leaves.filter((one) => !before.has(one.revision.rev));
      keep(doc._id, [...others, { revision, doc, isDeleted: doc['_deleted'] === true }]);
    },
    purge: (id, rev) => {
      const [only, ...others] = leavesOf(id);
      if (only?.revision.rev !== rev || !only.isDeleted || others.length > 0) return false;
      return documents.delete(id);
    },
    changes: (since) =>
      log.slice(since).flatMap((id, at) => {
        const { leaves: [leaf] = [], seq } = documents.get(id) ?? {};
        return leaf !== undefined && seq === since + at + 1 ? [{ id, seq, leaf }] : [];
      }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function isLive(leaf: MemoryLeaf | undefined): leaf is MemoryLeaf {
  return leaf?.isDeleted === false;
}

/** The name of the next revision; no two of a database are the same. */
function revisionAfter(parent: MemoryLeaf | undefined, count: number): string {
  const generation = parent === undefined ? 1 : generationIn(parent.revision.rev) + 1;
  return `${generation}-${count.toString(16).padStart(32, '0')}`;
}

function winnerFirst(a: MemoryLeaf, b: MemoryLeaf): number {
  return (
    Number(a.isDeleted) - Number(b.isDeleted) || compareRevisions(b.revision.rev, a.revision.rev)
  );
}

/** The leaf upon which a write goes; undefined: the document is new. */
function parentOf(
  leaves: readonly MemoryLeaf[],
  upon: string | undefined,
): MemoryLeaf | 'conflict' | undefined {
  const [winner] = leaves;
  if (upon === undefined) return isLive(winner) ? 'conflict' : winner;
  return leaves.find(({ revision }) => revision.rev === upon) ?? 'conflict';
}
