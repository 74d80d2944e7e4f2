import type { LiveJob } from '../../model/job.js';
import { exits, type Step } from '../../model/step.js';
import { failStep } from '../finish/fail.js';
import { attemptsOf } from '../../reading/attempts.js';
import { withNewStep } from '../steps.js';
import { lookUp } from '../queries.js';
import type { Begun } from '../intent.js';
import type { Prepared, Unbegun } from './prepare.js';
import type { Beginning } from '../../structures/progress.js';

/** The fields of every attempt of a step that has a child. */
export type Attempt = Pick<Step, 'index' | 'path' | 'name' | 'task' | 'attempt' | 'run' | 'phase'>;

/** Returns the fields of a new attempt, with the next number. */
export function newAttempt(job: LiveJob, { leaf, phase }: Beginning) {
  return {
    index: leaf.index,
    path: leaf.path,
    name: leaf.name,
    task: leaf.entry.task,
    attempt: job.steps.length === 0 ? 1 : attemptsOf(job, leaf.path).length + 1,
    run: job.run,
    phase,
  };
}

/** Records an attempt that failed before any engine began it. */
export function failUnbegun(
  job: LiveJob,
  beginning: Beginning,
  { failure: why, exit }: Unbegun,
  now: number,
): Extract<Begun, { kind: 'change' }> {
  const step: Step = {
    ...newAttempt(job, beginning),
    state: '$$error',
    accepted: now,
    end: now,
    exit,
    failure: why,
  };
  const state = exit === exits.timeout ? '$$timeout' : '$$error';
  const failed = failStep(withNewStep(job, step), step, { state, failure: why, exit }, now);
  return { kind: 'change', job: failed };
}

/**
 * Returns the failed attempt when its parameters cannot be rendered, or a query when data is
 * missing.
 */
export function unprepared(
  job: LiveJob,
  beginning: Beginning,
  prepared: Extract<Prepared, { ok: false }>,
  now: number,
): Extract<Begun, { kind: 'change' | 'look_up' }> {
  if ('missing' in prepared) return lookUp({ attachments: prepared.missing });
  return failUnbegun(job, beginning, prepared.unbegun, now);
}
