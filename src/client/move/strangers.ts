import { problem } from '../../errors.js';
import { openClient } from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { readDatabase } from '../../store/database-state.js';
import { addressOf } from '../../store/moved.js';
import { readChanges } from '../../store/past-changes.js';
import { currentRevisions, unknownRevisions } from '../../store/same-documents.js';
import { readCopiedSeq, writeCopiedSeq } from '../database-id.js';

/** A pass of a copy, and which documents the move does not bring. */
export type CopyPass = {
  readonly from: Connection;
  readonly to: Connection;
  /** The documents that it has written. */
  readonly known: ReadonlySet<string>;
  readonly isLeftOut: (id: string) => boolean;
};

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
    const past = await readChanges(client, at, together);
    if (past.kind === 'unknown') return undefined;
    const strangers = await strangersIn(
      past.changes.map(({ id }) => id),
      pass,
    );
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
 * Those that this pass has not written and whose revision the old place never had: a pass that was killed wrote others,
 * which may have changed since.
 */
async function strangersIn(
  changed: readonly string[],
  { from, to, known, isLeftOut }: CopyPass,
): Promise<readonly string[]> {
  const rows = changed.filter((id) => !known.has(id) && !isLeftOut(id)).map((id) => ({ id }));
  const there = await currentRevisions(openClient(to), rows);
  return unknownRevisions(openClient(from), there);
}

/** Notes that the target has nothing but what the move brought: both places were compared, and it takes no writes. */
export async function noteAllCopied(to: Connection): Promise<void> {
  const client = openClient(to);
  await writeCopiedSeq(client, (await readDatabase(client)).updateSeq);
}
