import {
  firstInLine,
  goesOn,
  slotsFor,
  withTaken,
  type Claimant,
  type SlotUse,
  type Supply,
} from '../../decide/compete/fair-share.js';
import { partyOf, type Party } from '../../reading/entries.js';
import type { TaskSlots } from '../../decide/intent.js';
import { defaultPriority } from '../../model/job.js';
import { createSlotQueues, type SlotFacts } from './slot-queues.js';

/** Jobs that wait for something of this process or of the others, not for a time. */
export type WaitQueue = {
  /**
   * Waits for a slot here; `rank` engines come before this one for its step. With `tasks` one of them
   * must be one that may run once more.
   */
  readonly forSlot: (job: ForSlot, rank: number, tasks?: readonly TaskSlots[]) => void;
  /** Waits for a change elsewhere: a definition, a pause, a plugin on another engine. */
  readonly forChange: (id: string) => void;
  /** Has attempts that run on these engines, whatever else it waits for. */
  readonly watch: (id: string, engines: readonly string[]) => void;
  readonly leave: (id: string) => void;
  /** All that wait for anything, or are in call. */
  readonly present: ReadonlySet<string>;
  /** Calls the job that gets the next free slot; it is in call until it leaves or waits again. */
  readonly nextForSlot: (facts: SlotFacts) => string | undefined;
  /** The call of a job is over, whatever came of it. */
  readonly answered: (id: string) => void;
  /** The jobs that wait for a slot, by id. */
  readonly tickets: ReadonlyMap<string, Claimant>;
  /** The jobs that are in call: each is about to take a slot. */
  readonly called: ReadonlyMap<string, Claimant>;
  /** How many of the free slots this job may claim; the others are for jobs that go before it. */
  readonly slotsFor: (job: ForSlot, supply: Supply, facts: SlotFacts) => number;
  /** All that wait for a change or a slot. */
  readonly waiting: () => readonly string[];
  /** The jobs whose attempts that engine had. */
  readonly takeOf: (engine: string) => readonly string[];
};

/** A job that could take a slot. `begun`: some step of it did. */
export type InLine = { readonly id: string; readonly priority: number; readonly begun: boolean };

/** A job that could take a slot, and who would use it. */
export type ForSlot = InLine & Party;

/** The place of a job document of any form. */
export function inLineOf(job: Place): ForSlot {
  const { _id: id, priority, steps } = job;
  return {
    id,
    ...partyOf(job),
    priority: typeof priority === 'number' ? priority : defaultPriority,
    begun: Array.isArray(steps) && steps.length > 0,
  };
}

type Place = {
  readonly _id: string;
  readonly owner?: unknown;
  readonly parent?: unknown;
  readonly priority?: unknown;
  readonly steps?: unknown;
};

/** What has begun is older than what has not, at the same priority. */
export const byRight = (a: InLine, b: InLine): number =>
  a.priority - b.priority || Number(b.begun) - Number(a.begun);

/** Number of later jobs and slots that go before a job for which another engine is first. */
const otherEngineFirst = 1_000;

/** @param count gives the next number of the engine's count, of waiting jobs and of slots taken */
export function createWaitQueue(count = createCount()): WaitQueue {
  const tickets = new Map<string, Claimant>();
  const lines = linesOf(tickets);
  const changes = new Set<string>();
  /** A job keeps its place when it was called and got no slot after all. */
  const numbers = new Map<string, number>();
  const called = new Map<string, Claimant>();
  const present = new Set<string>();
  const watched = createWatchedEngines(present);

  const leave = (id: string): void => {
    present.delete(id);
    numbers.delete(id);
    called.delete(id);
    tickets.delete(id);
    changes.delete(id);
    watched.leave(id);
  };
  return {
    ...{ leave, present, tickets, called, watch: watched.watch },
    forSlot: (job, rank, tasks = []) => {
      const { id } = job;
      const number = numbers.get(id) ?? count();
      leave(id);
      present.add(id);
      numbers.set(id, number);
      const ticket = { ...job, since: number + rank * otherEngineFirst };
      tickets.set(id, ticket);
      for (const task of tasks.length === 0 ? [undefined] : tasks) lines.add(ticket, task);
    },
    forChange: (id) => {
      leave(id);
      present.add(id);
      changes.add(id);
    },
    // The number stays: only leave() gives the place up.
    nextForSlot: (facts) => {
      const use = withTaken(facts.use(), [...called.values()]);
      const next = firstInLine(lines.firsts(1, { ...facts, use: () => use }), use);
      if (next === undefined) return undefined;
      tickets.delete(next.id);
      called.set(next.id, next);
      return next.id;
    },
    answered: (id) => void called.delete(id),
    slotsFor: (job, { free, wanted }, facts) => {
      if (free <= 0) return 0;
      // A slot is kept for each job that was called, so that no call is in vain.
      const least = called.has(job.id) && free >= called.size ? 1 : 0;
      const isEnoughForAll = tickets.size + called.size + wanted <= free;
      if (wanted <= least || isEnoughForAll) return wanted;
      const use = facts.use();
      const { since } = called.get(job.id) ?? tickets.get(job.id) ?? unplaced(job, use);
      // One more: the job itself may be among them.
      const firsts = (most: number) => lines.firsts(most + 1, { ...facts, use: () => use });
      const rivals = (most: number) => [...called.values(), ...firsts(most)].filter(isOther(job));
      return Math.max(shareOf({ ...job, since }, rivals, use, { free, wanted }), least);
    },
    waiting: () => [...tickets.keys(), ...changes],
    takeOf: (engine) => watched.takeOf(engine).map((id) => (leave(id), id)),
  };
}

const isOther =
  ({ id }: { readonly id: string }) =>
  (one: { readonly id: string }): boolean =>
    one.id !== id;

/** @param rivals the other jobs that may be the first so many to get a slot */
function shareOf(
  job: Claimant,
  rivals: (most: number) => readonly Claimant[],
  use: SlotUse,
  supply: Supply,
): number {
  if (supply.wanted === 1) {
    // Who is the first of all gets the next slot: nobody else needs to be looked at.
    if (firstInLine([job, ...rivals(1)], use) === job) return 1;
    // A job that has not begun loses nothing by its place in line: it is called when its turn comes.
    if (!job.begun) return 0;
  }
  return slotsFor(job, rivals(supply.free), use, supply);
}

/** The lines for slots; those that have a ticket wait in them. */
function linesOf(tickets: ReadonlyMap<string, Claimant>) {
  const waits = (ticket: Claimant): boolean => tickets.get(ticket.id) === ticket;
  return createSlotQueues(waits, () => tickets.size);
}

/** The jobs that have attempts on other engines; each is `present` in the queue. */
function createWatchedEngines(present: Set<string>) {
  const enginesOf = new Map<string, readonly string[]>();
  const byEngine = new Map<string, Set<string>>();
  return {
    watch: (id: string, engines: readonly string[]): void => {
      if (engines.length === 0) return;
      present.add(id);
      enginesOf.set(id, engines);
      for (const engine of engines) {
        const ids = byEngine.get(engine) ?? new Set<string>();
        byEngine.set(engine, ids.add(id));
      }
    },
    leave: (id: string): void => {
      for (const engine of enginesOf.get(id) ?? []) byEngine.get(engine)?.delete(id);
      enginesOf.delete(id);
    },
    takeOf: (engine: string): readonly string[] => {
      const ids = [...(byEngine.get(engine) ?? [])];
      byEngine.delete(engine);
      return ids;
    },
  };
}

/** A job without a place has just come, or goes on from its last step. */
function unplaced(job: ForSlot, use: SlotUse): Pick<Claimant, 'since'> {
  return { since: goesOn(job, use) ? -Infinity : Infinity };
}

/** Counts from 1. */
export function createCount(): () => number {
  let last = 0;
  return () => (last += 1);
}
