import TinyQueue from 'tinyqueue';
import { hasNoShare, type Claimant, type SlotUse } from '../../decide/compete/fair-share.js';
import type { TaskSlots } from '../../decide/intent.js';

/** What the next slot depends on, beside who waits. */
export type SlotFacts = {
  /** Whether a task may run once more. */
  readonly hasRoom: (task: TaskSlots) => boolean;
  readonly use: () => SlotUse;
};

/**
 * Jobs that wait for a slot: one line for each owner, and for each task that has slots of its own. A
 * line finds its first jobs without looking at all of them.
 */
export type SlotQueues = {
  /** `task`: only a slot of that task will do. */
  readonly add: (job: Claimant, task?: TaskSlots) => void;
  /** The jobs of each line that may take a slot, enough to find the first `most` of all. */
  readonly firsts: (most: number, facts: SlotFacts) => readonly Claimant[];
};

type Queue = TinyQueue<Claimant>;

/** `aside`: by root, jobs of roots that have a slot, or had some: they go after others of their place. */
type Line = {
  readonly task: TaskSlots | undefined;
  queue: Queue;
  readonly aside: Map<string, Queue>;
};

/** @param waits whether a job is still in line with this very place; `size`: how many are */
export function createSlotQueues(
  waits: (job: Claimant) => boolean,
  size: () => number,
): SlotQueues {
  const lines = new Map<string, Line>();

  /** Every sweep parks waiting jobs anew: places that no longer count must not pile up. */
  const tidy = (line: Line): void => {
    const { length, data } = line.queue;
    if (length >= 1_000 && length >= 2 * size()) line.queue = queueOf(data.filter(waits));
  };
  /** Takes the first job that goes by its place alone; those before it that do not go aside. */
  const shift = ({ queue, aside }: Line, use: SlotUse): Claimant | undefined => {
    for (let job = queue.pop(); job !== undefined; job = queue.pop()) {
      if (!waits(job)) continue;
      if (hasNoShare(job, use)) return job;
      const others = aside.get(job.root) ?? queueOf([]);
      aside.set(job.root, others);
      others.push(job);
    }
    return undefined;
  };
  const firstAside = ({ aside }: Line, most: number): readonly Claimant[] =>
    [...aside].flatMap(([root, queue]) => {
      while (queue.length > 0 && !waits(queue.peek() as Claimant)) queue.pop();
      if (queue.length === 0) aside.delete(root);
      return most === 1 ? queue.data.slice(0, 1) : firstWaiting(queue.data, most, waits);
    });
  const firstsOf = (line: Line, most: number, use: SlotUse): readonly Claimant[] => {
    const first: Claimant[] = [];
    while (first.length < most) {
      const job = shift(line, use);
      if (job === undefined) break;
      first.push(job);
    }
    for (const job of first) line.queue.push(job);
    return [...first, ...firstAside(line, most)];
  };
  return {
    add: (job, task) => {
      const key = JSON.stringify([job.owner, task?.task, task?.slots]);
      const line = lines.get(key) ?? { task, queue: queueOf([]), aside: new Map<string, Queue>() };
      lines.set(key, line);
      line.queue.push(job);
      tidy(line);
    },
    firsts: (most, { hasRoom, use: useOf }) => {
      if (lines.size === 0) return [];
      const use = useOf();
      const found = new Set<Claimant>();
      for (const [key, line] of lines) {
        if (line.task !== undefined && !hasRoom(line.task)) continue;
        for (const job of firstsOf(line, most, use)) found.add(job);
        if (line.queue.length === 0 && line.aside.size === 0) lines.delete(key);
      }
      return [...found];
    },
  };
}

function queueOf(jobs: Claimant[]): Queue {
  return new TinyQueue(jobs, byPlace);
}

/** What slots do not change. */
function byPlace(a: Claimant, b: Claimant): number {
  return a.priority - b.priority || Number(b.begun) - Number(a.begun) || a.since - b.since;
}

function firstWaiting(
  jobs: readonly Claimant[],
  most: number,
  waits: (job: Claimant) => boolean,
): readonly Claimant[] {
  const found: Claimant[] = [];
  for (const job of jobs) {
    if (found.length === most) break;
    if (waits(job)) found.push(job);
  }
  return found;
}
