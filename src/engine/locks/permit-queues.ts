import { createLru } from '../../memo.js';
import { limitsOfFlow, keyedLimit } from '../../decide/compete/limits.js';
import { inTurns } from '../../decide/compete/turns.js';
import type { Wait } from '../../decide/intent.js';
import type { PermitWant } from '../../decide/queries.js';
import type { Flow } from '../../model/flow.js';
import { asVersion } from '../../model/flow-versions.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { isFinalState } from '../../model/job.js';
import { defaultOwner } from '../../model/task.js';
import { lockIdOf } from '../../lock-id.js';
import type { Library } from '../loop/library.js';
import { byRight, inLineOf, type InLine } from '../waiting/wait-queue.js';

/**
 * The jobs that need a permit of a limit, in the order in which they get one: lower priority first, then
 * what has begun, then the order in which this engine first saw them. With `round_robin` each key has its
 * turn, and this is the order within a key.
 *
 * A job is in its line from the moment the engine looks at it, or learns the key of the limit, so the order
 * does not depend on which job the engine happens to decide first, nor on which engine goes first for
 * a job.
 */
export type PermitQueues = {
  /** The engine looks at a job: while it needs a permit it takes its place, or keeps the one it has. */
  readonly look: (job: StoredDocument) => void;
  /** The job asks for a permit, or would if another engine did not go first. */
  readonly place: (
    want: PermitWant,
    job: InLine,
    stand: 'passing' | 'looked_at' | 'yields',
  ) => void;
  /**
   * The job waits: for permits, or it may get one but another engine goes first, or it waits for a slot
   * here.
   */
  readonly wait: (job: InLine, wait: Omit<Wait, 'kind' | 'because'>) => void;
  /** The engine has looked at the job: unless it waits or yields it is in no line any longer. */
  readonly looked: (id: string) => void;
  /** The job has ended or is gone. */
  readonly leave: (id: string) => void;
  /** The jobs that get a permit before this one. */
  readonly before: (line: string, id: string) => readonly string[];
  /** This engine knows that the job came before the other one. */
  readonly isEarlier: (id: string, other: string) => boolean;
  /** Others go first, although a permit is free. */
  readonly heldBack: (line: string, id: string) => void;
  /** The values of the keys that have permits now, one for each, and since when each of them. */
  readonly saw: (line: string, holders: readonly Holding[]) => void;
  /** A permit may be free: has the jobs of the line looked at until one finds none. */
  readonly call: (line: string) => Promise<void>;
  /** The same for all lines; of many, for the next ones. */
  readonly callAll: () => Promise<void>;
  /** The places of all jobs that needed a permit lately; empty: no job is in a line. */
  readonly places: { readonly size: number };
  /** Number of jobs that wait for a permit, or for their turn to ask for one. */
  readonly waiting: () => number;
  /** The definitions that have limits. */
  readonly limiting: ReadonlySet<string>;
};

/** A permit that is held: the value of its key, and since when (epoch ms). */
export type Holding = { readonly value: string; readonly at: number };

/** `passing`: only until the look is over, in which a step asks for a permit or the job needs none any more. */
type Stand = 'passing' | 'looked_at' | 'waits' | 'yields';
type Ticket = InLine & {
  readonly line: string;
  readonly number: number;
  /** The value of the key, where the keys of a line take turns. */
  readonly value: string | undefined;
  stand: Stand;
  /** A permit was free when it asked last. */
  isHeldBack: boolean;
};

/** Maximum number of remembered places of jobs that are in no line. */
const remembered = 20_000;
/** So many lines are called at the same time. */
const mostCalled = 200;

/** @param recall has a job looked at again; resolves when that is done */
export function createPermitQueues(
  recall: (id: string) => Promise<void>,
  library: Pick<Library, 'flow' | 'limiting'>,
): PermitQueues {
  /** Lines in which a job was held back by one before it. */
  const heldBack = new Set<string>();
  const places = createPlaces((line) => {
    // Jobs held back by the one that has left may go now.
    if (heldBack.has(line)) void call(line);
  });
  const call = createCalls(places, recall, heldBack);
  let called = 0;
  return {
    look: (job) => {
      places.review(job._id);
      for (const want of wantsOf(job, library)) places.place(want, inLineOf(job), 'looked_at');
    },
    place: (want, job, stand) => places.place(want, job, stand),
    wait: (job, wait) => {
      for (const want of wait.places ?? []) places.place(want, job, 'yields');
      for (const line of wait.lines ?? []) places.place(line, job, 'waits');
      if (wait.lines !== undefined) return;
      const isLater = wait.for === 'engine' && wait.until !== undefined;
      for (const ticket of places.of(job.id)) {
        // While it waits for a slot it has only the places that it needed a moment ago.
        const yields = isLater || (wait.for === 'slot' && ticket.stand === 'looked_at');
        if (yields) ticket.stand = 'yields';
      }
    },
    looked: (id) => {
      for (const { stand, line } of places.of(id)) {
        if (stand === 'looked_at' || stand === 'passing') places.remove(line, id);
      }
    },
    leave: places.leave,
    before: (line, id) => {
      const all = places.inOrder(line);
      const own = all.findIndex((one) => one.id === id);
      const before = own === -1 ? all : all.slice(0, own);
      if (before.length > 0) heldBack.add(line);
      return before.map((one) => one.id);
    },
    heldBack: (line, id) => {
      const ticket = places.ticket(line, id);
      if (ticket !== undefined) ticket.isHeldBack = true;
    },
    isEarlier: places.isEarlier,
    saw: places.saw,
    call,
    callAll: async () => {
      const lines = places.lines();
      const from = lines.length > mostCalled ? (called += mostCalled) % lines.length : 0;
      const next = [...lines.slice(from), ...lines.slice(0, from)].slice(0, mostCalled);
      await Promise.all(next.map(call));
    },
    places: places.numbers,
    waiting: places.waiting,
    limiting: library.limiting,
  };
}

/** Calls the jobs of a line, one after the other, until one finds that all permits are taken. */
function createCalls(
  places: Places,
  recall: (id: string) => Promise<void>,
  heldBack: Set<string>,
): (line: string) => Promise<void> {
  /** Lines that are being called; true: to be called once more. */
  const calling = new Map<string, boolean>();
  const callOnce = async (line: string): Promise<void> => {
    heldBack.delete(line);
    const called = new Set<string>();
    for (let next = places.next(line, called); next; next = places.next(line, called)) {
      called.add(next.id);
      await recall(next.id);
      const ticket = places.ticket(line, next.id);
      if (ticket?.stand === 'waits' && !ticket.isHeldBack) return;
    }
  };
  return async (line: string): Promise<void> => {
    if (calling.has(line)) return void calling.set(line, true);
    do {
      calling.set(line, false);
      await callOnce(line);
    } while (calling.get(line) === true);
    calling.delete(line);
  };
}

type Places = ReturnType<typeof createPlaces>;
type Place = Pick<PermitWant, 'key'> & Partial<PermitWant>;

/** The places of the jobs in the lines of limits. `onLeft`: a job has left that line. */
function createPlaces(onLeft: (line: string) => void) {
  const lines = new Map<string, Map<string, Ticket>>();
  const linesOf = new Map<string, Set<string>>();
  /** A job that stops waiting for a while (it is paused, say) keeps its place. */
  const numbers = createLru<number>(remembered);
  const turns = createTurns();
  let last = 0;
  const numberOf = (id: string): number => {
    const number = numbers.get(id) ?? (last += 1);
    numbers.set(id, number);
    return number;
  };
  const ticket = (line: string, id: string): Ticket | undefined => lines.get(line)?.get(id);
  const of = (id: string): readonly Ticket[] =>
    [...(linesOf.get(id) ?? [])].flatMap((line) => ticket(line, id) ?? []);
  const remove = (line: string, id: string): void => {
    const tickets = lines.get(line);
    if (tickets?.delete(id) !== true) return;
    if (tickets.size === 0) lines.delete(line);
    const others = linesOf.get(id);
    others?.delete(line);
    if (others?.size === 0) linesOf.delete(id);
    onLeft(line);
  };
  const inOrder = (line: string): readonly Ticket[] => {
    const all = [...(lines.get(line)?.values() ?? [])].sort(
      (a, b) => byRight(a, b) || a.number - b.number,
    );
    return all.some(({ value }) => value !== undefined) ? inTurns(all, turns.of(line)) : all;
  };
  return {
    ...{ of, ticket, remove, inOrder },
    numbers: numbers as { readonly size: number },
    saw: turns.saw,
    isEarlier: (id: string, other: string): boolean =>
      (numbers.get(id) ?? Infinity) < (numbers.get(other) ?? 0),
    lines: (): readonly string[] => [...lines.keys()],
    waiting: () => linesOf.size,
    /** What is confirmed no more when the job was looked at is left. */
    review: (id: string): void => {
      for (const one of of(id)) one.stand = 'passing';
    },
    place: ({ key: line, strategy, value }: Place, job: InLine, stand: Stand): void => {
      const known = ticket(line, job.id);
      const own = strategy === 'round_robin' ? value : known?.value;
      const number = known?.number ?? numberOf(job.id);
      const isHeldBack = stand === 'waits' && known?.isHeldBack === true;
      const next = { ...job, line, number, value: own, stand, isHeldBack };
      lines.set(line, (lines.get(line) ?? new Map<string, Ticket>()).set(job.id, next));
      linesOf.set(job.id, (linesOf.get(job.id) ?? new Set<string>()).add(line));
    },
    leave: (id: string): void => {
      numbers.delete(id);
      for (const { line } of of(id)) remove(line, id);
    },
    /** The first of a line that waits, but for those that were called. */
    next: (line: string, called: ReadonlySet<string>): Ticket | undefined =>
      inOrder(line).find(({ id, stand }) => stand === 'waits' && !called.has(id)),
  };
}

/** What was seen of the permits whose keys take turns, by line. */
function createTurns() {
  const seen = createLru<{ holders: readonly string[]; served: Map<string, number> }>(1_000);
  return {
    of: (line: string) => seen.get(line) ?? { holders: [], served: new Map<string, number>() },
    saw: (line: string, holders: readonly Holding[]): void => {
      const { served } = seen.get(line) ?? { served: new Map<string, number>() };
      for (const { value, at } of holders) {
        served.set(value, Math.max(at, served.get(value) ?? -Infinity));
      }
      // Of more keys the one that was served first is forgotten: it comes first all the same.
      if (served.size > remembered) served.delete(String(served.keys().next().value));
      seen.set(line, { holders: holders.map(({ value }) => value), served });
    },
  };
}

/**
 * The permits that a job document of any form needs before it begins, as far as its keys need no
 * evaluation. A new job counts by its flow as it is stored now, one that has begun by its own copy
 * of it.
 */
function wantsOf(job: StoredDocument, library: Pick<Library, 'flow'>): readonly PermitWant[] {
  const { state, slice, locked } = job;
  const flow = state === undefined ? flowOfNew(job, library) : job['flow_definition'];
  if (!isObject(flow) || slice !== undefined || isFinalState(state)) return [];
  if (flow['max_running'] === undefined && flow['concurrency'] === undefined) return [];
  // A mistake in the copy of a flow is told when the job is read.
  const { concurrency } = flow as { readonly concurrency?: unknown };
  if (concurrency !== undefined && ![concurrency].flat().every(isObject)) return [];
  const held = state !== undefined && isObject(locked) ? locked : {};
  return limitsOfFlow(flow as unknown as Flow)
    .filter(({ at, key }) => {
      const hasOne = at === 'max_running' ? held['permit'] : held['permits'];
      return hasOne === undefined && key === undefined;
    })
    .map((limit) => keyedLimit(limit, null, lockIdOf));
}

function flowOfNew(
  { flow, owner = defaultOwner, tasks, flow_version: version }: StoredDocument,
  library: Pick<Library, 'flow'>,
): Flow | undefined {
  if (typeof flow !== 'string' || typeof owner !== 'string' || tasks !== undefined)
    return undefined;
  const found = library.flow(flow, owner, { version: asVersion(version) });
  return found.kind === 'found' ? found.value : undefined;
}
