import { problem } from '../../errors.js';
import { openClient } from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { readDatabase } from '../../store/database-state.js';
import { addressOf } from '../../store/moved.js';
import { makeDatabaseId, readMoveMark, writeCopiedSeq, writeMoveMark } from '../database-id.js';

/**
 * Marks an empty database as the target of a move of this one; one that is marked so is taken again.
 * @throws TwsError `move_target_used`, and those of `CouchClient.ask`
 */
export async function claimTarget(from: Connection, to: Connection): Promise<void> {
  const target = openClient(to);
  const id = await makeDatabaseId(from);
  const of = await readMoveMark(target);
  if (of === id) return;
  const { documents, updateSeq } = await readDatabase(target);
  if (of !== undefined || documents > 0) {
    throw problem('move_target_used', { place: addressOf(to), documents });
  }
  await writeCopiedSeq(target, updateSeq);
  await writeMoveMark(target, id);
}
