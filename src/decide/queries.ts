import { eventId } from '../model/event.js';
import type { Strategy } from '../model/concurrency.js';
import type { UniqueRule } from '../model/unique.js';
import type { CancelRequest } from './schedules/slot-job.js';
import { keyOf, type Task } from '../model/task.js';
import type { TemplateContext } from './world.js';

/**
 * A lock that a job wants, as a document of the store. `key` is the target, the pattern, or the flow as `<flow>::<owner>`.
 */
export type LockRequest = {
  readonly kind: 'target' | 'pattern' | 'permit' | 'unique';
  readonly id: string;
  readonly key: string;
  /** Of a permit: the step whose attempt wants it, the value of the key of its limit, and how many there are. */
  readonly step?: string;
  readonly value?: string;
  readonly most?: number;
  /** The job has the permit for an attempt that has ended in what was decided. */
  readonly isOver?: true;
  /** `database`: it counts for the jobs of all owners. */
  readonly scope?: 'owner' | 'database';
  /** The id under which earlier versions stored the lock: nobody may have that either. */
  readonly formerId?: string;
  /** Of `unique`: which other jobs count. */
  readonly unique?: UniqueRule;
};

/** A permit that is wanted: the limit `key` has `most` of them. */
export type PermitWant = {
  readonly key: string;
  readonly most: number;
  readonly strategy: Strategy;
  /** The value of the key of the limit, as JSON. */
  readonly value?: string;
};

/** The permits that a job, or an attempt of a step, wants: it gets all of them or none. */
export type PermitRequest = {
  readonly id: string;
  readonly wants: readonly PermitWant[];
  /** Path of the step. */
  readonly step?: string;
  /** Ids of permits of attempts that have ended in what was decided, though maybe not in the database yet. */
  readonly over?: readonly string[];
};

/** The holder of a permit that is asked to cancel for a job that comes later. */
export type Displacement = {
  readonly lock: string;
  readonly nonce: string;
  /** For whom: written into the lock. */
  readonly wantedBy: string;
  readonly request: CancelRequest;
};

/** A grant of a rate limit that an attempt wants: `limit` of them begin in every window of `perMs`. */
export type RateRequest = {
  /** Id of the document that holds the grants. */
  readonly id: string;
  /** The attempt, or the job, that begins: whoever asks for it, it is the same grant. */
  readonly for: string;
  /** The path of its step: it begins when it has all that this asks for. */
  readonly attempt: string;
  readonly limit: number;
  readonly perMs: number;
  /** What is limited, in words. */
  readonly of: string;
  /** Whose rate it is: a queue's is nobody's. */
  readonly owner?: string;
  /** The value of its key, as `storedKey` makes it. */
  readonly value?: string;
};

/** A JSONata expression to evaluate before the decision can be made; `id` is the key of its answer. */
export type Question = {
  readonly id: string;
  readonly expression: string;
  readonly context: TemplateContext;
};

/** What must be known first. The caller finds it out, changes nothing, and decides again. */
export type Query = {
  readonly kind: 'look_up';
  readonly flows: readonly NameAndOwner[];
  readonly tasks: readonly NameAndOwner[];
  readonly children: readonly string[];
  readonly roots: readonly string[];
  readonly subjects: readonly string[];
  readonly events: readonly EventName[];
  /** Ids of results that are kept. */
  readonly cached: readonly string[];
  /** Targets to compare with the patterns of other jobs. */
  readonly targets: readonly string[];
  readonly questions: readonly Question[];
  /** Names of attachments of the job that hold results. */
  readonly attachments: readonly string[];
};

/** What the job must have first. The caller takes it where that is possible, and decides again. */
export type Acquire = {
  readonly kind: 'acquire';
  readonly locks: readonly LockRequest[];
  readonly permits: readonly PermitRequest[];
  readonly displaces: readonly Displacement[];
  readonly rates: readonly RateRequest[];
  /** Only engines that can run this task, from this queue, need what is taken. */
  readonly forTask?: { readonly task: Task; readonly queue: string };
};

/** An event by its type and key. */
export type EventName = { readonly type: string; readonly key: string };
export type NameAndOwner = { readonly name: string; readonly owner: string };

/** A query; what is left out is not asked for. */
export const lookUp = (wanted: Partial<Omit<Query, 'kind'>>): Query => ({
  kind: 'look_up',
  flows: [],
  tasks: [],
  children: [],
  roots: [],
  subjects: [],
  events: [],
  cached: [],
  targets: [],
  questions: [],
  attachments: [],
  ...wanted,
});

/** Locks, permits and grants to take. */
export const acquire = (wanted: Partial<Omit<Acquire, 'kind'>>): Acquire => ({
  kind: 'acquire',
  locks: [],
  permits: [],
  displaces: [],
  rates: [],
  ...wanted,
});

/** Brings several wishes for permits and grants together in one. */
export function mergeAcquires(all: readonly Acquire[]): Acquire {
  return all.reduce((one, other) => ({
    ...one,
    permits: [...one.permits, ...other.permits],
    displaces: [...one.displaces, ...other.displaces],
    rates: [...one.rates, ...other.rates],
  }));
}

/**
 * Brings several queries together in one. Every kind must be listed here: the result type does not
 * let one be forgotten.
 */
export function mergeQueries(queries: readonly Query[]): Query {
  return {
    kind: 'look_up',
    flows: queries.flatMap(({ flows }) => flows),
    tasks: queries.flatMap(({ tasks }) => tasks),
    children: queries.flatMap(({ children }) => children),
    roots: queries.flatMap(({ roots }) => roots),
    subjects: queries.flatMap(({ subjects }) => subjects),
    events: queries.flatMap(({ events }) => events),
    cached: queries.flatMap(({ cached }) => cached),
    targets: queries.flatMap(({ targets }) => targets),
    questions: queries.flatMap(({ questions }) => questions),
    attachments: queries.flatMap(({ attachments }) => attachments),
  };
}

/**
 * The keys of all that an intent asks for or takes, each `<kind> <key>`. It is known once the caller has
 * answered: a decision that asks only for what is known learns nothing and never comes to an end.
 */
export function keysOfWanted(wanted: Query | Acquire): readonly string[] {
  return Object.entries(wanted.kind === 'acquire' ? keysTaken(wanted) : keysAsked(wanted)).flatMap(
    ([kind, of]) => of.map((key) => `${kind} ${key}`),
  );
}

/** Every kind must be listed here. */
type Keys<Wanted> = Readonly<Record<Exclude<keyof Wanted, 'kind'>, readonly string[]>>;

function keysAsked(query: Query): Keys<Query> {
  return {
    flows: query.flows.map(({ name, owner }) => keyOf(name, owner)),
    tasks: query.tasks.map(({ name, owner }) => keyOf(name, owner)),
    children: query.children,
    roots: query.roots,
    subjects: query.subjects,
    events: query.events.map(eventId),
    cached: query.cached,
    targets: query.targets,
    questions: query.questions.map(({ id }) => id),
    attachments: query.attachments,
  };
}

function keysTaken(wanted: Acquire): Keys<Omit<Acquire, 'forTask'>> {
  const { locks, permits, displaces, rates } = wanted;
  return {
    locks: locks.map(({ id }) => id),
    permits: permits.map(({ id }) => id),
    displaces: displaces.map(({ nonce }) => nonce),
    rates: rates.map(rateKeyOf),
  };
}

/** The key under which a grant is known: one document may hold several for the same job. */
export function rateKeyOf({ id, for: whose }: Pick<RateRequest, 'id' | 'for'>): string {
  return `${id} ${whose}`;
}
