import type { Stands } from './carry.js';
import { healed } from './heal.js';
import { rest, type Protocol } from './protocol.js';
import { holds, isDone, isOver, stepOf, stepsOf, type Tip } from './tips.js';

/** What all copies together say of a document. `tip`: its winner, undefined when it is deleted. */
export type Agreed = { readonly tip: Tip | undefined; readonly conflict: boolean };

/** Maximum number of waits for another engine to give up what is in the way of a running attempt. */
const mostTries = 8;

/**
 * The document as all copies together tell it, healed as far as possible; undefined: the engine
 * ends. While one of `running`, claims of attempts that run here, stands only in a losing tip, it is
 * waited for a while that it can be brought into the winner.
 */
export function* agree(
  id: string,
  running: readonly string[],
  stands: Stands,
): Protocol<Agreed | undefined> {
  for (let tries = 0; ; tries += 1) {
    const tips = yield* healed(id, stands);
    if (tips === undefined) return undefined;
    const [tip, ...losers] = tips;
    const isAstray = (claim: string): boolean =>
      tip !== undefined && losers.some((loser) => mayJoin(claim, loser, tip));
    if (tries === mostTries || !running.some(isAstray)) return { tip, conflict: losers.length > 0 };
    yield* rest(tries);
  }
}

/** The claim stands in the losing tip only, and the winner has not gone on without it. */
function mayJoin(claim: string, loser: Tip, winner: Tip): boolean {
  if (holds(winner, claim) || !holds(loser, claim) || isOver(winner)) return false;
  return !isDone(stepsOf(winner), String(stepOf(loser, claim)?.path));
}
