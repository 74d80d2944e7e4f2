import { isLive, type LiveStep } from '../../model/step.js';
import { released } from '../release.js';
import type { Stands } from './carry.js';
import { healed } from './heal.js';
import { look, rest, write, type Draft, type Protocol } from './protocol.js';
import { asReady, holds, stepOf, stepsOf, withClaims, type Tip } from './tips.js';
import { isHeld } from './wishes.js';

/** A job to be stored, with what has to be found in it afterwards. */
export type Change = {
  readonly job: Draft;
  /** What this engine claims in it; the steps are `$$active`, as they are when they run. */
  readonly claims: readonly LiveStep[];
  /** The claims of the attempts that end with it. */
  readonly ended?: readonly string[] | undefined;
};

/** What became of a change. */
export type Committed =
  /** It is stored, and its claims are ours to start. */
  | { readonly kind: 'written'; readonly doc: Tip }
  /** The end of the attempt is stored, but its claims are given up: nothing may be started. */
  | { readonly kind: 'given_up'; readonly doc: Tip }
  /** Somebody was faster, or it is not known to have taken place. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly reason: string; readonly bytes?: number };

/**
 * Stores a change where every document has one copy: what is acknowledged has won. Without a clear
 * answer the job is read back: our claims in it, or the end that we wrote, tell (E3).
 */
export function* commitToOne(change: Change): Protocol<Committed> {
  const { job, claims, ended = [] } = change;
  const stored = yield* write(job);
  switch (stored.kind) {
    case 'written':
      return { kind: 'written', doc: { ...job, _rev: stored.rev } };
    case 'conflict':
      return { kind: 'lost' };
    case 'refused':
      return stored;
    case 'unknown': {
      if (claims.length === 0 && ended.length === 0) return { kind: 'lost' };
      const [tip] = (yield* look(job._id)) ?? [];
      const isThere = tip !== undefined && areActive(tip, claims) && hasEnds(tip, change);
      return isThere ? { kind: 'written', doc: tip } : { kind: 'lost' };
    }
  }
}

/** So often a change is looked at before its claims are given up. */
const mostLooks = 8;

/**
 * Stores a change where every document has several copies, each of which takes the first of several
 * writers of a revision: two can be told that theirs was accepted (202), and what only some copies
 * have may win in the end. A claim is started only after both of its revisions were confirmed.
 *
 * C1 Nothing is written but on the only tip of the document, as seen by a look just before; only
 *    the end of an attempt is, if need be, written on the winner of several.
 * C2 A claim is written as `$$ready`. Once a quorum has acknowledged that (201) and a look has found
 *    it in the only tip, it is written as `$$active`, one revision deeper than whatever was on its
 *    way before.
 * C3 It is started only after a quorum has acknowledged (201) a revision that has it as `$$active`
 *    and a look that began afterwards has found it so in the only tip. Of two claims that come so
 *    far, one was on a copy before the look of the other has read that copy: the other gives up.
 * C4 As long as it may be running, a claim is not taken out of the tips that a look finds (M3).
 * C5 An end counts as stored only when a quorum has acknowledged a revision that has it.
 */
export function* commitToMany(change: Change, stands: Stands): Protocol<Committed> {
  const { job, claims, ended = [] } = change;
  const [tip, ...rivals] = (yield* healed(job._id, stands)) ?? [];
  const isBlocked = rivals.length > 0 && (ended.length === 0 || claims.length > 0);
  if (isBlocked || tip?._rev !== job._rev) {
    // Whoever decides again at once may read the same old revision again.
    yield* rest(isBlocked ? 3 : 0);
    return { kind: 'lost' };
  }
  const stored = yield* write(withClaims(job, claims, '$$ready'));
  if (stored.kind === 'refused') return stored;
  if (stored.kind === 'conflict') return { kind: 'lost' };
  const isKnown = stored.kind === 'written';
  if (claims.length > 0) return yield* confirm(change, stands, isKnown);
  if (isKnown) return { kind: 'written', doc: { ...job, _rev: stored.rev } };
  yield* rest(2);
  return ended.length === 0 ? { kind: 'lost' } : yield* finish(change, stands, 'written', false);
}

/** Brings claims from `$$ready` (`ready`: a quorum has it) to where they may be started. */
function* confirm(change: Change, stands: Stands, ready: boolean): Protocol<Committed> {
  const { job, claims } = change;
  let known = { ready, active: false };
  for (let tries = 0; tries < mostLooks; tries += 1) {
    const tips = yield* healed(job._id, stands);
    if (tips === undefined) return { kind: 'lost' };
    const [tip, ...rivals] = tips;
    if (tip === undefined || !isOurs(tip, change)) break;
    if (rivals.some((rival) => isBusy(rival, tip))) break;
    if (rivals.length > 0) yield* rest(tries);
    else if (known.active && areActive(tip, claims)) return { kind: 'written', doc: tip };
    else {
      const stored = yield* write(withClaims(tip, claims, known.ready ? '$$active' : '$$ready'));
      if (stored.kind === 'refused') break;
      if (stored.kind === 'written') known = { ready: true, active: known.ready };
      else yield* rest(tries);
    }
  }
  return yield* finish(change, stands, 'given_up', known.ready);
}

/** All claims still stand as the last word, and nobody has asked that nothing more begins. */
function isOurs(tip: Tip, { job, claims }: Change): boolean {
  const isLast = ({ claim, path }: LiveStep): boolean =>
    stepsOf(tip).findLast((step) => step.path === path)?.['claim'] === claim;
  const stands = claims.every((step) => holds(tip, step.claim) && isLast(step));
  return stands && (isHeld(job) || !isHeld(tip));
}

function areActive(tip: Tip, claims: readonly LiveStep[]): boolean {
  return claims.every(({ claim }) => stepOf(tip, claim)?.state === '$$active');
}

/** Another tip has an attempt of its own that may be running: ours is not. */
function isBusy(rival: Tip, tip: Tip): boolean {
  return stepsOf(rival).some(
    (step) => step.state === '$$active' && stepOf(tip, step.claim) === undefined,
  );
}

const mostReleases = 3;

/**
 * Takes claims that were not started back out of the winner, and makes sure of the end that was
 * written with them (`known`: a quorum has it). What stands in a losing tip is dropped with it.
 */
function* finish(
  change: Change,
  stands: Stands,
  kind: 'written' | 'given_up',
  known: boolean,
): Protocol<Committed> {
  const { ended = [] } = change;
  const mine = new Set<unknown>(change.claims.map(({ claim }) => claim));
  let isKnown = known;
  for (let tries = 0; ; tries += 1) {
    const [tip] = (yield* healed(change.job._id, stands)) ?? [];
    if (tip === undefined) return { kind: 'lost' };
    const isEnded = ended.length > 0 && hasEnds(tip, change);
    const isMine = stepsOf(tip).some((step) => mine.has(step['claim']) && isLive(step));
    const isDone = !isMine && (isKnown || !isEnded);
    if (isDone || tries === mostReleases) {
      return isEnded && isKnown ? { kind, doc: tip } : { kind: 'lost' };
    }
    const steps = stepsOf(tip).map((step) =>
      mine.has(step['claim']) && isLive(step) ? released(asReady(step)) : step,
    );
    const stored = yield* write({ ...tip, steps });
    isKnown ||= stored.kind === 'written';
    if (stored.kind !== 'written') yield* rest(tries);
  }
}

/** The attempts have ended in the document as they do in the change. */
function hasEnds(tip: Tip, { job, ended = [] }: Change): boolean {
  return ended.every((claim) => {
    const there = stepOf(tip, claim);
    const wanted = stepOf(job, claim);
    return there?.['end'] === wanted?.['end'] && there?.state === wanted?.state;
  });
}
