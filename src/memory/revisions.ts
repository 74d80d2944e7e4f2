/** One revision and the one that it was written upon. */
export type Revision = { readonly rev: string; readonly parent: Revision | undefined };

/** So many revisions of a document are remembered, as by CouchDB's default. */
const mostRemembered = 1_000;

/** The number in front of a revision: how often the document was written until then. */
export function generationIn(rev: string): number {
  return Number.parseInt(rev, 10);
}

/** Of two revisions the one that wins: the one with the longer history, then the one with the higher id. */
export function compareRevisions(a: string, b: string): number {
  return generationIn(a) - generationIn(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** The revisions of a history, newest first. */
export function revisionsOf(revision: Revision): readonly string[] {
  const revs: string[] = [];
  for (let one: Revision | undefined = revision; one !== undefined; one = one.parent) {
    revs.push(one.rev);
    if (revs.length === mostRemembered) break;
  }
  return revs;
}

/** Whether a revision is this one or one before it. */
export function includes(revision: Revision, rev: string): boolean {
  for (let one: Revision | undefined = revision; one !== undefined; one = one.parent) {
    if (one.rev === rev) return true;
  }
  return false;
}

/** The history of a copy: `_revisions`, or its `_rev` alone. */
export function revisionOfCopy(rev: string, revisions: unknown): Revision {
  const { start, ids } = (revisions ?? {}) as { readonly start?: number; readonly ids?: string[] };
  if (start === undefined || ids === undefined) return { rev, parent: undefined };
  const [oldest = rev, ...later] = ids.map((id, n) => `${start - n}-${id}`).toReversed();
  const first: Revision = { rev: oldest, parent: undefined };
  return later.reduce<Revision>((parent, one) => ({ rev: one, parent }), first);
}

/** A history as `_revisions` shows it. */
export function shownHistory(revision: Revision): {
  readonly start: number;
  readonly ids: string[];
} {
  const ids = revisionsOf(revision).map((rev) => rev.slice(rev.indexOf('-') + 1));
  return { start: generationIn(revision.rev), ids };
}
