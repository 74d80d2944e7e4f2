import { createLru } from '../memo.js';
import type { LivenessOf } from './resolve/attempt-merge.js';
import type { Committed, JobWrite } from './resolve/commit.js';

/** Claims, or ids of jobs, that can be looked up. */
export type Names = Pick<ReadonlySet<string>, 'has'>;

/** What this engine is and sees of the attempts that run. */
export type AttemptsInSight = {
  /** Id of this engine. */
  readonly me: string;
  /** The claims of a job whose attempts run in this process. */
  readonly claimsOf: (job: string) => readonly string[];
  readonly lease: (engine: string, pid?: number) => 'alive' | 'dead';
};

/** So many claims are remembered that were given up, and as many that have ended. */
const remembered = 10_000;
/** So long copies may take to hear of each other's revisions, ms. */
const hearsayMs = 300_000;

/** What this engine knows of the attempts of a job; `ended`: claims whose ends it has stored. */
export function livenessFor(
  { me, claimsOf, lease }: AttemptsInSight,
  job: string,
  ended: Names,
): LivenessOf {
  return ({ engine, claim, pid }) => {
    if (claimsOf(job).includes(claim)) return 'runs';
    if (engine === me) return ended.has(claim) ? 'elsewhere' : 'given_up';
    return lease(engine, pid) === 'dead' ? 'lost' : 'elsewhere';
  };
}

/** The claims that were given up, and those whose ends were stored. */
export function createPastClaims() {
  const unbegun = createLru<true>(remembered);
  const ended = createLru<true>(remembered, { ttl: hearsayMs });
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
