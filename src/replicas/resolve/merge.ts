import { failure } from '../../model/failures.js';
import {
  exits,
  isLive,
  isOpen,
  type FailedStep,
  type LiveStep,
  type Step,
} from '../../model/step.js';
import { without } from '../../model/record.js';
import { released } from '../../decide/finish/release.js';
import {
  actionFor,
  hasStarted,
  isOutcome,
  isSameClaim,
  isSpare,
  type LivenessOf,
} from './attempt-merge.js';
import { hasChild, hasSpawned } from './beginnings.js';
import { withForeignSteps } from './foreign-steps.js';
import { isOver, stepOf, stepsIn, withResultsOf, type LeafRevision } from './leaf-revisions.js';
import { isChangedByRequest, withNotes, withMergedRequests } from './merged-requests.js';

/**
 * The winner with what must not be lost of a losing leaf: attempts that run, outcomes, and what users
 * asked for. Undefined: that cannot be said yet, the losing leaf has to stay for now.
 *
 * M1 What has ended in the winner stays as it is (but M4), and no attempt is taken out of it.
 * M2 A claim that has begun nothing (`$$ready`) is not merged: it is fenced with its leaf.
 * M3 An attempt that may be running is merged by its own engine, or by any when that one is dead.
 * M4 A skip or a retry on record in the losing leaf only is applied again, as of the same time: it
 *    may open a final winner. A winner that nobody has begun becomes what the losing leaf is.
 * M5 Any engine merges a step whose child may have been made, with the `start` of the parent: it tells
 *    whose child that is. A problem tells of a step that is not needed any more, and its child is given
 *    up (H3). A step whose child nobody has made is fenced with its leaf. Any engine also merges the end
 *    of such a step; a step of the winner that waits for another child then ends as not needed.
 *    Where the leaves go by different definitions of the flow, a problem tells of each step that was taken over and
 *    has no place in the one that counts.
 * M6 What the winner tells keeps its place: steps are only added behind it, so that the guard of the
 *    database takes the revision. When the winner waits at the path of a step that is added, that wait ends as not needed.
 */
export function mergeRevision(
  winner: LeafRevision,
  loser: LeafRevision,
  livenessOf: LivenessOf,
): LeafRevision | undefined {
  if (isOver(winner)) {
    const asked = withMergedRequests(winner, loser);
    // Somebody has let the other one go on: so does this one.
    if (!isOver(asked)) return mergeRevision(asked, loser, livenessOf);
    return mayRun(winner, loser, livenessOf)
      ? undefined
      : withResultsOf(withOtherEnds(asked, loser), loser);
  }
  let steps = stepsIn(winner);
  let last: Step | undefined;
  const beside: Step[] = [];
  const noted: Step[] = [];
  const taken: Step[] = [];
  for (const step of stepsIn(loser)) {
    switch (actionFor(step, steps, livenessOf)) {
      case 'left':
        continue;
      case 'waits':
        return undefined;
      case 'noted':
        noted.push(step);
        continue;
      case 'beside':
        beside.push(step);
        continue;
      case 'replaces':
        steps = replaced(steps, step);
        break;
      case 'follows': {
        const room = withRoom(steps, loser, livenessOf);
        // What users skipped is skipped again with their request.
        if (room === undefined && step.state === '$$skipped') continue;
        if (room === undefined) return undefined;
        steps = [
          ...room.map((there) => (waitsAt(there, step) ? unneeded(there, step) : there)),
          step,
        ];
        break;
      }
    }
    taken.push(step);
    // What needed no engine is only worth keeping beside what did, or when a job was made for it.
    if (step['claim'] !== undefined || hasChild(step)) last = step;
  }
  const next = withStarts(joined(winner, loser, steps, last), loser);
  const merged = withMergedRequests(withResultsOf(withMore(next, beside, noted), loser), loser);
  return withForeignSteps(merged, loser, taken);
}

/** The leaf with attempts that ran beside its own, as attempts (`beside`) or as problems. */
function withMore(
  leaf: LeafRevision,
  beside: readonly Step[],
  noted: readonly Step[],
): LeafRevision {
  const more = beside.length === 0 ? leaf : { ...leaf, steps: [...stepsIn(leaf), ...beside] };
  return withNotes(more, noted);
}

/** The steps of the winner with an attempt that the losing leaf knows better. */
function replaced(steps: readonly Step[], step: Step): readonly Step[] {
  const isOther = (there: Step): boolean =>
    hasSpawned(there) && there['child'] !== step['child'] && isSameClaim(there, step);
  if (steps.some(isOther)) {
    return [...steps.map((there) => (isOther(there) ? unneeded(there, step) : there)), step];
  }
  return steps.map((there) => (isSameClaim(there, step) ? step : there));
}

/** A final job takes nothing in; whoever still runs an attempt of another leaf stops it first. */
function mayRun(winner: LeafRevision, loser: LeafRevision, livenessOf: LivenessOf): boolean {
  return stepsIn(loser).some((step) => {
    if (step.state !== '$$active' || stepOf(winner, step.claim) !== undefined) return false;
    const liveness = livenessOf(step);
    return liveness === 'runs' || liveness === 'elsewhere';
  });
}

/** A final job with the attempts that ended elsewhere: it alone tells what ran. */
function withOtherEnds(winner: LeafRevision, loser: LeafRevision): LeafRevision {
  const beside: Step[] = [];
  const noted: Step[] = [];
  for (const step of stepsIn(loser)) {
    if (hasChild(step)) {
      if (!isNamed(stepsIn(winner), step)) (isSpare(step) ? noted : beside).push(step);
      continue;
    }
    if (step['claim'] === undefined || !hasStarted(step) || isLive(step)) continue;
    const there = stepOf(winner, step['claim']);
    if (there === undefined || (isOutcome(step) && !isOutcome(there))) beside.push(step);
  }
  return withMore(winner, beside, noted);
}

/** The winner waits at the path of a step that takes its place: two cannot be open there, nor one be open behind a step that is done. */
function waitsAt(there: Step, step: Step): boolean {
  const takesOver = isOpen(step) || hasChild(step) || step.state === '$$complete';
  return takesOver && there.state === '$$waiting' && there.path === step.path;
}

function isNamed(steps: readonly Step[], { child }: Step): boolean {
  return steps.some((candidate) => candidate['child'] === child);
}

/** A step that nobody waits for any more; `next` takes its place. Its job may have been made. */
function unneeded(step: Step, next: Step): Step {
  const why = { ...failure('NotNeeded', {}), step: step.name };
  const end = Number(step['end'] ?? step['start'] ?? step['accepted'] ?? next['start']);
  return { ...step, state: '$$cancelled', end, exit: exits.cancelled, failure: why };
}

/**
 * The steps of the winner without attempts that run: those make room for what a losing leaf has
 * proved. Undefined: one of them may really be running.
 */
function withRoom(
  steps: readonly Step[],
  loser: LeafRevision,
  livenessOf: LivenessOf,
): readonly Step[] | undefined {
  const room: Step[] = [];
  for (const step of steps) {
    const there = isLive(step) ? stepOf(loser, step.claim) : step;
    if (!isLive(step) || (there !== undefined && isLive(there))) room.push(step);
    // The losing leaf went on after the end of this one: so it has ended.
    else if (there !== undefined) room.push(there);
    else {
      const liveness = step.state === '$$ready' ? 'given_up' : livenessOf(step);
      if (liveness === 'runs' || liveness === 'elsewhere') return undefined;
      room.push(liveness === 'lost' ? lost(step) : released(step));
    }
  }
  return room;
}

/** Times follow from the documents alone, so that all engines write the same. */
function lost(step: LiveStep): FailedStep {
  const why = { ...failure('EngineLost', { engine: step.engine }), step: step.name };
  const ending = { end: step.accepted, exit: exits.lost, failure: why, due: step.accepted };
  return { ...step, state: '$$error', ...ending };
}

/**
 * The winner with other steps, up to `last`; itself when there is none. A winner that nobody has begun
 * becomes what the losing leaf is, also for a skip or a retry, which would find nothing in it.
 */
function joined(
  winner: LeafRevision,
  loser: LeafRevision,
  steps: readonly Step[],
  last: Step | undefined,
): LeafRevision {
  const isChanged = loser['state'] !== undefined && isChangedByRequest(loser, winner);
  if (winner['state'] === undefined && (last !== undefined || isChanged)) {
    const { _rev, _attachments: attachments } = winner;
    const begun: LeafRevision = { ...winner, ...without(loser, '_attachments'), _rev, steps };
    const own = attachments === undefined ? begun : { ...begun, _attachments: attachments };
    return withMergedRequests(own, winner);
  }
  if (last === undefined) return winner;
  const later = numberIn(loser, 'run') > numberIn(winner, 'run') ? loser : winner;
  const resumeAt = later['resume_at'];
  // Jobs were made for one of them only: its `start` is the one that they know.
  const isParent = stepsIn(loser).some(hasChild) && !stepsIn(winner).some(hasChild);
  return {
    ...without(winner, 'next_due', 'resume_at'),
    ...(isParent ? { start: loser['start'] } : {}),
    ...(winner['state'] === '$$paused' ? {} : { state: `${last.task}-${last.index}` }),
    ...(resumeAt === undefined ? {} : { resume_at: resumeAt }),
    run: later['run'],
    held_ms: Math.max(numberIn(winner, 'held_ms'), numberIn(loser, 'held_ms')),
    steps,
  };
}

/** Children may have been made for both leaves: those that know the `start` of the losing one are kept. */
function withStarts(next: LeafRevision, loser: LeafRevision): LeafRevision {
  if (!stepsIn(loser).some(hasChild)) return next;
  const known = new Set([...startsIn(next), ...startsIn(loser), loser['start']]);
  known.delete(next['start']);
  const starts = [...known].filter((start) => typeof start === 'number').sort((a, b) => a - b);
  const isSaid = JSON.stringify(starts) === JSON.stringify(startsIn(next));
  return isSaid ? next : { ...next, also_started: starts };
}

function startsIn({ also_started: starts }: LeafRevision): readonly unknown[] {
  return Array.isArray(starts) ? starts : [];
}

function numberIn(leaf: LeafRevision, key: string): number {
  const value = leaf[key];
  return typeof value === 'number' ? value : 0;
}
