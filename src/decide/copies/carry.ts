import { failure } from '../../model/failures.js';
import {
  exits,
  isFailed,
  isLive,
  type FailedStep,
  type LiveStep,
  type Step,
} from '../../model/step.js';
import { isSameAttempt } from '../history.js';
import { without } from '../record.js';
import { released } from '../release.js';
import { hasChild, hasSpawned, isUnspawned } from './beginnings.js';
import { isDone, isOver, stepOf, stepsOf, withResultsOf, type Tip } from './tips.js';
import { isChangedByRequest, withNotes, withWishes } from './wishes.js';

/** How a running attempt of a document in conflict stands, as far as this engine can know. */
export type Standing =
  /** It runs in this process. */
  | 'runs'
  /** It is this engine's, but not in hand: it was never started, or in a former life. */
  | 'given_up'
  /** Its engine is dead. */
  | 'lost'
  /** Its engine lives: only that one knows whether it was started. */
  | 'elsewhere';
export type Stands = (step: LiveStep) => Standing;

/**
 * The winner with what must not be lost of a losing tip: attempts that run, outcomes, and what users
 * asked for. Undefined: that cannot be said yet, the losing tip has to stay for now.
 *
 * M1 What has ended in the winner stays as it is (but M4), and no attempt is taken out of it.
 * M2 A claim that has begun nothing (`$$ready`) is not carried: it is fenced with its tip.
 * M3 An attempt that may be running is carried by its own engine, or by any when that one is dead.
 * M4 A skip or a retry on record in the losing tip only is applied again, as of the same time: it
 *    may open a final winner. A winner that nobody has begun becomes what the losing tip is.
 * M5 Any engine carries a step whose child may have been made, with the `start` of the parent: it tells
 *    whose child that is. A problem tells of a step that is not needed any more, and its child is given
 *    up (H3). A step whose child nobody has made is fenced with its tip. Any engine also carries the end
 *    of such a step; a step of the winner that waits for another child then ends as not needed.
 * M6 What the winner tells keeps its place: steps are only added behind it, so that the guard of the
 *    database takes the revision. When the winner waits at the path of a step that is added, that wait ends as not needed.
 */
export function carry(winner: Tip, loser: Tip, stands: Stands): Tip | undefined {
  if (isOver(winner)) {
    const asked = withWishes(winner, loser);
    // Somebody has let the other one go on: so does this one.
    if (!isOver(asked)) return carry(asked, loser, stands);
    return mayRun(winner, loser, stands) ? undefined : withResultsOf(told(asked, loser), loser);
  }
  let steps = stepsOf(winner);
  let last: Step | undefined;
  const beside: Step[] = [];
  const noted: Step[] = [];
  for (const step of stepsOf(loser)) {
    switch (fateOf(step, steps, stands)) {
      case 'left':
        continue;
      case 'waits':
        return undefined;
      case 'noted':
        noted.push(step);
        continue;
      case 'told':
        beside.push(step);
        continue;
      case 'replaces':
        steps = replaced(steps, step);
        break;
      case 'follows': {
        const room = withRoom(steps, loser, stands);
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
    // What needed no engine is only worth keeping beside what did, or when a job was made for it.
    if (step['claim'] !== undefined || hasChild(step)) last = step;
  }
  const next = withStarts(joined(winner, loser, steps, last), loser);
  return withWishes(withResultsOf(withMore(next, beside, noted), loser), loser);
}

/** The tip with attempts that ran beside its own, as attempts (`beside`) or as problems. */
function withMore(tip: Tip, beside: readonly Step[], noted: readonly Step[]): Tip {
  const more = beside.length === 0 ? tip : { ...tip, steps: [...stepsOf(tip), ...beside] };
  return withNotes(more, noted);
}

/** The steps of the winner with an attempt that the losing tip knows better. */
function replaced(steps: readonly Step[], step: Step): readonly Step[] {
  const isOther = (there: Step): boolean =>
    hasSpawned(there) && there['child'] !== step['child'] && isSame(there, step);
  if (steps.some(isOther)) {
    return [...steps.map((there) => (isOther(there) ? unneeded(there, step) : there)), step];
  }
  return steps.map((there) => (isSame(there, step) ? step : there));
}

/** A final job takes nothing in; whoever still runs an attempt of another tip stops it first. */
function mayRun(winner: Tip, loser: Tip, stands: Stands): boolean {
  return stepsOf(loser).some((step) => {
    if (step.state !== '$$active' || stepOf(winner, step.claim) !== undefined) return false;
    const standing = stands(step);
    return standing === 'runs' || standing === 'elsewhere';
  });
}

/** A final job with the attempts that ended elsewhere: it alone tells what ran. */
function told(winner: Tip, loser: Tip): Tip {
  const beside: Step[] = [];
  const noted: Step[] = [];
  for (const step of stepsOf(loser)) {
    if (hasChild(step)) {
      if (!isNamed(stepsOf(winner), step)) (isSpare(step) ? noted : beside).push(step);
      continue;
    }
    if (step['claim'] === undefined || !hasBegun(step) || isLive(step)) continue;
    const there = stepOf(winner, step['claim']);
    if (there === undefined || (isOutcome(step) && !isOutcome(there))) beside.push(step);
  }
  return withMore(winner, beside, noted);
}

/**
 * What becomes of an attempt of a losing tip. `told`, `noted`: it ran beside what the winner has, and
 * is kept as an attempt or, where that would undo the step, as a problem of the job.
 */
type Fate = 'left' | 'waits' | 'noted' | 'told' | 'replaces' | 'follows';

function fateOf(step: Step, steps: readonly Step[], stands: Stands): Fate {
  if (isUnspawned(step)) return 'left';
  const there = steps.findLast((candidate) => isSame(candidate, step));
  if (isLive(step)) return fateOfLive(step, there, steps, stands);
  if (hasChild(step)) return fateOfChild(step, there, steps);
  if (there === undefined) {
    if (!hasBegun(step)) return 'left';
    if (!isDone(steps, step.path)) return 'follows';
    if (step['claim'] === undefined) return 'left';
    return step.state === '$$complete' ? 'told' : 'noted';
  }
  if (isOpen(there)) return isOutcome(step) ? 'replaces' : 'left';
  return isLate(step, there, steps) ? 'follows' : 'left';
}

/** An attempt that was believed lost has ended by itself, and nobody has completed it since. */
function isLate(step: Step, there: Step, steps: readonly Step[]): boolean {
  return isOutcome(step) && !isOutcome(there) && !isDone(steps, step.path);
}

/** A job that was made for a losing tip is named in the winner, whatever becomes of it. */
function fateOfChild(step: Step, there: Step | undefined, steps: readonly Step[]): Fate {
  const apart = isSpare(step) ? 'noted' : 'told';
  if (there === undefined) {
    if (isSpare(step) && steps.some((one) => isLater(one, step))) return 'noted';
    return isDone(steps, step.path) ? apart : 'follows';
  }
  const otherwise = there['child'] === step['child'] && !isUnspawned(there) ? 'left' : apart;
  if (hasSpawned(step)) return isUnspawned(there) ? 'replaces' : otherwise;
  if (isOpen(there)) return isOutcome(step) ? 'replaces' : otherwise;
  return isLate(step, there, steps) ? 'follows' : otherwise;
}

function fateOfLive(
  step: LiveStep,
  there: Step | undefined,
  steps: readonly Step[],
  stands: Stands,
): Fate {
  if (step.state === '$$ready') return 'left';
  const standing = stands(step);
  if (standing === 'given_up') return 'left';
  if (there !== undefined) return there.state === '$$ready' ? 'replaces' : 'left';
  if (standing === 'elsewhere') return 'waits';
  if (!isDone(steps, step.path)) return 'follows';
  return standing === 'runs' ? 'waits' : 'noted';
}

/** The same attempt: of one claim or, where none was needed, the same number at the same path. */
function isSame(one: Step, other: Step): boolean {
  if (one['claim'] !== undefined || other['claim'] !== undefined) {
    return one['claim'] === other['claim'];
  }
  return isSameAttempt(one, other);
}

function isNamed(steps: readonly Step[], { child }: Step): boolean {
  return steps.some((candidate) => candidate['child'] === child);
}

/** A step with a job of its own that did nothing for the winner: as an attempt it would undo the step. */
function isSpare(step: Step): boolean {
  return step.state !== '$$complete';
}

/** The winner waits at the path of a step that takes its place: two cannot be open there, nor one be open behind a step that is done. */
function waitsAt(there: Step, step: Step): boolean {
  const takesOver = isOpen(step) || hasChild(step) || step.state === '$$complete';
  return takesOver && there.state === '$$waiting' && there.path === step.path;
}

/** The job was retried between the two. */
function isLater(there: Step, step: Step): boolean {
  return there.path === step.path && Number(there.run) > Number(step.run);
}

/** A step that nobody waits for any more; `next` takes its place. Its job may have been made. */
function unneeded(step: Step, next: Step): Step {
  const why = { ...failure('NotNeeded', {}), step: step.name };
  const end = Number(step['end'] ?? step['start'] ?? step['accepted'] ?? next['start']);
  return { ...step, state: '$$cancelled', end, exit: exits.cancelled, failure: why };
}

function isOpen(step: Step): boolean {
  return isLive(step) || step.state === '$$waiting';
}

/** Something happened: the plugin may have been called, or no engine was needed. */
function hasBegun(step: Step): boolean {
  return 'start' in step || step['claim'] === undefined;
}

/** It ended by itself, or its own engine has handed it back; nobody else took it away. */
function isOutcome(step: Step): boolean {
  if (!isFailed(step)) return true;
  // Somebody may have written the step by hand.
  const { name } = (step as { readonly failure?: { readonly name: string } }).failure ?? {};
  return name === 'Released' ? 'start' in step : name !== 'EngineLost' && name !== 'CrashLimit';
}

/**
 * The steps of the winner without attempts that run: those make room for what a losing tip has
 * proved. Undefined: one of them may really be running.
 */
function withRoom(steps: readonly Step[], loser: Tip, stands: Stands): readonly Step[] | undefined {
  const room: Step[] = [];
  for (const step of steps) {
    const there = isLive(step) ? stepOf(loser, step.claim) : step;
    if (!isLive(step) || (there !== undefined && isLive(there))) room.push(step);
    // The losing tip went on after the end of this one: so it has ended.
    else if (there !== undefined) room.push(there);
    else {
      const standing = step.state === '$$ready' ? 'given_up' : stands(step);
      if (standing === 'runs' || standing === 'elsewhere') return undefined;
      room.push(standing === 'lost' ? lost(step) : released(step));
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
 * becomes what the losing tip is, also for a skip or a retry, which would find nothing in it.
 */
function joined(winner: Tip, loser: Tip, steps: readonly Step[], last: Step | undefined): Tip {
  const isChanged = loser['state'] !== undefined && isChangedByRequest(loser, winner);
  if (winner['state'] === undefined && (last !== undefined || isChanged)) {
    const { _rev, _attachments: attachments } = winner;
    const begun: Tip = { ...winner, ...without(loser, '_attachments'), _rev, steps };
    const own = attachments === undefined ? begun : { ...begun, _attachments: attachments };
    return withWishes(own, winner);
  }
  if (last === undefined) return winner;
  const later = numberIn(loser, 'run') > numberIn(winner, 'run') ? loser : winner;
  const resumeAt = later['resume_at'];
  // Jobs were made for one of them only: its `start` is the one that they know.
  const isParent = stepsOf(loser).some(hasChild) && !stepsOf(winner).some(hasChild);
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

/** Children may have been made for both tips: those that know the `start` of the losing one are kept. */
function withStarts(next: Tip, loser: Tip): Tip {
  if (!stepsOf(loser).some(hasChild)) return next;
  const known = new Set([...startsIn(next), ...startsIn(loser), loser['start']]);
  known.delete(next['start']);
  const starts = [...known].filter((start) => typeof start === 'number').sort((a, b) => a - b);
  const isSaid = JSON.stringify(starts) === JSON.stringify(startsIn(next));
  return isSaid ? next : { ...next, also_started: starts };
}

function startsIn({ also_started: starts }: Tip): readonly unknown[] {
  return Array.isArray(starts) ? starts : [];
}

function numberIn(tip: Tip, key: string): number {
  const value = tip[key];
  return typeof value === 'number' ? value : 0;
}
