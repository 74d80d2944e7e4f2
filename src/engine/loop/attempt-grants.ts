import { addTo } from '../../model/grouped.js';
import { rateKeyOf, type RateRequest } from '../../decide/queries.js';
import type { RateAnswer } from '../../decide/world.js';
import type { Rates } from '../locks/rates.js';
import type { InLine } from '../waiting/wait-queue.js';

/**
 * Takes the grants of all attempts at once. What looks full is asked first: one that does not get one
 * grant takes no other one, and no place is lost while it waits.
 */
export async function grantAttempts(
  wanted: readonly RateRequest[],
  grants: Map<string, RateAnswer>,
  job: InLine,
  rates: Pick<Rates, 'take' | 'isFull'>,
): Promise<void> {
  const takeAll = async (requests: readonly RateRequest[]): Promise<void> => {
    let lacking: RateAnswer | undefined;
    const ordered = requests.length === 1 ? requests : await fullFirst(requests, rates);
    for (const request of ordered) {
      const answer = lacking ?? (await rates.take(request, job));
      if (answer.kind !== 'held') lacking = answer;
      grants.set(rateKeyOf(request), answer);
    }
  };
  const byAttempt = new Map<string, RateRequest[]>();
  for (const request of wanted) {
    addTo(byAttempt, request.attempt, request);
  }
  await Promise.all([...byAttempt.values()].map(takeAll));
}

async function fullFirst(
  requests: readonly RateRequest[],
  { isFull }: Pick<Rates, 'isFull'>,
): Promise<readonly RateRequest[]> {
  const looks = await Promise.all(
    requests.map(async (request) => ({ request, isFull: await isFull(request) })),
  );
  return looks
    .toSorted((a, b) => Number(b.isFull) - Number(a.isFull))
    .map(({ request }) => request);
}
