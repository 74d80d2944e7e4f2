import { winnerFirst, type LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';

/** One revision of the job; they are shared by all copies and never changed. */
export type Revision = {
  readonly rev: string;
  readonly parent: Revision | undefined;
  readonly deleted: boolean;
  readonly doc: LeafRevision;
};

/** Makes the revision that CouchDB would make of a document: its hash follows from the content. */
export function revise(parent: Revision | undefined, body: LeafRevision): Revision {
  const generation = parent === undefined ? 1 : Number.parseInt(parent.rev, 10) + 1;
  const rev = `${generation}-${hashOf(`${parent?.rev}${JSON.stringify(body)}`)}`;
  return { rev, parent, deleted: body['_deleted'] === true, doc: { ...body, _rev: rev } };
}

/** The revision tree of the job on one copy. */
export class Tree {
  readonly #known = new Set<string>();
  readonly #leaves = new Map<string, Revision>();

  /** Writes upon a leaf; false is a conflict: it is no leaf here, or not known. */
  write(next: Revision): boolean {
    const base = next.parent?.rev;
    const isFree = base === undefined ? this.#isAbsent : this.#leaves.has(base);
    if (!isFree || this.#known.has(next.rev)) return false;
    if (base !== undefined) this.#leaves.delete(base);
    this.#add(next);
    return true;
  }

  /** Takes a revision with its history from another copy, as it is; true when it was news. */
  graft(revision: Revision): boolean {
    if (this.#known.has(revision.rev)) return false;
    this.#add(revision);
    let { parent } = revision;
    for (; parent !== undefined && !this.#known.has(parent.rev); parent = parent.parent) {
      this.#known.add(parent.rev);
    }
    if (parent !== undefined) this.#leaves.delete(parent.rev);
    return true;
  }

  /** It never was there, or is deleted. */
  get #isAbsent(): boolean {
    return [...this.#leaves.values()].every(({ deleted }) => deleted);
  }

  get leaves(): readonly Revision[] {
    return [...this.#leaves.values()];
  }

  #add(revision: Revision): void {
    this.#known.add(revision.rev);
    this.#leaves.set(revision.rev, revision);
  }
}

/** What several copies together say: leaves of one that others have written upon are none. */
export function merged(copies: readonly (readonly Revision[])[]): readonly Revision[] {
  const all = new Map(copies.flat().map((leaf) => [leaf.rev, leaf]));
  if (all.size < 2) return [...all.values()];
  const inner = new Set<string>();
  for (const leaf of all.values()) {
    for (let { parent } = leaf; parent !== undefined; parent = parent.parent) inner.add(parent.rev);
  }
  return [...all.values()].filter(({ rev }) => !inner.has(rev));
}

/** The leaves among leaves, the winner first. */
export function leavesOf(leaves: readonly Revision[]): readonly LeafRevision[] {
  const live = leaves.filter(({ deleted }) => !deleted).map(({ doc }) => doc);
  return live.length < 2 ? live : winnerFirst(live);
}

/** 53 bits of a text (cyrb53, public domain), as 14 hexadecimal digits. */
function hashOf(text: string): string {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    one = Math.imul(one ^ code, 2654435761);
    other = Math.imul(other ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (4294967296 * (2097151 & other) + (one >>> 0)).toString(16).padStart(14, '0');
}
