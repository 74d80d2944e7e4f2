import { type Job, defaultQueue, isLiveJob, isNew } from '../../model/job.js';
import type { Task } from '../../model/task.js';
import type { Intent } from '../intent.js';
import type { Peer, World } from '../world.js';
import type { Step } from '../../model/step.js';
import { delayedUntil, expiryOf, hardDeadline } from '../../reading/clock.js';
import { share } from '../finish/retry.js';
import { definitionFor, queueOf } from '../../reading/entries.js';
import { serves } from './serving.js';

/**
 * Time (ms) that each engine leaves to the one before it: enough for a write to arrive by the feed.
 */
export const staggerMs = 200;

/**
 * Staggers engines by rendezvous hashing, so that they do not all write the same revision: all
 * engines compute the same order, which differs for each boundary of each job. The first acts at
 * once, each further one only when nothing has moved in the meantime.
 */
export function staggered(job: Job, intent: Intent, now: number, world: World): Intent {
  const rank = rankToAct(job, intent, world);
  if (rank === 0) return intent;
  const until = staggeredFrom(job, now, world) + rank * staggerMs;
  if (now >= until) return intent;
  return { kind: 'wait', because: 'Another engine goes first.', for: 'engine', until };
}

/**
 * Returns how many engines act before this one; 0: it acts at once, or the intent writes nothing.
 */
function rankToAct(job: Job, intent: Intent, world: World): number {
  switch (intent.kind) {
    case 'write':
    case 'spawn':
    case 'acquire':
      return rankOf(job, world.peers, world);
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
 * Returns the time from which engines act one after the other: when this revision was seen, or at the latest time since for which
 * something in the job has waited, because all engines wake then. An engine that has just settled
 * an attempt acts at once.
 */
function staggeredFrom(job: Job, now: number, { seenAt }: World): number {
  if (!isLiveJob(job) || seenAt === -Infinity) return seenAt;
  const ofJob = [job.next_due, delayedUntil(job), expiryOf(job), hardDeadline(job)];
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
  const able = task === undefined ? [] : world.peers.filter((peer) => serves(peer, task, queue));
  return rankOf(job, able, world);
}

function rankOf(job: Job, peers: readonly Peer[], { me }: World): number {
  const steps = isNew(job) ? 0 : ((job.steps ?? []) as readonly unknown[]).length;
  return rankAmong(`${job._id}:${steps}`, peers, me.id);
}

/**
 * Returns how long (ms) this engine leaves a changed document to others before it reads it. Only the
 * engines count that can do whatever this one can; they are in the order in which they begin a new job.
 */
export function leftToOthersMs(id: string, me: Peer, peers: readonly Peer[]): number {
  const able = peers.filter(
    ({ plugins, labels, queues }) =>
      isWithin(me.plugins, plugins) && isWithin(me.labels, labels) && isWithin(me.queues, queues),
  );
  return rankAmong(`${id}:0`, able, me.id) * staggerMs;
}

function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const one of some) if (!all.has(one)) return false;
  return true;
}

/** Returns how many of these engines come before `me` at a boundary (`<job>:<number of steps>`). */
export function rankAmong(boundary: string, peers: readonly Peer[], me: string): number {
  if (peers.length === 0) return 0;
  const mine = share(`${me}:${boundary}`);
  return peers.filter(({ id }) => {
    const other = share(`${id}:${boundary}`);
    return other < mine || (other === mine && id < me);
  }).length;
}
