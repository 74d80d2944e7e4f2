import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import { winnerFirst } from '../../replicas/resolve/leaf-revisions.js';
import { isEdited } from '../../decide/schedules/standing.js';
import type { FollowParts } from './followed-parts.js';

/** What became of a revision; `lost`: another one has won. `reason`: why the store refuses it for good. */
export type WrittenRevision =
  | { readonly kind: 'stored'; readonly doc: StoredDocument }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'lost' };

/**
 * Stores the next revision of a document that engines follow. Where the database keeps several copies, it
 * has won when it is the winner of all leaf revisions; the others are removed.
 */
export async function writeFollowed(
  parts: FollowParts,
  next: StoredDocument,
): Promise<WrittenRevision> {
  const { store, retry, replicas, documentLimit, once } = parts;
  const { _id: id } = next;
  const result = await store.write(next, documentLimit.bytes);
  switch (result.kind) {
    case 'conflict':
      return { kind: 'lost' };
    case 'refused':
      once.log('error', id, `Document ${id} cannot be stored: ${result.reason}`);
      return { kind: 'refused', reason: result.reason };
    case 'written':
      once.stored(id);
      if (!replicas.many) return { kind: 'stored', doc: { ...next, _rev: result.rev } };
      break;
    case 'unknown':
      break;
  }
  const winner = replicas.many ? await resolveLeaves(parts, id) : await retry(() => store.get(id));
  const isOurs = winner !== undefined && contentOf(winner) === contentOf(next);
  return isOurs ? { kind: 'stored', doc: winner } : { kind: 'lost' };
}

/**
 * Removes all leaf revisions of a document but one, and resolves with that: the winner, but of those that
 * are as long an edit of a schedule goes first, since engines can decide again and people cannot be asked again.
 */
export async function resolveLeaves(
  { store, retry, replicas }: Pick<FollowParts, 'store' | 'retry' | 'replicas'>,
  id: string,
): Promise<StoredDocument | undefined> {
  const leaves = await retry(() => store.leaves(id, replicas.count));
  const sorted = winnerFirst(leaves ?? []);
  const count = Number.parseInt(sorted[0]?._rev ?? '', 10);
  const edit = sorted.find((leaf) => Number.parseInt(leaf._rev, 10) === count && isEdited(leaf));
  const winner = edit ?? sorted[0];
  const others = sorted.filter((leaf) => leaf !== winner);
  await Promise.all(others.map(({ _rev }) => store.remove(id, _rev)));
  return winner;
}

function contentOf(doc: StoredDocument): string {
  const { _rev, _conflicts, ...content } = doc;
  return canonical(content);
}
