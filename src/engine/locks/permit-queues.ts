import { LRUCache } from 'lru-cache';
import type { Flow } from '../../model/flow.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { isFinalState } from '../../model/job.js';
import { defaultOwner, keyOf } from '../../model/task.js';
import type { Library } from '../loop/library.js';
import { byRight, inLineOf, type InLine } from '../waiting/wait-queue.js';

/**
 * The jobs that need a permit of their flow, in the order in which they get one: lower priority first,
 * then what has begun, then the order in which this engine first saw them.
 *
 * A job is in its line from the moment the engine looks at it, so the order does not depend on which
 * job the engine happens to decide first, nor on which engine goes first for a job.
 */
export type PermitQueues = {
  /** The engine looks at a job: while it needs a permit it takes its place, or keeps the one it has. */
  readonly look: (job: StoredDocument) => void;
  /** The job waits for a permit. */
  readonly wait: (flow: string, job: InLine) => void;
  /** The job may get a permit, but another engine goes first, or it waits for a slot here. */
  readonly yield: (id: string) => void;
  /** The engine has looked at the job: unless it waits or yields it is in the line no longer. */
  readonly looked: (id: string) => void;
  /** The job has ended or is gone. */
  readonly leave: (id: string) => void;
  /** The jobs that get a permit before this one. */
  readonly before: (flow: string, id: string) => readonly string[];
  /** A permit may be free: has the jobs of the line looked at until one finds none. */
  readonly call: (flow: string) => Promise<void>;
  /** The same for all lines. */
  readonly callAll: () => Promise<void>;
  /** The places of all jobs that needed a permit lately; empty: no job is in a line. */
  readonly places: { readonly size: number };
  /** The flows of which new jobs need a permit. */
  readonly limiting: ReadonlySet<string>;
};

type Stand = 'looked_at' | 'waits' | 'yields';
type Ticket = InLine & { readonly flow: string; readonly number: number; stand: Stand };

/** Maximum number of remembered places of jobs that are in no line. */
const remembered = 20_000;

/** @param recall has a job looked at again; resolves when that is done */
export function createPermitQueues(
  recall: (id: string) => Promise<void>,
  library: Pick<Library, 'flow' | 'limiting'>,
): PermitQueues {
  /** Lines that are being called; true: to be called once more. */
  const calling = new Map<string, boolean>();
  /** Lines in which a job was held back by one before it. */
  const heldBack = new Set<string>();
  const places = createPlaces((flow) => {
    // Jobs held back by the one that has left may go now.
    if (heldBack.has(flow)) void call(flow);
  });
  const callOnce = async (flow: string): Promise<void> => {
    heldBack.delete(flow);
    const called = new Set<string>();
    for (let next = places.next(flow, called); next; next = places.next(flow, called)) {
      called.add(next.id);
      await recall(next.id);
      if (places.tickets.get(next.id)?.stand === 'waits') return;
    }
  };
  const call = async (flow: string): Promise<void> => {
    if (calling.has(flow)) return void calling.set(flow, true);
    do {
      calling.set(flow, false);
      await callOnce(flow);
    } while (calling.get(flow) === true);
    calling.delete(flow);
  };
  return {
    look: (job) => {
      const flow = permitFlowOf(job, library);
      if (flow !== undefined) places.place(flow, inLineOf(job), 'looked_at');
      else if (places.tickets.has(job._id)) places.remove(job._id);
    },
    wait: (flow, job) => places.place(flow, job, 'waits'),
    yield: (id) => {
      const ticket = places.tickets.get(id);
      if (ticket !== undefined) ticket.stand = 'yields';
    },
    looked: (id) => {
      if (places.tickets.get(id)?.stand === 'looked_at') places.remove(id);
    },
    leave: places.leave,
    before: (flow, id) => {
      const own = places.tickets.get(id);
      const before = places
        .in(flow)
        .filter((one) => one.id !== id && (own === undefined || inOrder(one, own) < 0));
      if (before.length > 0) heldBack.add(flow);
      return before.map((one) => one.id);
    },
    call,
    callAll: async () => void (await Promise.all(places.lines().map(call))),
    places: places.numbers,
    limiting: library.limiting,
  };
}

/** The places of the jobs in the lines of their flows. `onLeft`: a job has left that line. */
function createPlaces(onLeft: (flow: string) => void) {
  const lines = new Map<string, Map<string, Ticket>>();
  const tickets = new Map<string, Ticket>();
  /** A job that stops waiting for a while (it is paused, say) keeps its place. */
  const numbers = new LRUCache<string, number>({ max: remembered });
  let last = 0;
  const numberOf = (id: string): number => {
    const number = tickets.get(id)?.number ?? numbers.get(id) ?? (last += 1);
    numbers.set(id, number);
    return number;
  };
  const remove = (id: string): void => {
    const ticket = tickets.get(id);
    if (ticket === undefined) return;
    const { flow } = ticket;
    tickets.delete(id);
    const line = lines.get(flow);
    line?.delete(id);
    if (line?.size === 0) lines.delete(flow);
    onLeft(flow);
  };
  return {
    tickets: tickets as ReadonlyMap<string, Ticket>,
    numbers: numbers as { readonly size: number },
    remove,
    in: (flow: string): readonly Ticket[] => [...(lines.get(flow)?.values() ?? [])],
    lines: (): readonly string[] => [...lines.keys()],
    place: (flow: string, job: InLine, stand: Stand): void => {
      const known = tickets.get(job.id);
      if (known !== undefined && known.flow !== flow) remove(job.id);
      const ticket = { ...job, flow, number: numberOf(job.id), stand };
      tickets.set(job.id, ticket);
      lines.set(flow, (lines.get(flow) ?? new Map<string, Ticket>()).set(job.id, ticket));
    },
    leave: (id: string): void => {
      numbers.delete(id);
      remove(id);
    },
    /** The first of a line that waits, but for those that were called. */
    next: (flow: string, called: ReadonlySet<string>): Ticket | undefined => {
      let first: Ticket | undefined;
      for (const ticket of lines.get(flow)?.values() ?? []) {
        const isCallable = ticket.stand === 'waits' && !called.has(ticket.id);
        if (isCallable && (first === undefined || inOrder(ticket, first) < 0)) first = ticket;
      }
      return first;
    },
  };
}

function inOrder(a: Ticket, b: Ticket): number {
  return byRight(a, b) || a.number - b.number;
}

/**
 * The flow of which a job document of any form needs a permit before it begins, as `<flow>::<owner>`.
 * A new job counts by its flow as it is stored now, one that has begun by its own copy of it.
 */
function permitFlowOf(job: StoredDocument, library: Pick<Library, 'flow'>): string | undefined {
  const { state, slice, locked } = job;
  const flow = state === undefined ? flowOfNew(job, library) : job['flow_definition'];
  if (!isObject(flow) || flow['max_running'] === undefined) return undefined;
  const { name, owner } = flow;
  if (slice !== undefined || isFinalState(state) || typeof name !== 'string') return undefined;
  const hasOne = state !== undefined && isObject(locked) && locked['permit'] !== undefined;
  return hasOne ? undefined : keyOf(name, typeof owner === 'string' ? owner : undefined);
}

function flowOfNew(
  { flow, owner = defaultOwner, tasks }: StoredDocument,
  library: Pick<Library, 'flow'>,
): Flow | undefined {
  if (typeof flow !== 'string' || typeof owner !== 'string' || tasks !== undefined)
    return undefined;
  const found = library.flow(flow, owner);
  return found.kind === 'found' ? found.value : undefined;
}
