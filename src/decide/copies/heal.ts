import { isLive, type LiveStep, type Step } from '../../model/step.js';
import { givenUp, ownChild, withUntold, type Untold } from '../abandoned.js';
import type { GivenUp } from '../intent.js';
import { isPlain } from '../record.js';
import { isRefusal } from '../records.js';
import { released } from '../release.js';
import { hasSpawned } from './beginnings.js';
import { carry, type Stands } from './carry.js';
import { abandon, look, rest, write, type Protocol } from './protocol.js';
import { asReady, isOver, stepsOf, type Tip } from './tips.js';

/** What a document in conflict becomes. */
export type Mending = {
  /** The next revision of the winner, with all that must not be lost. */
  readonly next: Tip;
  /** The losing tips of which nothing is missing in `next`. */
  readonly drop: readonly Tip[];
  /** Jobs that may have been made, and that nobody waits for any more (H3). */
  readonly orphans: readonly GivenUp[];
};

/** Says how a conflict ends (`tips`: the winner first); undefined: it has to wait for somebody. */
export function mend(tips: readonly Tip[], stands: Stands): Mending | undefined {
  const [winner, ...losers] = tips;
  if (winner === undefined) return undefined;
  let next = winner;
  const drop: Tip[] = [];
  for (const loser of losers) {
    const carried = carry(next, loser, stands);
    if (carried === undefined) continue;
    next = carried;
    drop.push(loser);
  }
  // What waits for another engine to speak first is not kept waiting by claims of ours.
  if (drop.length < losers.length) next = withoutGivenUp(next, stands);
  if (next === winner && drop.length === 0) return undefined;
  const orphans = [winner, ...drop].flatMap((tip) => orphansOf(tip, next));
  return { next, drop, orphans: unique(orphans) };
}

function unique(given: readonly GivenUp[]): readonly GivenUp[] {
  return [...new Map(given.map((one) => [JSON.stringify(one), one])).values()];
}

/** Jobs that a tip waits for and its successor does not; its children know the job by its own `start`. */
function orphansOf(tip: Tip, next: Tip): readonly GivenUp[] {
  const spared = new Set(stepsOf(next).filter(isWaitingOrOver).map(awaitedBy));
  return stepsOf(tip)
    .filter((step) => hasSpawned(step) && !spared.has(awaitedBy(step)))
    .flatMap((step) => givenUp(tip, step));
}

/** The child that a step waits for or waited for, and in which of its runs. */
function awaitedBy({ child, child_run: run }: Step): string {
  return JSON.stringify([child, run ?? 1]);
}

/** Its job is still waited for, or has ended by itself. */
function isWaitingOrOver({ state }: Step): boolean {
  return state === '$$waiting' || state === '$$complete' || state === '$$error';
}

function withoutGivenUp(tip: Tip, stands: Stands): Tip {
  const isGivenUp = (step: Step): step is LiveStep => isLive(step) && stands(step) === 'given_up';
  if (!stepsOf(tip).some(isGivenUp)) return tip;
  return {
    ...tip,
    steps: stepsOf(tip).map((step) => (isGivenUp(step) ? released(asReady(step)) : step)),
  };
}

/** Another engine may have been faster; then there is nothing left to do the next time. */
const mostTries = 3;

/**
 * The tips of a document after its conflict, if there is one, was healed as far as possible.
 * Undefined: the engine ends.
 *
 * H1 The winner is never deleted, and a losing tip only after a quorum of the copies has taken a
 *    revision of the winner that carries what the losing tip had: it is on top from then on.
 * H2 What is written follows from the tips alone: engines that heal at the same time do the same.
 * H3 Children that nobody waits for any more are given up before a losing tip is dropped. The winner
 *    says which of them did not take the request to cancel.
 * H4 A job that goes on for its parent in one tip and had ended in another was perhaps given up: the
 *    parent is looked at after the job was written. It in turn gives its child up once more after it was
 *    written itself, so that one of the two sees the other.
 */
export function* healed(id: string, stands: Stands): Protocol<readonly Tip[] | undefined> {
  let tips = yield* look(id);
  for (let tries = 0; tips !== undefined && tries < mostTries; tries += 1) {
    const mending = mend(tips, stands);
    if (mending === undefined) return tips;
    const stored = yield* write(mending.next);
    if (stored.kind === 'written') {
      const untold = yield* abandon(id, mending.orphans);
      yield* abandon(id, yield* unawaited(tips, mending.next));
      const { rev } = stored;
      if (untold.length > 0)
        yield* write(withRecords({ ...mending.next, _rev: rev }, tips, untold));
      for (const { _rev } of mending.drop) yield* write({ _id: id, _rev, _deleted: true });
    } else if (stored.kind === 'refused') return tips;
    else yield* rest(tries);
    tips = yield* look(id);
  }
  return tips;
}

/** The job itself, when it goes on in `next`, had not in one of the tips, and its parent does not wait for it. */
function* unawaited(tips: readonly Tip[], next: Tip): Protocol<readonly GivenUp[]> {
  const { job: parent } = (next['parent'] ?? {}) as { readonly job?: unknown };
  const hadNot = tips.some((tip) => isOver(tip) || tip['run'] !== next['run']);
  // A job that another one goes on as is not named by the parent, which waits for the first of them.
  const isNamed = next['continued_from'] === undefined;
  if (typeof parent !== 'string' || isOver(next) || !hadNot || !isNamed) return [];
  if (isAskedOn(next)) return [];
  const parents = (yield* look(parent)) ?? [];
  const lastOf = (tip: Tip): Step | undefined =>
    stepsOf(tip).findLast((step) => step['child'] === next._id);
  const [winner] = parents;
  const isGivenUp = parents.every((tip) => isEndedEarly(lastOf(tip)));
  return winner !== undefined && isGivenUp ? ownChild(winner, next) : [];
}

/** It ended while its job had not. */
function isEndedEarly(step: Step | undefined): boolean {
  return step?.state === '$$cancelled' || step?.state === '$$timeout';
}

/** Users asked it to go on: whoever gave it up before has no say any more. */
function isAskedOn({ requests }: Tip): boolean {
  const list: readonly unknown[] = Array.isArray(requests) ? requests : [];
  const last = list.findLast(
    (one) => isPlain(one) && one['action'] === 'retry' && !isRefusal(one),
  ) as { readonly id?: unknown } | undefined;
  return last !== undefined && !String(last.id).startsWith('retry:');
}

/**
 * The document with a record of each child that did not take its cancel request, as of the last that
 * the tips tell of its step (H2).
 */
function withRecords(tip: Tip, tips: readonly Tip[], untold: readonly Untold[]): Tip {
  const lastOf = ({ child }: Untold): number => {
    const given = tips.flatMap(stepsOf).filter((step) => step['child'] === child);
    return Math.max(...given.map(({ end, start }) => Number(end ?? start)));
  };
  return untold.reduce((told, one) => withUntold(told, [one], lastOf(one)), tip);
}
