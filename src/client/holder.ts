import { targetLock } from '../decide/compete/locks.js';
import { isMatch } from '../engine/locks/blockers.js';
import { lockIdOf } from '../lock-id.js';
import type { StoredDocument } from '../model/document.js';
import { targetOf } from '../model/target.js';
import { readUnique } from '../model/unique.js';
import { ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';

/** The job that has what another one wants to work on. */
export type Holder = {
  readonly job: string;
  /**
   * `target`: it works on the same with the same parameters; `pattern`: its `locks` match; `unique`: it has the
   * same key; `replaced`: that one is cancelled first.
   */
  readonly kind: 'target' | 'pattern' | 'unique' | 'replaced';
  /** The target, or what the key belongs to. */
  readonly target: string;
};

/** Who keeps a job from its key or its target, for one that has not taken its locks yet; undefined: nobody. */
export async function holderOf(
  store: Store,
  job: StoredDocument,
  flow?: StoredDocument,
): Promise<Holder | undefined> {
  const { _id, params = {}, state, relock } = job;
  if (state !== undefined && relock !== true) return undefined;
  const unique = readUnique(
    job['unique'] ?? (job['tasks'] === undefined ? flow?.['unique'] : undefined),
  );
  const same =
    unique && (await (await import('./unique-rival.js')).uniqueRival(store, job, unique));
  if (same !== undefined) return same;
  const wanted = targetOf(job['target']);
  if (wanted === undefined) return undefined;
  const owner = ownerOf(job);
  const target = wanted.text;
  const lock = await store.get(lockIdOf(targetLock(wanted, owner, params).id));
  const by = lock?.['job'];
  if (typeof by === 'string' && by !== _id) return { job: by, kind: 'target', target };
  const rows = await store.view('locks', { startKey: ['pattern'], endKey: ['pattern', {}] });
  const row = rows.find(({ key: [, pattern], value }) => {
    if (value.scope !== 'database' && value.owner !== owner) return false;
    return value.job !== _id && isMatch(pattern, target);
  });
  return row === undefined ? undefined : { job: row.value.job, kind: 'pattern', target };
}
