import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import { winnerFirst } from '../../replicas/resolve/leaf-revisions.js';
import { isEdited } from '../../decide/schedules/standing.js';
import { mergedGathering } from '../../decide/triggers/gathered-events.js';
import { mergedEvent } from '../../decide/triggers/joined-event.js';
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
  if (winner === unclear) return { kind: 'lost' };
  const isOurs = winner !== undefined && contentOf(winner) === contentOf(next);
  return isOurs ? { kind: 'stored', doc: winner } : { kind: 'lost' };
}

/**
 * Removes all leaf revisions of a document but one, and resolves with that: the winner, but of those that
 * are as long an edit of a schedule goes first, since engines can decide again and people cannot be asked again.
 * Revisions of an event, or of gathered events, become one that says what all of them do. `unclear`: there are
 * several and none of them says all, because what they say together could not be stored: nothing may be decided
 * upon one. Undefined: there is no document.
 */
export async function resolveLeaves(
  parts: ResolveParts,
  id: string,
): Promise<StoredDocument | Unclear | undefined> {
  const { store, retry, replicas, life, documentLimit, once } = parts;
  for (let tries = 0; tries < mostMerges && !life.signal.aborted; tries += 1) {
    const leaves = await retry(() => store.leaves(id, replicas.count));
    const sorted = winnerFirst(leaves ?? []);
    if (sorted.length < 2) return sorted[0];
    const winner = longestEdit(sorted);
    const others = sorted.filter((leaf) => leaf !== winner);
    const all = winner === undefined ? [] : [winner, ...others];
    const merged = mergedGathering(all) ?? mergedEvent(all);
    // Nothing is removed before what it says is stored elsewhere.
    const written = merged && (await store.write(merged, documentLimit.bytes));
    if (written?.kind === 'refused') {
      const what = `The revisions in conflict of document ${id} cannot be made one: ${written.reason}`;
      once.log('error', id, what);
      return unclear;
    }
    if (written !== undefined && written.kind !== 'written') continue;
    await Promise.all(others.map(({ _rev }) => store.remove(id, _rev)));
    if (merged === undefined) return winner;
  }
  return unclear;
}

/** Of leaves with the winner first: it, or an edit by hand that is as long. */
function longestEdit(sorted: readonly StoredDocument[]): StoredDocument | undefined {
  const count = Number.parseInt(sorted[0]?._rev ?? '', 10);
  const longest = sorted.filter((leaf) => Number.parseInt(leaf._rev, 10) === count);
  return longest.find(isEdited) ?? longest[0];
}

/** Of a document with several revisions: none of them may be decided upon. */
export const unclear = 'unclear';
type Unclear = typeof unclear;

/** So often it is tried to make one revision of several; what is left is looked at again by the next change. */
const mostMerges = 20;

type ResolveParts = Pick<
  FollowParts,
  'store' | 'retry' | 'replicas' | 'life' | 'documentLimit' | 'once'
>;

function contentOf(doc: StoredDocument): string {
  const { _rev, _conflicts, ...content } = doc;
  return canonical(content);
}
