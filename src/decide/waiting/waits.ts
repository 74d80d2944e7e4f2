import { failure } from '../../model/failures.js';
import type { LiveJob, Signal } from '../../model/job.js';
import { durationSchema, timeSchema, toEpochMs } from '../../model/scalars.js';
import { isWrittenLength, writtenSpanMs } from '../../model/span.js';
import { exits, isOpen, type Failure, type Step, type WaitingStep } from '../../model/step.js';
import { isWithin, type WaitFor } from '../../model/tree.js';
import { queueOfOffer, workOptionsOf } from '../../model/work.js';
import { failUnbegun, unprepared } from '../start/attempt.js';
import { childMove, childWait } from '../children/child.js';
import { hardDeadline, untilOf } from '../../reading/clock.js';
import { totalDeadline, totalTimeoutOf } from '../../reading/entries.js';
import { failStep } from '../finish/fail.js';
import { newAttempt, withBegun } from '../steps.js';
import { type Query, mergeQueries } from '../queries.js';
import type { Begun, Move, Wait } from '../intent.js';
import type { Child, World } from '../world.js';
import { textsOf } from '../../structures/kinds.js';
import { isUndoing } from '../../structures/paths.js';
import { describeForm, nextTimer } from '../../reading/people.js';
import { answered } from './answer.js';
import { eventMove } from './events.js';
import { askedAt, beginForm, formTimer } from './form.js';
import { leaseMsOf } from './lease.js';
import { releasedWait } from './released-wait.js';
import { prepare } from '../start/prepare.js';
import { cancelledSteps } from '../finish/stop.js';
import type { Beginning } from '../../structures/progress.js';

/** Begins a delay or a wait: the step is `$$waiting` until it is settled. */
export function beginWait(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { wait, delay, timeout } = beginning.leaf.entry;
  const prepared = prepare(job, beginning, world, { texts: textsOf(beginning.leaf.entry) });
  if (!prepared.ok) return unprepared(job, beginning, prepared, now);
  const { params, texts: filled } = prepared;
  const asked = askedAt(beginning.leaf);
  const attempt = newAttempt(job, beginning);
  const of = { job: job._id, path: attempt.path, attempt: attempt.attempt };
  const form = asked && beginForm({ asked, leaf: beginning.leaf, filled, of }, now, world);
  if (form?.ok === false) return failUnbegun(job, beginning, form.unbegun, now);
  const step: WaitingStep = {
    ...attempt,
    state: '$$waiting',
    params,
    accepted: now,
    start: now,
    ...(form === undefined ? awaitedBy(wait, filled) : { signal: form.signal, form: form.form }),
  };
  const time =
    delay === undefined
      ? timeoutAt((asked ?? wait)?.timeout ?? timeout, now)
      : delayUntil(filled['delay'], now);
  if (time === undefined) {
    const why = failure('DelayInvalid', { value: JSON.stringify(filled['delay']) });
    return failUnbegun(job, beginning, { failure: why, exit: exits.definition }, now);
  }
  const waiting = time === Infinity ? step : { ...step, until: time };
  return { kind: 'change', job: withBegun(job, waiting, now) };
}

/** The signal or the event for which a step waits. */
function awaitedBy({ signal, event }: WaitFor = {}, filled: Readonly<Record<string, unknown>>) {
  return {
    ...(signal === undefined ? {} : { signal: asText(filled['wait.signal']) }),
    ...(event === undefined ? {} : { event, key: asText(filled['wait.key']) }),
  };
}

/** Makes a decider that asked for nothing wait for a signal that it has not seen. */
export function beginNews(job: LiveJob, beginning: Beginning, now: number): Begun {
  const times = { accepted: now, start: now };
  const news = job.signals?.length ?? 0;
  const step: WaitingStep = { ...newAttempt(job, beginning), state: '$$waiting', ...times, news };
  return { kind: 'change', job: withBegun(job, step, now) };
}

function asText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function timeoutAt(timeout: number | undefined, now: number): number {
  return timeout === undefined || timeout === 0 ? Infinity : now + timeout;
}

/**
 * Returns when a delay ends (epoch ms). A number is a length in ms, a text a time, a number or a length in ISO 8601;
 * undefined: it is neither.
 */
function delayUntil(delay: unknown, now: number): number | undefined {
  const text = typeof delay === 'string' ? delay.trim() : undefined;
  const isWritten = text !== undefined && isWrittenLength(text);
  const isNumber = text !== undefined && /^\d+$/.test(text);
  const length = isWritten ? writtenSpanMs(text) : isNumber ? Number(text) : delay;
  if (typeof length === 'number') {
    const whole = durationSchema.safeParse(Math.round(length));
    return whole.success ? now + whole.data : undefined;
  }
  const time = timeSchema.safeParse(text);
  return time.success ? toEpochMs(time.data) : undefined;
}

/**
 * Ends the waiting step whose condition was met first, or asks what must be known for that. When
 * several could end now, one may make others unneeded: steps at or below the paths that `unneeded`
 * returns are cancelled first.
 */
export function waitsMove(
  job: LiveJob,
  now: number,
  world: World,
  unneeded: () => readonly string[],
): Move | undefined {
  const move = endingMove(job, readyOnes(job, now, world), now, world);
  if (move === undefined || move.kind === 'look_up') return move;
  return unneededMove(job, unneeded(), now) ?? move;
}

function endingMove(
  job: LiveJob,
  ready: readonly WaitingStep[],
  now: number,
  world: World,
): Move | undefined {
  const queries: Query[] = [];
  for (const step of ready) {
    const move = waitMove(job, step, now, world);
    if (move?.kind === 'look_up') queries.push(move);
    else if (move !== undefined) return move;
  }
  return queries.length === 0 ? undefined : mergeQueries(queries);
}

/** Returns the waiting steps that may end now, the one that was ready first at the front. */
function readyOnes(job: LiveJob, now: number, world: World): readonly WaitingStep[] {
  return job.steps
    .flatMap((step) => {
      const at = step.state === '$$waiting' ? readyAt(job, step, now, world) : Infinity;
      return at > now ? [] : [{ step: step as WaitingStep, at }];
    })
    .toSorted((a, b) => a.at - b.at)
    .map(({ step }) => step);
}

/**
 * Returns since when a step has what it waits for (epoch ms). An event is taken `now`, or must be looked at.
 */
function readyAt(job: LiveJob, step: WaitingStep, now: number, world: World): number {
  const { child, signal: name, until = Infinity } = step;
  if (child !== undefined) return childEnd(world.child(child), now);
  const signal = name === undefined ? newsOf(job, step) : nextSignal(job, step);
  if (signal !== undefined) return Math.min(signal.at, now);
  return eventMove(job, step, now, world) === undefined
    ? Math.min(until, nextTimer(step)?.at ?? Infinity)
    : now;
}

function childEnd(child: Child, now: number): number {
  return child.kind === 'final' ? Math.min(Number(child.job['end'] ?? now), now) : now;
}

function unneededMove(job: LiveJob, paths: readonly string[], now: number): Move | undefined {
  const isUnneeded = ({ state, path }: Step): boolean =>
    state === '$$waiting' && !isUndoing(path) && paths.some((node) => isWithin(path, node));
  if (!job.steps.some(isUnneeded)) return undefined;
  const ended = cancelledSteps(job, isUnneeded, failure('NotNeeded', {}), now);
  return { kind: 'change', job: ended };
}

/** Ends a step that is ready. A step that has not got what it waits for has timed out. */
function waitMove(job: LiveJob, step: WaitingStep, now: number, world: World): Move | undefined {
  if (step.child !== undefined) return childMove(job, { ...step, child: step.child }, now, world);
  if (step.signal !== undefined) {
    const signal = nextSignal(job, step);
    if (signal !== undefined) return answered(job, step, signal, { now, world });
  }
  const timed = formTimer(job, step, now, world);
  if (timed !== undefined) return { kind: 'change', job: timed };
  const taking = eventMove(job, step, now, world);
  if (taking !== undefined) return taking;
  if (step.signal === undefined && step.event === undefined) {
    return { kind: 'change', job: releasedWait(job, step, undefined, now) };
  }
  const failing = {
    ...({ state: '$$timeout', exit: exits.timeout } as const),
    failure: tooLate(job, step),
    // A worker that is lost says nothing about the work: the next one may have it at once.
    ...(isLeaseOver(job, step) ? { retryAfterMs: 0 } : {}),
  };
  return { kind: 'change', job: failStep(job, step, failing, now) };
}

/** A worker had the step and let its lease end, within the time of its attempt. */
function isLeaseOver(job: LiveJob, step: WaitingStep): boolean {
  const { worker, until } = step;
  return (
    worker !== undefined &&
    Number(until) < totalDeadline(job, step) &&
    Number(until) < attemptEnd(step)
  );
}

/** When the attempt of a worker must be done (epoch ms). */
function attemptEnd({ leased, params }: WaitingStep): number {
  const { timeout = Infinity } = workOptionsOf(params);
  return Number(leased) + timeout;
}

/** Returns why a step failed that has timed out. */
function tooLate(job: LiveJob, step: WaitingStep): Failure {
  const { until, worker, leased, since, accepted, params } = step;
  if (Number(until) >= totalDeadline(job, step)) {
    const timeout = totalTimeoutOf(job, step);
    return { ...failure('TotalTimeout', { timeout }), retryable: false };
  }
  if (worker !== undefined && leased !== undefined) {
    const { timeout = Infinity } = workOptionsOf(params);
    return Number(until) >= leased + timeout
      ? failure('StepTimeout', { timeout })
      : failure('WorkerLost', { worker, lease: leaseMsOf(step) });
  }
  const timeout = Number(until) - Number(since ?? accepted);
  return failure('WaitTimeout', { awaited: describeWait(step), timeout });
}

/** Returns the oldest signal for a step that no step has taken yet. */
function nextSignal(
  job: LiveJob,
  { signal: name, path, attempt }: WaitingStep,
): Signal | undefined {
  const taken = new Set(job.steps.map((step) => step['signal_id']));
  return job.signals?.find((signal) => {
    const { step = path, attempt: of = attempt } = signal;
    return signal.name === name && step === path && of === attempt && !taken.has(signal.id);
  });
}

/** Returns the first signal that came while a decider waited for one. */
function newsOf(job: LiveJob, { news }: WaitingStep): Signal | undefined {
  return news === undefined ? undefined : job.signals?.[news];
}

/** Returns what the waiting steps of a job wait for. */
export function openWaits(job: LiveJob): readonly Wait[] {
  const limit = hardDeadline(job);
  return job.steps.filter(isOpen).map((step): Wait => {
    if (step.state !== '$$waiting') {
      const because = `Step ${step.name} (attempt ${step.attempt}) runs on ${step.engine}.`;
      return { kind: 'wait', because, ...untilOf(limit) };
    }
    if (step.child !== undefined) return childWait(step.name, step.child, limit);
    const because = `Step ${step.name} waits ${describeWait(step)}.`;
    const next = Math.min(step.until ?? Infinity, nextTimer(step)?.at ?? Infinity);
    return { kind: 'wait', because, asleep: true, ...untilOf(next, limit) };
  });
}

/** What a step waits for, after the word "waits". */
export function describeWait({
  signal,
  event,
  key = '',
  until,
  worker,
  news,
  form,
}: WaitingStep): string {
  if (form !== undefined) return describeForm(form);
  if (news !== undefined) return 'for any signal: its decider asked for nothing else';
  if (worker !== undefined) return `for worker "${worker}"`;
  const queue = signal === undefined ? undefined : queueOfOffer(signal);
  if (queue !== undefined) return `for a worker (queue "${queue}")`;
  if (signal !== undefined) return `for the signal "${signal}"`;
  if (event !== undefined) return `for the event "${event}"${key === '' ? '' : ` of "${key}"`}`;
  return until === undefined ? 'for nothing' : `until ${new Date(until).toISOString()}`;
}
