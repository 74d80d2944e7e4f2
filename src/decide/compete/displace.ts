import type { LiveJob } from '../../model/job.js';
import { acquire, type Acquire } from '../queries.js';
import type { PermitHolder, World } from '../world.js';
import type { KeyedLimit } from './limits.js';

/** Who asks for a permit of a limit, and who has them all. */
export type Displacing = {
  readonly limit: KeyedLimit;
  readonly by: readonly PermitHolder[];
  readonly step?: string;
};

/**
 * Asks the holder that has a permit longest to cancel (`cancel_oldest`); undefined: it was asked already, or
 * there is nobody to ask, and what comes waits.
 *
 * L5 A holder is asked once, and for one job: the lock says for whom, written by a compare-and-set before
 *    the request is stored, whose id follows from the lock. So a job for which a holder is being
 *    cancelled asks no other, and one that died between the two writes is made good by the next decision.
 * L6 A job asks neither itself nor the jobs that it was made for, with their slices: it would be cancelled
 *    with them. Nor does it ask jobs of other owners, jobs that came later and those that have not begun.
 */
export function displacement(
  job: LiveJob,
  { limit, by, step }: Displacing,
  world: World,
): Acquire | undefined {
  const wantedBy = step === undefined ? job._id : `${job._id} ${step}`;
  const own = by.filter((holder) => holder.wantedBy === wantedBy && holder.foreign !== true);
  if (own.some(({ cancelling }) => cancelling)) return undefined;
  const open = by.filter((holder) => mayAsk(holder, job));
  const [victim] = own.length > 0 ? own : open.toSorted(byAge);
  if (victim === undefined || world.displaced.has(victim.nonce)) return undefined;
  const { job: holder, nonce, lock } = victim;
  const reason = `Job ${job._id} needs its permit of ${limit.title} (${limit.most} in all, "cancel_oldest").`;
  const request = {
    ...({ _id: `request:cancel:${holder}:${nonce}`, type: 'request', job: holder } as const),
    ...({ action: 'cancel', by: `job ${job._id}`, reason } as const),
  };
  return acquire({ displaces: [{ lock, nonce, wantedBy, request }] });
}

function byAge(a: PermitHolder, b: PermitHolder): number {
  return a.at - b.at || (a.lock < b.lock ? -1 : 1);
}

function mayAsk({ job: holder, ...of }: PermitHolder, { _id, parent }: LiveJob): boolean {
  const isKin = of.kin === true || [_id, parent?.job, parent?.root].includes(holder);
  const wait = [of.wantedBy, of.cancelling, of.undecided, of.foreign, of.newer];
  return !isKin && wait.every((one) => one === undefined);
}
