import type { LiveJob } from '../../model/job.js';
import { exits, type Step } from '../../model/step.js';
import { failStep } from '../finish/fail.js';
import { newAttempt, withNewStep } from '../steps.js';
import { lookUp } from '../queries.js';
import type { Begun } from '../intent.js';
import type { Prepared, Unbegun } from './prepare.js';
import type { Beginning } from '../../structures/progress.js';

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
