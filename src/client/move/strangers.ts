import { problem } from '../../errors.js';
import { openClient } from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import type { Change } from '../../store/change.js';
import { readDatabase } from '../../store/database-state.js';
import { addressOf } from '../../store/moved.js';
import { readChanges } from '../../store/past-changes.js';
import { currentRevisions, unknownRevisions } from '../../store/same-documents.js';
import { readCopiedSeq, writeCopiedSeq } from '../database-id.js';

/** A pass of a copy, and which documents the move does not bring. */
export type CopyPass = {
  readonly from: Connection;
  readonly to: Connection;
  /** The revisions that it has written, by their names. */
  readonly known: ReadonlySet<string>;
  readonly isLeftOut: (id: string) => boolean;
};

/** A revision of a document. */
export type CopiedRevision = { readonly _id: string; readonly _rev: string };

/** What a revision is called among those that a pass has written. */
export function nameOfCopy({ _id, _rev }: CopiedRevision): string {
  return `${_id} ${_rev}`;
}

/** Changes that are read together. */
const together = 1_000;

/**
 * Looks through what has changed in the target since the last pass: before the cut-over only the move stores anything
 * there, and what others have stored would be erased as surplus (V9). Resolves with the sequence up to which all is the
 * move's; undefined: an earlier version began the move, and nobody knows.
 * @throws TwsError `move_target_changed`
 */
export async function refuseStrangers(pass: CopyPass): Promise<string | undefined> {
  const client = openClient(pass.to);
  const since = await readCopiedSeq(client);
  if (since === undefined) return undefined;
  for (let at = since; ;) {
    const past = await readChanges(client, at, together, { documents: false });
    if (past.kind === 'unknown') return undefined;
    const strangers = await strangersIn(past.changes, pass);
    if (strangers.length > 0) {
      const ids = strangers.slice(0, mostTold);
      throw problem('move_target_changed', {
        ...{ place: addressOf(pass.to), count: strangers.length, ids },
      });
    }
    at = past.seq;
    if (past.more) continue;
    await writeCopiedSeq(client, at);
    return at;
  }
}

/** How many of them are named. */
const mostTold = 5;

/**
 * Those whose revision this pass has not written and the old place never had: a pass that was killed wrote others, which
 * may have changed since. What others have deleted counts as long as the old place has it: it would not come back.
 */
async function strangersIn(
  changes: readonly Change[],
  { from, known, isLeftOut }: CopyPass,
): Promise<readonly string[]> {
  const isOurs = ({ id, revs }: Change): boolean =>
    isLeftOut(id) || revs.some((rev) => known.has(nameOfCopy({ _id: id, _rev: rev })));
  const others = changes.filter((change) => !isOurs(change));
  const client = openClient(from);
  const revisions = new Map(others.map(({ id, revs: [rev = ''] }) => [id, rev]));
  const unknown = new Set(await unknownRevisions(client, revisions));
  const strangers = others.filter(({ id }) => unknown.has(id));
  const there = await currentRevisions(
    client,
    strangers.filter(({ deleted }) => deleted),
  );
  return strangers.flatMap(({ id, deleted }) => (deleted && !there.has(id) ? [] : [id]));
}

/** Notes that the target has nothing but what the move brought: both places were compared, and it takes no writes. */
export async function noteAllCopied(to: Connection): Promise<void> {
  const client = openClient(to);
  await writeCopiedSeq(client, (await readDatabase(client)).updateSeq);
}
