import { createHash } from 'node:crypto';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { readSteps, type StepReading } from '../../reading/step-reading.js';
import { attemptOf, envelopeOf, errorOf, isAlone, stepWorkId } from './envelope.js';
import { uuidV7 } from './uuid.js';
import { workflowIn } from './workflow/answer.js';

/*
 * The events of jobs as the Open Job Spec has them. Nothing is kept for them: a job tells what happened to
 * it, and when.
 */

export type OjsEvent = {
  readonly specversion: '1.0';
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
};

type Happening = {
  readonly type: string;
  readonly subject: string;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
};

/** What happened to a job until `now` (epoch ms), the oldest first. */
export function eventsOf(job: StoredDocument, now: number): readonly OjsEvent[] {
  const whole = envelopeOf(job, now);
  const { ojs } = job;
  const created = isObject(ojs) ? ojs['created_at'] : undefined;
  const enqueued =
    typeof created === 'number'
      ? [happening('job.enqueued', job._id, created, { job_type: whole.type, queue: whole.queue })]
      : [];
  const steps = readSteps(job);
  const ofSteps = steps.flatMap((step) => ofStep(job, whole, step, steps));
  const all = [...enqueued, ...ofSteps, ...endOf(job, whole)];
  return all
    .toSorted((a, b) => a.at - b.at)
    .map(({ type, subject, at, data }, place) => ({
      specversion: '1.0',
      id: eventId(job._id, { type, subject, at }, place),
      type,
      source: 'tws',
      subject,
      time: new Date(at).toISOString(),
      data: { job_id: subject, ...data },
    }));
}

function happening(
  type: string,
  subject: string,
  at: number,
  data: Readonly<Record<string, unknown>>,
): Happening {
  return { type, subject, at, data };
}

type Whole = ReturnType<typeof envelopeOf>;

/** What happened to one attempt: somebody began, and it came to an end. */
function ofStep(
  job: StoredDocument,
  whole: Whole,
  step: StepReading,
  steps: readonly StepReading[],
): readonly Happening[] {
  if (step.structure !== undefined) return [];
  const raw: readonly unknown[] = Array.isArray(job['steps']) ? job['steps'] : [];
  const own = raw[step.place];
  const { params, result, failure } = isObject(own) ? own : {};
  const { id, type, queue } = stepWorkId(job, { ...step, params });
  const begun = step.plugin === 'worker' ? step.leased : step.start;
  if (begun === undefined) return [];
  const about = { job_type: type ?? whole.type, queue: queue ?? whole.queue };
  const attempt = attemptOf(steps, step);
  const worker = step.worker === undefined ? {} : { worker_id: step.worker };
  const started = happening('job.started', id, begun, { ...about, ...worker, attempt });
  if (step.end === undefined) return [started];
  const duration = { attempt, duration_ms: step.end - begun };
  const told = { ...about, ...duration };
  if (step.state === '$$complete') {
    const data = { ...told, ...(result === undefined ? {} : { result }), state: 'completed' };
    return [started, happening('job.completed', id, step.end, data)];
  }
  const error = isObject(failure) ? errorOf(failure) : undefined;
  if (step.state === '$$cancelled') {
    return [started, happening('job.cancelled', id, step.end, { ...told, state: 'cancelled' })];
  }
  const failed = happening('job.failed', id, step.end, { ...told, error });
  if (step.due !== undefined) {
    const delay = { retry_delay_ms: step.due - step.end, next_attempt: attempt + 1 };
    const data = { ...told, ...delay, error, state: 'retryable' };
    return [started, failed, happening('job.retrying', id, step.end, data)];
  }
  const discarded = { ...about, total_attempts: attempt, last_error: error, state: 'discarded' };
  return [started, failed, happening('job.discarded', id, step.end, discarded)];
}

/** How the whole ended, where that is not the end of its one step. */
function endOf(job: StoredDocument, { state, type, queue, error }: Whole): readonly Happening[] {
  const { end } = job;
  if (typeof end !== 'number') return [];
  if (workflowIn(job) !== undefined) {
    const words = { completed: 'completed', cancelled: 'cancelled', discarded: 'failed' } as const;
    const word = state in words ? words[state as keyof typeof words] : 'completed';
    return [happening(`workflow.${word}`, job._id, end, { workflow_id: job._id, state: word })];
  }
  const steps = readSteps(job);
  const hasBegun = steps.some(({ leased, start, plugin }) =>
    plugin === 'worker' ? leased !== undefined : start !== undefined,
  );
  if (isAlone(job) && hasBegun) return [];
  const about = { job_type: type, queue, state };
  switch (state) {
    case 'completed':
      return [happening('job.completed', job._id, end, { ...about, attempt: 1, duration_ms: 0 })];
    case 'cancelled':
      return [happening('job.cancelled', job._id, end, about)];
    case 'scheduled':
    case 'available':
    case 'pending':
    case 'active':
    case 'retryable':
    case 'discarded':
      return [happening('job.discarded', job._id, end, { ...about, last_error: error })];
  }
}

/** The same event has the same id whenever it is told, and ids sort by time. */
function eventId(
  job: string,
  { type, subject, at }: Pick<Happening, 'type' | 'subject' | 'at'>,
  place: number,
): string {
  const text = JSON.stringify([job, type, subject, at, place]);
  const random = createHash('sha256').update(text).digest().subarray(0, 10);
  return `evt_${uuidV7(at, random)}`;
}

/** No event of that time or later has an id before it. */
export function firstIdAt(at: number): string {
  return `evt_${uuidV7(at, new Uint8Array(10))}`;
}
