import { LRUCache } from 'lru-cache';
import type { ReplicasParts } from './replicas.js';
import type { LivenessOf } from './resolve/attempt-merge.js';
import type { Committed, JobWrite } from './resolve/commit.js';

/** Claims that can be looked up. */
export type Known = Pick<ReadonlySet<string>, 'has'>;

/** So many claims are remembered that were given up, and as many that have ended. */
const remembered = 10_000;
/** So long copies may take to hear of each other's revisions, ms. */
const hearsayMs = 300_000;

/** What this engine knows of the attempts of a job; `ended`: claims whose ends it has stored. */
export function livenessFor(
  { me, claimsOf, lease }: Pick<ReplicasParts, 'me' | 'claimsOf' | 'lease'>,
  job: string,
  ended: Known,
): LivenessOf {
  return ({ engine, claim, pid }) => {
    if (claimsOf(job).includes(claim)) return 'runs';
    if (engine === me) return ended.has(claim) ? 'elsewhere' : 'given_up';
    return lease(engine, pid) === 'dead' ? 'lost' : 'elsewhere';
  };
}

/** The claims that were given up, and those whose ends were stored. */
export function createPastClaims() {
  const unbegun = new LRUCache<string, true>({ max: remembered });
  const ended = new LRUCache<string, true>({ max: remembered, ttl: hearsayMs });
  return {
    unbegun,
    ended,
    /** `isLate`: some copies hear of the end later. */
    remember: (change: JobWrite, { kind }: Committed, isLate: boolean): void => {
      if (kind !== 'written') for (const { claim } of change.claims) unbegun.set(claim, true);
      const isEnded = isLate && (kind === 'written' || kind === 'given_up');
      if (isEnded) for (const claim of change.ended ?? []) ended.set(claim, true);
    },
  };
}
