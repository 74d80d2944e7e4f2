import type { PermitAnswer } from '../decide/world.js';
import type { PermitRequest } from '../decide/queries.js';
import { permitHolder, holdersOf, permitLocks } from '../engine/locks/permit-holders.js';
import type { StoredDocument } from '../model/document.js';
import type { Job } from '../model/job.js';
import { isOf } from '../replicas/lock-holder.js';
import type { Store } from '../store/store.js';

/** Who has all permits of a limit that a job, or a step of it, wants; undefined: each has one left. */
export async function permitsTaken(
  store: Store,
  { wants, step }: Pick<PermitRequest, 'wants'> & { readonly step: string | undefined },
  job: Job,
): Promise<PermitAnswer | undefined> {
  const locks = await permitLocks(
    store,
    wants.map(({ key }) => key),
  );
  for (const { key, most } of wants) {
    const others = locks.filter(
      (lock) => lock['key'] === key && !(isOf(lock, job) && lock['step'] === step),
    );
    const holders = await holdersOf(store, others);
    const by = others.flatMap((lock) => {
      const holder = holders.get(lock._id);
      return holder === undefined ? [] : [permitHolder(lock, holder, { owner: job.owner })];
    });
    if (by.length >= most) return { kind: 'full', key, by };
  }
  return undefined;
}

/** A permit, and the job that has it now. */
export type HeldPermit = {
  readonly lock: StoredDocument;
  readonly job: string;
  readonly owner: string;
};

/** All permits that jobs have, of at most so many locks; `partly`: there are more. */
export async function heldPermits(
  store: Store,
  most: number,
): Promise<{ readonly held: readonly HeldPermit[]; readonly partly: boolean }> {
  const range = { startKey: ['permit'], endKey: ['permit', {}] };
  const rows = await store.view('locks', { ...range, includeDocs: true, limit: most + 1 });
  const locks = rows.slice(0, most).flatMap(({ doc }) => doc ?? []);
  const holders = await holdersOf(store, locks);
  const held = locks.flatMap((lock) => {
    const holder = holders.get(lock._id);
    return holder === undefined ? [] : [{ lock, job: holder.job, owner: holder.owner }];
  });
  return { held, partly: rows.length > most };
}
