import { problem } from '../../errors.js';
import { sensitiveDatabases } from '../../model/sensitive.js';
import type { Connection } from '../../store/connection.js';
import { createMissingDatabase, isDatabaseThere } from '../../store/database.js';
import { eraseDocuments } from '../../store/erase.js';
import { addressOf, markMoved, unmarkMoved } from '../../store/moved.js';
import { compareDocuments } from '../../store/same-documents.js';
import { copyChanges } from './copy.js';
import { forgetSurplus, noteCutOver } from './surplus.js';
import { claimTarget } from './target.js';

/*
 * The sensitive values beside a database, and the keys of their subjects:
 *
 * MS1 They are copied as they are stored: values sealed, keys encrypted with the main key. Nothing opens them.
 * MS2 They are copied once the old place takes no writes any more, into databases that are closed before. What was
 *     purged at the old place since an earlier copy is purged at the new one; what was stored there since the cut-over
 *     stays.
 * MS3 Engines may work on the new database only when all of them are there.
 */

export type Pair = { readonly from: Connection; readonly to: Connection };

/** Creates the databases of sensitive values beside a database, closed to all but those who may read them. */
export type PrepareSensitive = (beside: Connection) => Promise<unknown>;

/** The databases of sensitive values that there are beside the old place, and where each of them goes. */
async function pairsBeside({ from, to }: Pair): Promise<readonly Pair[]> {
  const [here, there] = [sensitiveDatabases(from.database), sensitiveDatabases(to.database)];
  const pairs = (['keys', 'values'] as const).map((one) => ({
    from: { ...from, database: here[one] },
    to: { ...to, database: there[one] },
  }));
  const known = await Promise.all(pairs.map((pair) => isDatabaseThere(pair.from)));
  return pairs.filter((_, i) => known[i]);
}

/**
 * Prepares the new places, before the old ones take no writes any more.
 * @throws TwsError `move_target_used`, `couch_not_admin`, and those of servers out of reach
 */
export async function claimSensitive(place: Pair, prepare: PrepareSensitive): Promise<void> {
  const pairs = await pairsBeside(place);
  for (const { from, to } of pairs) {
    await createMissingDatabase(to);
    await claimTarget(from, to);
    await unmarkMoved(to);
  }
  if (pairs.length > 0) await prepare(place.to);
}

/** Notes in the new places, before the cut-over, what there is of an earlier move. */
export async function noteCutOverOfSensitive(place: Pair): Promise<void> {
  for (const { to } of await pairsBeside(place)) await noteCutOver(to);
}

/**
 * Copies them and compares both sides (MS2). Resolves with the number of documents; undefined: there are none beside it.
 * @throws TwsError `move_incomplete`
 */
export async function moveSensitive(
  { from, to }: Pair,
  signal: AbortSignal,
): Promise<number | undefined> {
  const pairs = await pairsBeside({ from, to });
  for (const pair of pairs) await markMoved(pair.from, addressOf(pair.to));
  let all = 0;
  for (const pair of pairs) {
    const copying = { ...pair, signal };
    // What comes after it has changed since the cut-over, and stays.
    await forgetSurplus({
      ...copying,
      ...{ isLeftOut: isDesign, erase: eraseDocuments, notCopied: [rulesId] },
    });
    while ((await copyChanges(copying, () => undefined, [rulesId])) > 0);
    const { documents, different, ids } = await compareDocuments(pair.from, pair.to, isDesign);
    if (different > 0) {
      throw problem('move_incomplete', { place: addressOf(pair.to), count: different, ids });
    }
    all += documents;
  }
  return pairs.length === 0 ? undefined : all;
}

/** The ids of documents in which the two places differ, once the new one takes no writes any more. */
export async function differentSensitive(place: Pair): Promise<readonly string[]> {
  const different: string[] = [];
  for (const { from, to } of await pairsBeside(place)) {
    if (!(await isDatabaseThere(to))) continue;
    await markMoved(to, addressOf(from));
    const both = [
      await compareDocuments(to, from, isDesign),
      await compareDocuments(from, to, isDesign),
    ];
    different.push(...both.flatMap(({ ids }) => ids));
  }
  return [...new Set(different)];
}

/** Has the old places, or with `new` the new ones, take writes again. */
export async function reopenSensitive(place: Pair, which: 'from' | 'to'): Promise<void> {
  for (const pair of await pairsBeside(place)) {
    if (await isDatabaseThere(pair[which])) await unmarkMoved(pair[which]);
  }
}

/** Every place has its own. */
const rulesId = '_design/sensitive';

const isDesign = (id: string): boolean => id.startsWith('_design/');
