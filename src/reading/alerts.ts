import type { LiveJob } from '../model/job.js';
import { toEpochMs } from '../model/scalars.js';
import { writtenSpanMs } from '../model/span.js';
import type { Step, WaitingStep } from '../model/step.js';
import { queueOfOffer } from '../model/work.js';

/** When a job has been running for longer than its flow expects (epoch ms); Infinity: never. All time counts. */
export function lateAt(
  job: Pick<LiveJob, 'start' | 'timed_from' | 'exec_after' | 'flow_definition'>,
): number {
  const { expected } = job.flow_definition;
  if (expected === undefined) return Infinity;
  const { start, timed_from: from = start, exec_after: after = 0 } = job;
  return Math.max(from, toEpochMs(after)) + writtenSpanMs(expected);
}

/** Whether a step waits for a person: for a signal, which people and their programs send, and no worker. */
export function waitsForPerson(step: Step): step is WaitingStep {
  if (step.state !== '$$waiting') return false;
  const { signal, worker } = step;
  return signal !== undefined && worker === undefined && queueOfOffer(signal) === undefined;
}
