import { freeAt } from '../decide/compete/rates.js';
import type { RateRequest } from '../decide/queries.js';
import type { RateAnswer } from '../decide/world.js';
import { rateDocumentSchema, type Grant } from '../model/rate.js';
import type { Store } from '../store/store.js';

/** What an engine would get of a rate limit, as far as the clock of this machine tells; nothing is taken. */
export async function grantOpen(
  store: Store,
  { id, for: whose, limit, perMs }: RateRequest,
  now: number,
): Promise<RateAnswer> {
  const parsed = rateDocumentSchema.safeParse(await store.get(id));
  if (!parsed.success) return { kind: 'held' };
  const { grants } = parsed.data;
  if (grants.some((grant) => grant.for === whose)) return { kind: 'held' };
  const counting = countingGrants(grants, perMs, now)
    .map(({ grant, free }) => ({ at: free, n: grant.n ?? 1 }))
    .sort((a, b) => a.at - b.at);
  let left = counting.reduce((sum, { n }) => sum + n, 0);
  if (left < limit) return { kind: 'held' };
  const next = counting.find(({ n }) => (left -= n) < limit) as (typeof counting)[number];
  return { kind: 'full', until: next.at };
}

/** The grants that count in a window of that length, and when each comes free, as far as the clock of this machine tells. */
export function countingGrants(
  grants: readonly Grant[],
  perMs: number,
  now: number,
): readonly { readonly grant: Grant; readonly free: number }[] {
  return grants
    .map((grant) => {
      // As if it had been seen when it was stamped.
      const view = { now: grant.at, gen: 1, by: '', perMs, seenAt: () => undefined };
      return { grant, free: freeAt(grant, perMs, view) };
    })
    .filter(({ free }) => free > now);
}
