import type { FinalJob, Job, LiveJob } from '../../model/job.js';
import { parseDocument, type Parsed } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import type { RetryRequest } from '../../model/request.js';
import { timeSchema, toEpochMs } from '../../model/scalars.js';
import { mayLock, withoutPermit } from '../compete/locks.js';
import { isObject } from '../../model/object.js';
import { merge, without } from '../../model/record.js';
import { strayChanges, stepWords, withParams } from './retry-params.js';
import { notInJob, placeNamed, unknownPlace } from './retry-place.js';
import { sealedChange } from '../start/sealed.js';

type Reopened =
  | { readonly kind: 'applied'; readonly job: Job }
  | { readonly kind: 'refused'; readonly because: string };

/**
 * Reopens a final job: at the step that failed, or at `from`, a step or a structure, with everything
 * after it. Nothing that was done is done again unless `from` asks for it: a structure that it names
 * begins anew, so that a map goes over its list as it is now. All attempts stay on record. The flow's
 * time starts again. A job that ended before its first step starts from the beginning.
 */
export function reopened(job: FinalJob, request: RetryRequest, now: number): Reopened {
  const lost = lostOf(job);
  if (lost !== undefined) {
    return refused(
      `Job ${job._id} cannot go on: it has begun, and its "${lost}" is gone or was changed; submit a new job.`,
    );
  }
  const isBegun = hasSnapshot(job);
  const parsed = parseDocument(isBegun ? asLive(job, now) : asNew(job, request.params, now));
  if (parsed.kind !== 'job' || !parsed.ok) {
    return refused(`Job ${job._id} cannot go on as it stands: ${problemOf(parsed)}`);
  }
  return isBegun
    ? inNextRun(job, parsed.value as LiveJob, request)
    : { kind: 'applied', job: parsed.value };
}

/** Returns the job in its next run as the request asks, or the refusal. */
function inNextRun(ended: FinalJob, live: LiveJob, request: RetryRequest): Reopened {
  const { from, params, latest } = request;
  const place = from === undefined ? undefined : placeNamed(live, from);
  const changed = params === undefined ? undefined : withParams(live, params);
  const because = notFrom(ended, live, request, place) ?? notWith(live, request, changed);
  if (because !== undefined) return refused(because);
  const { redo = [] } = live;
  const all = place === undefined ? redo : [...redo, { from: place, run: live.run }];
  return {
    kind: 'applied',
    job: {
      ...live,
      ...(all.length === 0 ? {} : { redo: all }),
      ...(latest === true ? { refresh: true } : {}),
      ...(mayLock(live) ? { relock: true } : {}),
      ...(changed === undefined ? {} : { params: changed }),
    },
  };
}

/** Returns why the job cannot continue at this step, or without one; undefined: it can. */
function notFrom(
  { _id: id, exit }: FinalJob,
  live: LiveJob,
  { from }: RetryRequest,
  place: string | undefined,
): string | undefined {
  if (place !== undefined) return notInJob(live, place);
  if (from !== undefined) return unknownPlace(live, from);
  return exit === 0 && live.slice?.failed === undefined
    ? `Job ${id} succeeded; say with "from" at which step it is to begin again.`
    : undefined;
}

/** Returns why the job cannot continue with these parameters; undefined: it can. */
function notWith(
  live: LiveJob,
  { params = {}, latest }: RetryRequest,
  changed: LiveJob['params'],
): string | undefined {
  // The definitions of today may have steps that the job does not know yet.
  if (latest === true || changed === undefined) return undefined;
  const [stray] = strayChanges(live, params);
  return stray === undefined ? sealedChange(live, changed)?.message : noSuchKey(live, stray);
}

/** Returns the document of the reopened job, in its next run. */
function asLive(job: FinalJob, now: number): StoredDocument {
  const { run, steps = [] } = job;
  const last = steps.findLast((step) => isObject(step) && step.structure === undefined);
  return {
    ...withoutPermit(withoutEnd(job, now)),
    state: last === undefined ? '$$ready' : `${last.task}-${last.index}`,
    run: Number(run) + 1,
    timed_from: now,
  };
}

/**
 * Returns the job without what only a final job has, and without wishes that would end it again at
 * once.
 */
function withoutEnd(job: FinalJob, now: number): StoredDocument {
  const { expires } = job as Readonly<Record<string, unknown>>;
  const time = timeSchema.safeParse(expires);
  const isOver = time.success && toEpochMs(time.data) <= now;
  return without(
    job,
    ...(['state', 'end', 'exit', 'result', 'failure', 'cancel', 'retry', 'retry_refused'] as const),
    ...(['held_ms', 'held_since', 'stuck_since', 'resume_at', 'next_due', 'paused'] as const),
    ...(isOver ? ['expires'] : []),
  );
}

function problemOf(parsed: Parsed): string {
  return 'problems' in parsed ? parsed.problems[0].message : 'it is no job.';
}

function refused(because: string): Reopened {
  return { kind: 'refused', because };
}

function noSuchKey(job: LiveJob, key: string): string {
  return `Nothing in job ${job._id} has the parameters "${key}"; its steps are ${stepWords(job)}.`;
}

/**
 * Returns which record of a job that has begun is missing; starting from the beginning would forget
 * its steps.
 */
function lostOf({ steps, tasks, definitions }: FinalJob): 'tasks' | 'definitions' | undefined {
  if (!Array.isArray(steps) || steps.length === 0) return undefined;
  if (!isObject(tasks)) return 'tasks';
  return isObject(definitions) ? undefined : 'definitions';
}

function hasSnapshot(job: FinalJob): boolean {
  return isObject(job['definitions']) && isObject(job['tasks']) && Array.isArray(job.steps);
}

function asNew(job: FinalJob, params: RetryRequest['params'], now: number): StoredDocument {
  const kept = without(
    withoutPermit(withoutEnd(job, now)),
    ...(['start', 'steps', 'problems', 'run'] as const),
  );
  const given = isObject(kept['params']) ? kept['params'] : undefined;
  const changed = params === undefined ? {} : { params: merge(given, params) };
  return { ...kept, ...changed };
}
