import type { LivenessOf } from './attempt-merge.js';
import { resolveConflict } from './conflict.js';
import { rest, type Protocol } from './protocol.js';
import { holds, isDone, isOver, stepOf, stepsIn, type LeafRevision } from './leaf-revisions.js';

/** What all copies together say of a document. `leaf`: its winner, undefined when it is deleted. */
export type ConsistentRead = {
  readonly leaf: LeafRevision | undefined;
  readonly conflict: boolean;
};

/** Maximum number of waits for another engine to give up what is in the way of a running attempt. */
const mostTries = 8;

/**
 * Reads the document from all copies and resolves its conflict as far as possible; undefined: the engine
 * ends. While one of `running`, claims of attempts that run here, is only in a losing leaf, it is
 * waited for a while that it can be brought into the winner.
 */
export function* readConsistent(
  id: string,
  running: readonly string[],
  livenessOf: LivenessOf,
): Protocol<ConsistentRead | undefined> {
  for (let tries = 0; ; tries += 1) {
    const leaves = yield* resolveConflict(id, livenessOf);
    if (leaves === undefined) return undefined;
    const [leaf, ...losers] = leaves;
    const isAstray = (claim: string): boolean =>
      leaf !== undefined && losers.some((loser) => mayJoin(claim, loser, leaf));
    if (tries === mostTries || !running.some(isAstray))
      return { leaf, conflict: losers.length > 0 };
    yield* rest(tries);
  }
}

/** The claim is in the losing leaf only, and the winner has not gone on without it. */
function mayJoin(claim: string, loser: LeafRevision, winner: LeafRevision): boolean {
  if (holds(winner, claim) || !holds(loser, claim) || isOver(winner)) return false;
  return !isDone(stepsIn(winner), String(stepOf(loser, claim)?.path));
}
