import { isLive } from '../../model/step.js';
import { asReady, released } from '../../decide/finish/release.js';
import {
  areLast,
  asBegun,
  asPending,
  beginsAnything,
  haveBegun,
  type Beginnings,
} from './beginnings.js';
import type { LivenessOf } from './attempt-merge.js';
import { resolveConflict } from './conflict.js';
import { look, rest, write, type Draft, type Protocol, type WriteAnswer } from './protocol.js';
import { stepOf, stepsIn, type LeafRevision } from './leaf-revisions.js';
import { isHeld } from './merged-requests.js';

/** A job to be stored, with what has to be found in it afterwards. */
export type JobWrite = Beginnings & {
  readonly job: Draft;
  /** The claims of the attempts that end with it. */
  readonly ended?: readonly string[] | undefined;
  /** It begins and ends no attempt: it is written upon the revision that was read (C1). */
  readonly unconfirmed?: true;
};

/** What became of a change. */
export type Committed =
  /** It is stored, its claims are ours to start, and the jobs that it waits for ours to make. */
  | { readonly kind: 'written'; readonly doc: LeafRevision }
  /** The end of the attempt is stored, but nothing may be started or made. */
  | { readonly kind: 'given_up'; readonly doc: LeafRevision }
  /** Somebody was faster; with a `cause` it is not known whether it took place. */
  | { readonly kind: 'lost'; readonly cause?: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly bytes?: number };

/**
 * What became of a change, from the answer to its write where every document has one copy: what is
 * acknowledged has won. Undefined: the answer is not clear; what began or ended with the change has to
 * be read back.
 */
export function committedToOne(change: JobWrite, stored: WriteAnswer): Committed | undefined {
  const { job, claims, ended = [] } = change;
  switch (stored.kind) {
    case 'written':
      return { kind: 'written', doc: { ...job, _rev: stored.rev } };
    case 'conflict':
      return { kind: 'lost' };
    case 'refused':
      return stored;
    case 'unknown':
      return claims.length + ended.length > 0 ? undefined : { kind: 'lost', cause: stored.cause };
  }
}

/** It may have taken place, or not. */
export type UnclearAnswer = Extract<WriteAnswer, { kind: 'unknown' }>;

/** Reads back a change without a clear answer: our claims, or the end that we wrote, tell (E3). */
export function* readBack(change: JobWrite, { cause }: UnclearAnswer): Protocol<Committed> {
  const [leaf] = (yield* look(change.job._id)) ?? [];
  const isThere =
    leaf !== undefined && haveBegun(leaf, { claims: change.claims }) && hasEnds(leaf, change);
  return isThere ? { kind: 'written', doc: leaf } : { kind: 'lost', cause };
}

/** Maximum number of looks at a change before what it begins is given up. */
const mostLooks = 8;

/**
 * Stores a change where every document has several copies, each of which takes the first of several
 * writers of a revision: two can be told that theirs was accepted (202), and what only some copies
 * have may win in the end. Nothing is started, and no job is made, before both of its revisions were
 * confirmed.
 *
 * C1 Nothing is written but on the only leaf of the document, as seen by a look just before. Only the
 *    end of an attempt is, if need be, written on the winner of several; and what is `unconfirmed` (a
 *    request, a report, the end of a job that cannot go on) does not wait for a conflict to be resolved:
 *    it is written without a look, as where a document has one copy, and conflicts are merged later.
 * C2 A claim is written as `$$ready`, a step that waits for a job to be made without `start`. Once a
 *    quorum has acknowledged that (201) and a look has found it in the only leaf, the claim is written
 *    as `$$active` and the step with its `start`, one revision deeper than whatever was on its way
 *    before.
 * C3 An attempt is started, and a job is made, only after a quorum has acknowledged (201) a revision
 *    in which it has begun and a look that began afterwards has found it so in the only leaf. Of two
 *    that come so far, one was on a copy before the look of the other has read that copy: the other
 *    waits, and gives up.
 * C4 As long as it may be running, a claim is not taken out of the leaves that a look finds (M3), nor is
 *    a step whose job may have been made (M5).
 * C5 An end counts as stored only when a quorum has acknowledged a revision that has it.
 */
export function* commitToMany(change: JobWrite, livenessOf: LivenessOf): Protocol<Committed> {
  const { job, ended = [] } = change;
  const begins = beginsAnything(change);
  const [leaf, ...rivals] = (yield* resolveConflict(job._id, livenessOf)) ?? [];
  const isBlocked = rivals.length > 0 && (ended.length === 0 || begins);
  if (isBlocked || leaf?._rev !== job._rev) {
    // Whoever decides again at once may read the same old revision again.
    yield* rest(isBlocked ? 3 : 0);
    return { kind: 'lost' };
  }
  const stored = yield* write(asPending(job, change, leaf));
  if (stored.kind === 'refused') return stored;
  if (stored.kind === 'conflict') return { kind: 'lost' };
  const isKnown = stored.kind === 'written';
  if (begins) return yield* confirm(change, livenessOf, isKnown);
  if (isKnown) return { kind: 'written', doc: { ...job, _rev: stored.rev } };
  yield* rest(2);
  return ended.length === 0
    ? { kind: 'lost' }
    : yield* finish(change, livenessOf, 'written', false);
}

/**
 * Brings what a change begins from where it has begun nothing (`ready`: a quorum has that) to where
 * it may be started or made. A step that another engine has begun meanwhile stays begun.
 */
function* confirm(change: JobWrite, livenessOf: LivenessOf, ready: boolean): Protocol<Committed> {
  let known = { ready, begun: false };
  for (let tries = 0; tries < mostLooks; tries += 1) {
    const leaves = yield* resolveConflict(change.job._id, livenessOf);
    if (leaves === undefined) return { kind: 'lost' };
    const [leaf, ...rivals] = leaves;
    if (leaf === undefined || !isOurs(leaf, change)) break;
    if (rivals.length > 0) yield* rest(tries);
    else if (known.begun && haveBegun(leaf, change)) return { kind: 'written', doc: leaf };
    else {
      const next = known.ready ? asBegun(leaf, change) : asPending(leaf, change, leaf);
      const stored = yield* write(next);
      if (stored.kind === 'refused') break;
      if (stored.kind === 'written') known = { ready: true, begun: known.ready };
      else yield* rest(tries);
    }
  }
  return yield* finish(change, livenessOf, 'given_up', known.ready);
}

/** Everything the change begins is still current, and nobody has paused or cancelled the job. */
function isOurs(leaf: LeafRevision, change: JobWrite): boolean {
  return areLast(leaf, change.job, change) && (isHeld(change.job) || !isHeld(leaf));
}

const mostReleases = 3;

/**
 * Takes claims that were not started back out of the winner, and makes sure of the end that was
 * written with them (`known`: a quorum has it). What stands in a losing leaf is dropped with it. A
 * step that waits for a job stays: whoever decides next has the job made.
 */
function* finish(
  change: JobWrite,
  livenessOf: LivenessOf,
  kind: 'written' | 'given_up',
  known: boolean,
): Protocol<Committed> {
  const { ended = [] } = change;
  const mine = new Set<unknown>(change.claims.map(({ claim }) => claim));
  let isKnown = known;
  for (let tries = 0; ; tries += 1) {
    const [leaf] = (yield* resolveConflict(change.job._id, livenessOf)) ?? [];
    if (leaf === undefined) return { kind: 'lost' };
    const isEnded = ended.length > 0 && hasEnds(leaf, change);
    const isMine = stepsIn(leaf).some((step) => mine.has(step['claim']) && isLive(step));
    const isDone = !isMine && (isKnown || !isEnded);
    if (isDone || tries === mostReleases) {
      return isEnded && isKnown ? { kind, doc: leaf } : { kind: 'lost' };
    }
    const steps = stepsIn(leaf).map((step) =>
      mine.has(step['claim']) && isLive(step) ? released(asReady(step)) : step,
    );
    const stored = yield* write({ ...leaf, steps });
    isKnown ||= stored.kind === 'written';
    if (stored.kind !== 'written') yield* rest(tries);
  }
}

/** The attempts have ended in the document as they do in the change. */
function hasEnds(leaf: LeafRevision, { job, ended = [] }: JobWrite): boolean {
  return ended.every((claim) => {
    const there = stepOf(leaf, claim);
    const wanted = stepOf(job, claim);
    return there?.['end'] === wanted?.['end'] && there?.state === wanted?.state;
  });
}
