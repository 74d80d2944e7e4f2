import type { LiveJob } from '../../model/job.js';
import { isLive } from '../../model/step.js';
import { delayedUntil, expiryOf, hardDeadline, untilOf } from '../../reading/clock.js';
import { queueOf } from '../../reading/entries.js';
import { waitedMs } from '../../reading/held.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';
import { without } from '../../model/record.js';
import { openWaits } from './waits.js';

/**
 * Begins no new step while the job, its flow or its queue is paused. The time of the pause does not count
 * towards the flow's timeout (mode `start`), but waiting steps keep waiting. Undefined: there is no
 * pause, and none that ends. Flow and queue are asked as they are now, whatever the copy in the job says.
 */
export function pauseMove(job: LiveJob, now: number, world: World): Move | undefined {
  const paused = job.paused === true ? 'The job' : outerPauseOf(job, world);
  if (paused === undefined && job.state !== '$$paused') return undefined;
  const because = paused === undefined ? undefined : `${paused} is paused ("paused": true).`;
  const running = job.steps.find(isLive);
  if (because !== undefined && running !== undefined) {
    const still = `Step ${running.name} still runs on ${running.engine}.`;
    return { kind: 'wait', because: `${because} ${still}`, ...untilOf(...timesOf(job)) };
  }
  if (because !== undefined && job.state === '$$paused') {
    return { kind: 'wait', because, ...untilOf(...timesOf(job)) };
  }
  if (because !== undefined) {
    return { kind: 'change', job: { ...job, state: '$$paused', held_since: now } };
  }
  const resumed = {
    ...without(job, 'held_since'),
    state: progressState(job),
    held_ms: (job.held_ms ?? 0) + pausedMs(job, now),
    resume_at: Math.max(now, job.resume_at ?? 0),
  };
  return { kind: 'change', job: resumed };
}

/** Names what is paused around a job: its flow as it is stored now, or its queue. */
export function outerPauseOf(job: LiveJob, world: World): string | undefined {
  const { name, owner, version } = job.flow_definition;
  const flow = world.flow(name, owner, { version, orCurrent: true });
  if (flow.kind === 'found' && flow.value.paused === true) return `Flow "${name}"`;
  const queue = queueOf(job);
  return world.queueControl(queue)?.paused === true ? `Queue "${queue}"` : undefined;
}

/** What a pause does not keep from happening: waits time out, and a job that has not begun expires. */
function timesOf(job: LiveJob): readonly number[] {
  const waits = openWaits(job).map(({ until = Infinity }) => until);
  return [hardDeadline(job), expiryOf(job), ...waits];
}

/** How long the pause was, without what steps waited in it: that does not count anyhow. */
function pausedMs(job: LiveJob, now: number): number {
  const since = Math.max(job.held_since ?? now, delayedUntil(job));
  return Math.max(0, now - since - waitedMs(job.steps, since, now));
}

/** The state of a job that goes on: where it began a step last, or ready. */
function progressState(job: LiveJob): string {
  const last = job.steps.findLast((step) => step.structure === undefined);
  return last === undefined ? '$$ready' : `${last.task}-${last.index}`;
}
