import { eventId } from '../model/event.js';
import { keyOf } from '../model/task.js';
import type { TemplateContext } from './world.js';

/**
 * A lock that a job wants, as a document of the store: asking for it takes it where that is possible.
 * `key` is the target, the pattern, or the flow as `<flow>::<owner>`.
 */
export type LockWish = {
  readonly kind: 'target' | 'pattern' | 'permit';
  readonly id: string;
  readonly key: string;
  /** `database`: it counts for the jobs of all owners. */
  readonly scope?: 'owner' | 'database';
  /** The id under which earlier versions stored the lock: nobody may have that either. */
  readonly formerId?: string;
};

/** A permit to run that a job wants: there are `most` of them for the flow `key` (`<flow>::<owner>`). */
export type PermitWish = { readonly key: string; readonly most: number };

/** A JSONata expression to evaluate before the decision can be made; `id` is the key of its answer. */
export type Question = {
  readonly id: string;
  readonly expression: string;
  readonly context: TemplateContext;
};

/** What must be known first. The caller finds it out and decides again. */
export type LookUp = {
  readonly kind: 'look_up';
  readonly flows: readonly NameAndOwner[];
  readonly tasks: readonly NameAndOwner[];
  readonly children: readonly string[];
  readonly roots: readonly string[];
  readonly subjects: readonly string[];
  readonly events: readonly EventName[];
  /** Locks to take: who asks for them is about to begin the job. */
  readonly locks: readonly LockWish[];
  /** Permits to take: the same holds for them. */
  readonly permits: readonly PermitWish[];
  /** Targets to compare with the patterns of other jobs. */
  readonly targets: readonly string[];
  readonly questions: readonly Question[];
  /** Names of attachments of the job that hold results. */
  readonly attachments: readonly string[];
};
/** An event by its type and key. */
export type EventName = { readonly type: string; readonly key: string };
export type NameAndOwner = { readonly name: string; readonly owner: string };

/** A query; what is left out is not asked for. */
export const lookUp = (wanted: Partial<Omit<LookUp, 'kind'>>): LookUp => ({
  kind: 'look_up',
  flows: [],
  tasks: [],
  children: [],
  roots: [],
  subjects: [],
  events: [],
  locks: [],
  permits: [],
  targets: [],
  questions: [],
  attachments: [],
  ...wanted,
});

/**
 * Brings several queries together in one. Every kind must be listed here: the result type does not
 * let one be forgotten.
 */
export function mergeQueries(queries: readonly LookUp[]): LookUp {
  return {
    kind: 'look_up',
    flows: queries.flatMap(({ flows }) => flows),
    tasks: queries.flatMap(({ tasks }) => tasks),
    children: queries.flatMap(({ children }) => children),
    roots: queries.flatMap(({ roots }) => roots),
    subjects: queries.flatMap(({ subjects }) => subjects),
    events: queries.flatMap(({ events }) => events),
    locks: queries.flatMap(({ locks }) => locks),
    permits: queries.flatMap(({ permits }) => permits),
    targets: queries.flatMap(({ targets }) => targets),
    questions: queries.flatMap(({ questions }) => questions),
    attachments: queries.flatMap(({ attachments }) => attachments),
  };
}

/**
 * The keys of all facts that a query asks for, each `<kind> <key>`. A fact is known once it was
 * answered: a decision that asks only for known facts learns nothing and never comes to an end.
 */
export function queryKeys(query: LookUp): readonly string[] {
  const keys: Readonly<Record<keyof Omit<LookUp, 'kind'>, readonly string[]>> = {
    flows: query.flows.map(({ name, owner }) => keyOf(name, owner)),
    tasks: query.tasks.map(({ name, owner }) => keyOf(name, owner)),
    children: query.children,
    roots: query.roots,
    subjects: query.subjects,
    events: query.events.map(eventId),
    locks: query.locks.map(({ id }) => id),
    permits: query.permits.map(({ key }) => key),
    targets: query.targets,
    questions: query.questions.map(({ id }) => id),
    attachments: query.attachments,
  };
  return Object.entries(keys).flatMap(([kind, of]) => of.map((key) => `${kind} ${key}`));
}
