import { type Job, defaultQueue, isLiveJob } from '../../model/job.js';
import type { Task } from '../../model/task.js';
import type { Intent } from '../intent.js';
import type { Peer, World } from '../world.js';
import type { Step } from '../../model/step.js';
import { lateAt } from '../../reading/alerts.js';
import { delayedUntil, expiryOf, hardDeadline } from '../../reading/clock.js';
import { definitionFor, queueOf } from '../../reading/entries.js';
import { rankAmong, turnMs } from './ranks.js';
import { serves } from './serving.js';

/**
 * Staggers engines by rendezvous hashing, so that they do not all write the same revision: all
 * engines compute the same order, which differs for each job. The first acts at once, each further
 * one only when nothing has moved in the meantime.
 */
export function staggered(job: Job, intent: Intent, now: number, world: World): Intent {
  // Who has just settled an attempt goes on at once.
  if (world.seenAt === -Infinity) return intent;
  const rank = rankToAct(job, intent, world);
  if (rank === 0) return intent;
  const until = staggeredFrom(job, now, world) + turnMs(rank);
  if (now >= until) return intent;
  const wants = intent.kind === 'acquire' ? intent.permits.flatMap((one) => one.wants) : [];
  const places = wants.length === 0 ? {} : { places: wants };
  return { kind: 'wait', because: 'Another engine goes first.', for: 'engine', until, ...places };
}

/**
 * Returns how many engines act before this one; 0: it acts at once, or the intent writes nothing.
 */
function rankToAct(job: Job, intent: Intent, world: World): number {
  switch (intent.kind) {
    case 'write':
    case 'spawn':
      return rankOf(job, world);
    case 'acquire': {
      const { forTask } = intent;
      if (forTask === undefined) return rankOf(job, world);
      return rankFor(job, forTask.task, world, forTask.queue);
    }
    case 'claim': {
      // All steps of a claim were found to be this engine's to run; the first stands for them.
      const [first] = intent.steps;
      const task = first && definitionFor(intent.job, first);
      return rankFor(job, task, world, queueOf(intent.job));
    }
    case 'look_up':
    case 'wait':
    case 'ignore':
    case 'abort':
      return 0;
  }
}

/**
 * Returns the time from which engines act one after the other: when this revision was seen, or at
 * the latest time since for which something in the job has waited, because all engines wake then.
 */
function staggeredFrom(job: Job, now: number, { seenAt }: World): number {
  if (!isLiveJob(job)) return seenAt;
  const ofJob = [job.next_due, delayedUntil(job), expiryOf(job), hardDeadline(job), lateAt(job)];
  const times = [...ofJob, ...job.steps.map(timeOf)];
  return times.reduce<number>(
    (from, time = 0) => (time > now ? from : Math.max(from, time)),
    seenAt,
  );
}

/** Until when a step waits, or when its next attempt is due. */
function timeOf({ state, until, due }: Step): number | undefined {
  return (state === '$$waiting' ? until : due) as number | undefined;
}

/** Returns how many engines that can run the task come before this one at this boundary. */
export function rankFor(
  job: Job,
  task: Task | undefined,
  world: World,
  queue = defaultQueue,
): number {
  return task === undefined ? 0 : rankOf(job, world, (peer) => serves(peer, task, queue));
}

function rankOf({ _id: id }: Job, { me, peers }: World, counts?: (peer: Peer) => boolean): number {
  return rankAmong(id, peers, me.id, counts);
}
