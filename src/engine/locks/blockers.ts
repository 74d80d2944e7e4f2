import type { Blocker, Blockers } from '../../decide/world.js';
import { ownerOf } from '../../model/task.js';
import type { ViewRow } from '../../store/views.js';
import { createTurns } from '../../turns.js';
import {
  lockHolderOf,
  isOf,
  type LockingJob,
  type FindDocument,
} from '../../replicas/lock-holder.js';
import { isTooHeavy, readLockPattern } from '../../evaluate/patterns.js';

type Row = ViewRow<'locks'>;

/**
 * The other jobs that have not ended and whose patterns, of those in `rows`, match a target. There may
 * be thousands of patterns: the event loop goes on between them.
 */
export async function findBlockers(
  rows: readonly Row[],
  target: string,
  job: LockingJob,
  find: FindDocument,
): Promise<Blockers> {
  const own = rows.find(({ value }) => value.job === job._id)?.value.at;
  const owner = ownerOf(job);
  const matching: Row[] = [];
  const turns = createTurns();
  for (const row of rows) {
    const { key, value } = row;
    const isMeant = !isOf(value, job) && counts(value, value.owner ?? owner, owner);
    if (isMeant && isMatch(key[1], target)) matching.push(row);
    const turn = turns();
    if (turn !== undefined) await turn;
  }
  const all = await Promise.all(
    matching.map(async ({ id, value }): Promise<readonly Blocker[]> => {
      const holder = await lockHolderOf(find, { _id: id, job: value.job });
      if (holder === undefined || !counts(value, holder.owner, owner)) return [];
      const { job, decided } = holder;
      return [{ job, decided, at: value.at, ...(holder.owner === owner ? {} : foreign) }];
    }),
  );
  return { kind: 'known', ...(own === undefined ? {} : { own }), all: all.flat() };
}

const foreign = { foreign: true } as const;

/** Whether the lock of a job of `holder` counts for the jobs of `owner`. */
function counts({ scope }: { readonly scope?: unknown }, holder: string, owner: string): boolean {
  return scope === 'database' || holder === owner;
}

/** A lock that is held and that no engine judges counts. */
export function isMatch(text: string, target: string): boolean {
  const pattern = readLockPattern(text);
  return pattern.ok ? pattern.matches(target) : isTooHeavy(text);
}
