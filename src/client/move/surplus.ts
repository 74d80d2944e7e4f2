import { openClient } from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { readDatabase } from '../../store/database-state.js';
import { readChanges } from '../../store/past-changes.js';
import { compareDocuments } from '../../store/same-documents.js';
import { readCutOver, writeCutOver } from '../database-id.js';
import { copyChanges, type Copying } from './copy.js';

/** What is left out of it, and how documents are erased. */
export type SurplusOptions = Copying & {
  readonly isLeftOut: (id: string) => boolean;
  readonly erase: (connection: Connection, ids: readonly string[]) => Promise<unknown>;
  /** Documents that are not copied. */
  readonly notCopied?: readonly string[];
};

/** Changes that are read together. */
const together = 1_000;

/**
 * Notes where the feed of a target stands before the cut-over: nobody has been sent there yet. `seq`: up to where
 * it is known; what was stored after it stays.
 */
export async function noteCutOver(to: Connection, seq?: string): Promise<void> {
  const client = openClient(to);
  const from = seq ?? (await readDatabase(client)).updateSeq;
  await writeCutOver(client, { seq: from, forgets: [] });
}

/**
 * What was copied and then removed and purged in the old database has left no trace there that would be copied:
 * it is erased in the new one. What was stored anew under its id is copied once more. What has changed in the new one
 * since the cut-over is left alone: it may have been stored there by somebody who has heard of the new place.
 */
export async function forgetSurplus(options: SurplusOptions): Promise<void> {
  const { from, to, signal, isLeftOut, erase, notCopied } = options;
  const client = openClient(to);
  const cutOver = await readCutOver(client);
  if (cutOver === undefined) return;
  const { ids } = await compareDocuments(to, from, isLeftOut, Infinity);
  const since = ids.length === 0 ? new Set() : await changedSince(to, cutOver.seq);
  // Should it be interrupted, what is deleted and not purged yet is no surplus any more.
  const forgets = [...new Set([...cutOver.forgets, ...ids.filter((id) => !since.has(id))])];
  if (forgets.length === 0) return;
  await writeCutOver(client, { ...cutOver, forgets });
  await erase(to, forgets);
  await copyChanges({ from, to, signal, anew: true }, () => undefined, notCopied);
  await writeCutOver(client, { ...cutOver, forgets: [] });
}

/** The ids of what has changed since a sequence; of an unknown one, of all that could have. */
async function changedSince(
  of: Connection,
  seq: string,
): Promise<{ has: (id: string) => boolean }> {
  const client = openClient(of);
  const ids = new Set<string>();
  for (let since = seq; ;) {
    const past = await readChanges(client, since, together, { documents: false });
    if (past.kind === 'unknown') return { has: () => true };
    for (const { id } of past.changes) ids.add(id);
    if (!past.more) return ids;
    since = past.seq;
  }
}
