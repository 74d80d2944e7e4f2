import {
  isFinal,
  isNew,
  type FinalJob,
  type Job,
  type LiveJob,
  type NewJob,
} from '../model/job.js';
import { abandoned } from './finish/abandoned.js';
import { advance } from './advance.js';
import { isAsked, withLateEditsRefused } from './requests/edits.js';
import { refuseRetry } from './finish/finish.js';
import { ownerOf } from '../model/task.js';
import {
  asEnded,
  hasAddedStep,
  hasItsEnd,
  wasFinal,
  withItsEnd,
  withoutAddedSteps,
} from './requests/hand-edits.js';
import { hasGrown } from './start/effort.js';
import { initialise } from './start/initialise.js';
import type { Decided, Intent, Ruled } from './intent.js';
import type { World } from './world.js';
import { readRetryRequest, type RetryRequest } from '../model/request.js';
import { withNotifications } from './finish/notifications.js';
import { without } from '../model/record.js';
import { nextNumber, withRecord } from './requests/records.js';
import { reopened } from './requests/reopen.js';
import { formerState } from './requests/retry-record.js';
import { moved, withAlerts } from './waiting/alerts.js';
import { withNextDue } from './waiting/sleep.js';
import { subjectMove } from './finish/subject.js';
import { staggered } from './compete/stagger.js';

/**
 * Says what this engine should do about a job now (epoch ms). Pure.
 *
 * D1 The intent depends on nothing but job, now and world.
 * D2 A final job is changed only by requests of its users: a retry reopens it, any other request is
 *    recorded as refused. What else was written into its state is taken back, or told.
 * D3 Moves are merged where nothing is lost: one revision may hold the end of a step, skips and the
 *    next claim.
 * D4 A claim is made only for what this engine can run in a free slot.
 * D5 A job that sleeps until a time has that time as `next_due`; no other job does.
 * D6 Engines are staggered: if the first changes nothing, the next one acts after a short while.
 * D7 A decision ends: one revision holds a limited number of moves.
 * D8 A question that this engine cannot answer now fails nothing: the job waits, and the decision is
 *    made again.
 */
export function decide(job: Job, now: number, world: World): Decided {
  if (world.unanswered !== undefined) return waitForAnswer(world.unanswered, now);
  const { rule, intent } = isFinal(job)
    ? { rule: 'final', intent: lateEditMove(job, now) }
    : 'exit' in job && wasFinal(job)
      ? { rule: 'final', intent: { kind: 'write', job: asEnded(job) } as const }
      : decideAlone(job, now, world);
  return { ...(world.peers.length === 0 ? intent : staggered(job, intent, now, world)), rule };
}

/** So long a job waits before what could not be found out is asked again, ms. */
const againMs = 1_000;

/**
 * Returns the wait of a job while the engine cannot find out what the decision asks. That is no
 * fault of the document, so nothing in the job fails.
 */
function waitForAnswer(unanswered: string, now: number): Decided {
  const because = `${unanswered}. It is tried again.`;
  return { kind: 'wait', because, until: now + againMs, rule: 'unanswered' };
}

/**
 * Maximum number of moves in one revision. When it is reached, the job is written and the next
 * decision goes on from there.
 */
export const mostMoves = 50;

type RuledIntent = { readonly rule: string; readonly intent: Intent };

/**
 * Returns the intent of this engine as if it were the only one, with the rule of the last move. Child
 * jobs that it gives up are asked to cancel before the job is written.
 */
function decideAlone(job: NewJob | LiveJob, now: number, world: World): RuledIntent {
  const ruled = lastMove(job, now, world);
  const { intent } = ruled;
  const mayGiveUp = !isNew(job) && job.steps.some(({ state }) => state === '$$waiting');
  const abandons = mayGiveUp && 'job' in intent ? abandoned(job, intent.job) : [];
  return abandons.length === 0 ? ruled : { ...ruled, intent: { ...intent, abandons } as Intent };
}

function lastMove(job: NewJob | LiveJob, now: number, world: World): RuledIntent {
  const notification = job.notifies === undefined ? undefined : subjectMove(job, now, world);
  if (notification !== undefined && notification.kind !== 'knows') {
    return { rule: 'notification', intent: withNotifications(job, notification, world) };
  }
  const given = notification?.job ?? job;
  const isBeginning = isNew(given);
  const stepsBefore = isBeginning ? 0 : given.steps.length;
  let current = given;
  let said: Ruled = isBeginning
    ? { rule: 'begin', move: initialise(given, now, world) }
    : advance(given, now, world);
  for (let moves = 1; said.move.kind === 'change'; moves += 1) {
    const { rule } = said;
    const { job: next } = said.move;
    if (isFinal(next)) return { rule, intent: ending(job, current, next, world) };
    const added = next.steps.length - stepsBefore;
    if (moves === mostMoves || (added > 0 && hasGrown(added, next))) {
      return { rule, intent: { kind: 'write', job: without(next, 'next_due') } };
    }
    current = next;
    said = advance(next, now, world);
  }
  return atRest(job, current, said, { now, world });
}

/** What the last move comes to: a live job that waits may have something to tell before. */
function atRest(
  original: Job,
  current: NewJob | LiveJob,
  { rule, move }: Ruled,
  { now, world }: { readonly now: number; readonly world: World },
): RuledIntent {
  if (move.kind === 'abort') return { rule, intent: afterHold(original, current, move) };
  if (move.kind !== 'wait') return { rule, intent: moved(move as Intent) };
  if (isNew(current)) return { rule, intent: afterHold(original, current, move) };
  const found = withAlerts(current, move, now, world);
  if (found.kind === 'look_up') return { rule, intent: found };
  if (found.kind === 'tells') return { rule: 'alerts', intent: found.intent };
  const { job, wait } = found;
  // Who was to be told at that time is not any more: it sleeps on.
  const hasOverslept = wait.asleep === true && (job.next_due ?? Infinity) <= now;
  if (hasOverslept) return { rule, intent: { kind: 'write', job: withNextDue(job, wait) } };
  return { rule, intent: afterHold(original, job, wait) };
}

/** Writes the end of a job, with its notifications: those of one that never began the flow tells. */
function ending(
  before: NewJob | LiveJob,
  last: NewJob | LiveJob,
  ended: FinalJob,
  world: World,
): Intent {
  const intent = { kind: 'write', job: ended } as const;
  const mayNotify =
    isNew(last) ||
    last.notify !== undefined ||
    last.flow_definition.notify !== undefined ||
    world.notifyLists(ownerOf(last)).length > 0;
  return mayNotify ? withNotifications(before, intent, world) : intent;
}

/**
 * Answers requests that users wrote into a final job. `retry` reopens the job, or is refused with
 * the reason; a pause or a cancel is always refused.
 */
function lateEditMove(final: FinalJob, now: number): Intent {
  if (!hasItsEnd(final)) return { kind: 'write', job: withItsEnd(final) };
  if (hasAddedStep(final)) return { kind: 'write', job: withoutAddedSteps(final) };
  const job = withLateEditsRefused(final, now);
  const { retry } = job;
  if (!isAsked(retry)) {
    if (job !== final) return { kind: 'write', job };
    return { kind: 'ignore', because: 'The job is final.' };
  }
  const read = readRetryRequest(retry);
  if (!read.ok) return { kind: 'write', job: refuseRetry(job, read.reason, now) };
  const again = reopened(job, read.request, now);
  if (again.kind === 'refused') return { kind: 'write', job: refuseRetry(job, again.because, now) };
  return { kind: 'write', job: withRetryRecord(job, again.job, read.request, now) };
}

/** Records a retry that was written into the document like a request, under an id of its own. */
function withRetryRecord(job: FinalJob, next: Job, request: RetryRequest, now: number): Job {
  const { requests } = job;
  const kept = Array.isArray(requests) ? (requests as readonly unknown[]) : [];
  const from = request.from === undefined ? {} : { from: request.from };
  const id = `retry:${nextNumber(kept)}`;
  const record = { id, action: 'retry', ...from, ...formerState(job, next, request), at: now };
  return withRecord({ ...next, requests: kept }, record) as Job;
}

/**
 * Combines the changes made on the way with a last move that carries no job: what was changed is
 * written first, since steps that are told to stop would otherwise end before the reason why they
 * were. A new job that others may begin stays as it is, unless a clock has to start with it or it
 * holds locks. All other intents carry the changed job, and after a query or an acquire the decision
 * is made anew.
 */
function afterHold(original: Job, current: NewJob | LiveJob, last: Hold): Intent {
  if (current === original || isNew(current)) return last;
  if (last.kind === 'abort') return { kind: 'write', job: without(current, 'next_due') };
  const mayStayNew = isNew(original) && current.locked === undefined;
  const isForOthers = last.for === 'rate' || (last.for !== undefined && last.until === undefined);
  if (mayStayNew && isForOthers) return last;
  return { kind: 'write', job: withNextDue(current, last) };
}

type Hold = Extract<Intent, { kind: 'wait' | 'abort' }>;
