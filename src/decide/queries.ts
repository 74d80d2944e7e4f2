import { eventId } from '../model/event.js';
import { keyOf } from '../model/task.js';
import type { LookUp } from './intent.js';

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
