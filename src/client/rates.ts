import { freeAt } from '../decide/compete/rates.js';
import type { RateRequest } from '../decide/queries.js';
import type { RateAnswer } from '../decide/world.js';
import { rateDocumentSchema } from '../model/rate.js';
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
  const times = grants
    .flatMap((grant) => {
      // As if it had been seen when it was stamped.
      const view = { now: grant.at, gen: 1, by: '', perMs, seenAt: () => undefined };
      return Array.from({ length: grant.n ?? 1 }, () => freeAt(grant, perMs, view));
    })
    .filter((time) => time > now)
    .sort((a, b) => a - b);
  const until = times[times.length - limit];
  return until === undefined ? { kind: 'held' } : { kind: 'full', until };
}
