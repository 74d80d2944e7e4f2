import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, type StepIn } from '../model/step.js';
import { hardDeadline, untilOf } from './clock.js';
import { failStep } from './fail.js';
import type { Move } from './intent.js';

/** A step that waits for a signal: it goes on waiting, until its time is up. */
export function signalMove(job: LiveJob, step: StepIn<'$$waiting'>, now: number): Move {
  const { since = now, until = Infinity } = step;
  const signal = String(step.signal);
  if (now < until) {
    const because = `Step ${step.name} waits for the signal "${signal}".`;
    return { kind: 'wait', because, ...untilOf(until, hardDeadline(job)) };
  }
  const held = { ...job, held_ms: (job.held_ms ?? 0) + now - since };
  const why = failure('SignalTimeout', { signal, timeout: until - since });
  const failing = { state: '$$timeout', failure: why, exit: exits.timeout } as const;
  return { kind: 'change', job: failStep(held, step, failing, now) };
}
