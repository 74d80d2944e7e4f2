import TinyQueue from 'tinyqueue';
import type { TaskSlots } from '../decide/intent.js';
import { defaultPriority } from '../model/job.js';

/** Jobs that wait for something of this process or of the others, not for a time. */
export type Parking = {
  /**
   * Waits for a slot here: lower priority first, then what has begun, then lower rank, then first
   * come. With `tasks` one of them must be one that may run once more.
   */
  readonly forSlot: (job: InLine, rank: number, tasks?: readonly TaskSlots[]) => void;
  /** Waits for a change elsewhere: a definition, a pause, a plugin on another engine. */
  readonly forChange: (id: string) => void;
  /** Has attempts that run on these engines, whatever else it waits for. */
  readonly watch: (id: string, engines: readonly string[]) => void;
  readonly leave: (id: string) => void;
  /** Calls the job that gets the next free slot; it is in call until it leaves or waits again. */
  readonly nextForSlot: (hasRoom?: HasRoom) => string | undefined;
  /** The call of a job is over, whatever came of it. */
  readonly answered: (id: string) => void;
  /** How many jobs are in call: each is about to take a slot. */
  readonly calls: () => number;
  /** How many slots are for others that go before this job: called ones, and the first in line. */
  readonly ahead: (job: InLine, hasRoom?: HasRoom) => number;
  /** All that wait for a change or a slot. */
  readonly parked: () => readonly string[];
  /** The jobs whose attempts that engine had. */
  readonly takeOf: (engine: string) => readonly string[];
};

/** Whether a task may run once more. */
export type HasRoom = (task: TaskSlots) => boolean;

/** A job that could take a slot. `begun`: some step of it did. */
export type InLine = { readonly id: string; readonly priority: number; readonly begun: boolean };

/** The place of a job document of any form. */
export function inLineOf(job: Place): InLine {
  const { _id: id, priority, steps } = job;
  return {
    id,
    priority: typeof priority === 'number' ? priority : defaultPriority,
    begun: Array.isArray(steps) && steps.length > 0,
  };
}

type Place = { readonly _id: string; readonly priority?: unknown; readonly steps?: unknown };

type Ticket = InLine & { readonly rank: number; readonly number: number };

const byTurn = (a: Ticket, b: Ticket): number =>
  byRight(a, b) || a.rank - b.rank || a.number - b.number;

/** What has begun is older than what has not, at the same priority. */
export const byRight = (a: InLine, b: InLine): number =>
  a.priority - b.priority || Number(b.begun) - Number(a.begun);

/** Jobs that wait for the same: for any slot, or for one of a task. */
type Queue = { readonly task: TaskSlots | undefined; tickets: TinyQueue<Ticket> };

export function createParking(): Parking {
  const queues = new Map<string, Queue>();
  const tickets = new Map<string, Ticket>();
  const changes = new Set<string>();
  const enginesOf = new Map<string, readonly string[]>();
  const byEngine = new Map<string, Set<string>>();
  /** A job keeps its place when it was called and got no slot after all. */
  const numbers = new Map<string, number>();
  const called = new Map<string, Ticket>();
  let last = 0;

  const leave = (id: string): void => {
    numbers.delete(id);
    leavePlace(id);
  };
  const leavePlace = (id: string): void => {
    called.delete(id);
    tickets.delete(id);
    changes.delete(id);
    for (const engine of enginesOf.get(id) ?? []) byEngine.get(engine)?.delete(id);
    enginesOf.delete(id);
  };
  const isValid = (ticket: Ticket): boolean => tickets.get(ticket.id) === ticket;
  const enqueue = (ticket: Ticket, task?: TaskSlots): void => {
    const key = task === undefined ? '' : `${task.slots} ${task.task}`;
    const queue = queues.get(key) ?? { task, tickets: new TinyQueue<Ticket>([], byTurn) };
    queues.set(key, queue);
    queue.tickets.push(ticket);
    tidy(queue);
  };
  /** Every sweep parks waiting jobs anew: tickets that no longer count must not pile up. */
  const tidy = (queue: Queue): void => {
    const { length, data } = queue.tickets;
    if (length < 1_000 || length < 2 * tickets.size) return;
    queue.tickets = new TinyQueue(data.filter(isValid), byTurn);
  };
  /** The first ticket of a queue that still counts. */
  const firstOf = ({ tickets: queue }: Queue): Ticket | undefined => {
    while (queue.length > 0 && !isValid(queue.peek() as Ticket)) queue.pop();
    return queue.peek();
  };
  return {
    leave,
    forSlot: (job, rank, tasks = []) => {
      const { id } = job;
      leavePlace(id);
      const number = numbers.get(id) ?? (last += 1);
      numbers.set(id, number);
      const ticket = { ...job, rank, number };
      tickets.set(id, ticket);
      if (tasks.length === 0) enqueue(ticket);
      for (const task of tasks) enqueue(ticket, task);
    },
    forChange: (id) => {
      leave(id);
      changes.add(id);
    },
    watch: (id, engines) => {
      if (engines.length === 0) return;
      enginesOf.set(id, engines);
      for (const engine of engines) {
        const ids = byEngine.get(engine) ?? new Set<string>();
        byEngine.set(engine, ids.add(id));
      }
    },
    // The number stays: only leave() gives the place up.
    nextForSlot: (hasRoom = () => true) => {
      let next: Ticket | undefined;
      for (const [key, queue] of queues) {
        const first = firstOf(queue);
        if (first === undefined) queues.delete(key);
        else if (queue.task !== undefined && !hasRoom(queue.task)) continue;
        else if (next === undefined || byTurn(first, next) < 0) next = first;
      }
      if (next === undefined) return undefined;
      tickets.delete(next.id);
      called.set(next.id, next);
      return next.id;
    },
    answered: (id) => void called.delete(id),
    calls: () => called.size,
    ahead: (job, hasRoom = () => true) => {
      // Without a place in line it has just come, or goes on from its last step.
      const number = numbers.get(job.id) ?? (job.begun ? -Infinity : Infinity);
      const goesBefore = (other: Ticket): boolean =>
        other.id !== job.id && (byRight(other, job) || other.number - number) < 0;
      const heads = [...queues.values()]
        .filter(({ task }) => task === undefined || hasRoom(task))
        .flatMap((queue) => firstOf(queue) ?? []);
      return new Set([...called.values(), ...heads].filter(goesBefore)).size;
    },
    parked: () => [...tickets.keys(), ...changes],
    takeOf: (engine) => {
      const ids = [...(byEngine.get(engine) ?? [])];
      ids.forEach(leave);
      byEngine.delete(engine);
      return ids;
    },
  };
}
