import { isLive, type LiveStep, type Step } from '../../model/step.js';
import {
  givenUp,
  ownChild,
  withUncancelled,
  type UncancelledChild,
} from '../../decide/finish/abandoned.js';
import type { GivenUp } from '../../decide/intent.js';
import { isObject } from '../../model/object.js';
import { isRefusal } from '../../decide/requests/records.js';
import { asReady, released } from '../../decide/finish/release.js';
import { hasSpawned } from './beginnings.js';
import type { LivenessOf } from './attempt-merge.js';
import { mergeRevision } from './merge.js';
import { abandon, look, rest, write, type Protocol } from './protocol.js';
import { isOver, stepsIn, type LeafRevision } from './leaf-revisions.js';

/** What a document in conflict becomes. */
export type Resolution = {
  /** The next revision of the winner, with all that must not be lost. */
  readonly next: LeafRevision;
  /** The losing leaves of which nothing is missing in `next`. */
  readonly drop: readonly LeafRevision[];
  /** Jobs that may have been made, and that nobody waits for any more (H3). */
  readonly orphans: readonly GivenUp[];
};

/** Decides how a conflict ends (`leaves`: the winner first); undefined: it has to wait for another engine. */
export function planResolution(
  leaves: readonly LeafRevision[],
  livenessOf: LivenessOf,
): Resolution | undefined {
  const [winner, ...losers] = leaves;
  if (winner === undefined) return undefined;
  let next = winner;
  const drop: LeafRevision[] = [];
  for (const loser of losers) {
    const carried = mergeRevision(next, loser, livenessOf);
    if (carried === undefined) continue;
    next = carried;
    drop.push(loser);
  }
  // What waits for another engine to speak first is not kept waiting by claims of ours.
  if (drop.length < losers.length) next = withoutGivenUp(next, livenessOf);
  if (next === winner && drop.length === 0) return undefined;
  const orphans = [winner, ...drop].flatMap((leaf) => orphansOf(leaf, next));
  return { next, drop, orphans: unique(orphans) };
}

function unique(given: readonly GivenUp[]): readonly GivenUp[] {
  return [...new Map(given.map((one) => [JSON.stringify(one), one])).values()];
}

/** Jobs that a leaf waits for and its successor does not; its children know the job by its own `start`. */
function orphansOf(leaf: LeafRevision, next: LeafRevision): readonly GivenUp[] {
  const spared = new Set(stepsIn(next).filter(isWaitingOrOver).map(awaitedBy));
  return stepsIn(leaf)
    .filter((step) => hasSpawned(step) && !spared.has(awaitedBy(step)))
    .flatMap((step) => givenUp(leaf, step));
}

/** The child that a step waits for or waited for, and in which of its runs. */
function awaitedBy({ child, child_run: run }: Step): string {
  return JSON.stringify([child, run ?? 1]);
}

/** Its job is still waited for, or has ended by itself. */
function isWaitingOrOver({ state }: Step): boolean {
  return state === '$$waiting' || state === '$$complete' || state === '$$error';
}

function withoutGivenUp(leaf: LeafRevision, livenessOf: LivenessOf): LeafRevision {
  const isGivenUp = (step: Step): step is LiveStep =>
    isLive(step) && livenessOf(step) === 'given_up';
  if (!stepsIn(leaf).some(isGivenUp)) return leaf;
  return {
    ...leaf,
    steps: stepsIn(leaf).map((step) => (isGivenUp(step) ? released(asReady(step)) : step)),
  };
}

/** Another engine may have been faster; then there is nothing left to do the next time. */
const mostTries = 3;

/**
 * The leaves of a document after its conflict, if there is one, was resolved as far as possible.
 * Undefined: the engine ends.
 *
 * H1 The winner is never deleted, and a losing leaf only after a quorum of the copies has taken a
 *    revision of the winner that contains what the losing leaf had: it is on top from then on.
 * H2 What is written follows from the leaves alone: engines that resolve a conflict at the same time do the same.
 * H3 Children that nobody waits for any more are given up before a losing leaf is dropped. The winner
 *    says which of them did not take the request to cancel.
 * H4 A job that goes on for its parent in one leaf and had ended in another was perhaps given up: the
 *    parent is looked at after the job was written. It in turn gives its child up once more after it was
 *    written itself, so that one of the two sees the other.
 */
export function* resolveConflict(
  id: string,
  livenessOf: LivenessOf,
): Protocol<readonly LeafRevision[] | undefined> {
  let leaves = yield* look(id);
  for (let tries = 0; leaves !== undefined && tries < mostTries; tries += 1) {
    const resolution = planResolution(leaves, livenessOf);
    if (resolution === undefined) return leaves;
    const stored = yield* write(resolution.next);
    if (stored.kind === 'written') {
      const untold = yield* abandon(id, resolution.orphans);
      yield* abandon(id, yield* unawaited(leaves, resolution.next));
      const { rev } = stored;
      if (untold.length > 0)
        yield* write(withRecords({ ...resolution.next, _rev: rev }, leaves, untold));
      for (const { _rev } of resolution.drop) yield* write({ _id: id, _rev, _deleted: true });
    } else if (stored.kind === 'refused') return leaves;
    else yield* rest(tries);
    leaves = yield* look(id);
  }
  return leaves;
}

/** The job itself, when it goes on in `next`, had not in one of the leaves, and its parent does not wait for it. */
function* unawaited(
  leaves: readonly LeafRevision[],
  next: LeafRevision,
): Protocol<readonly GivenUp[]> {
  const { job: parent } = (next['parent'] ?? {}) as { readonly job?: unknown };
  const hadNot = leaves.some((leaf) => isOver(leaf) || leaf['run'] !== next['run']);
  // A job that another one goes on as is not named by the parent, which waits for the first of them.
  const isNamed = next['continued_from'] === undefined;
  if (typeof parent !== 'string' || isOver(next) || !hadNot || !isNamed) return [];
  if (isAskedOn(next)) return [];
  const parents = (yield* look(parent)) ?? [];
  const lastOf = (leaf: LeafRevision): Step | undefined =>
    stepsIn(leaf).findLast((step) => step['child'] === next._id);
  const [winner] = parents;
  const isGivenUp = parents.every((leaf) => isEndedEarly(lastOf(leaf)));
  return winner !== undefined && isGivenUp ? ownChild(winner, next) : [];
}

/** It ended while its job had not. */
function isEndedEarly(step: Step | undefined): boolean {
  return step?.state === '$$cancelled' || step?.state === '$$timeout';
}

/** Users asked it to go on: whoever gave it up before has no say any more. */
function isAskedOn({ requests }: LeafRevision): boolean {
  const list: readonly unknown[] = Array.isArray(requests) ? requests : [];
  const last = list.findLast(
    (one) => isObject(one) && one['action'] === 'retry' && !isRefusal(one),
  ) as { readonly id?: unknown } | undefined;
  return last !== undefined && !String(last.id).startsWith('retry:');
}

/**
 * The document with a record of each child that did not take its cancel request, as of the last that
 * the leaves tell of its step (H2).
 */
function withRecords(
  leaf: LeafRevision,
  leaves: readonly LeafRevision[],
  untold: readonly UncancelledChild[],
): LeafRevision {
  const lastOf = ({ child }: UncancelledChild): number => {
    const given = leaves.flatMap(stepsIn).filter((step) => step['child'] === child);
    return Math.max(...given.map(({ end, start }) => Number(end ?? start)));
  };
  return untold.reduce((next, one) => withUncancelled(next, [one], lastOf(one)), leaf);
}
