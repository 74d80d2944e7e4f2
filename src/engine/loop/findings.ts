import type {
  Announced,
  Answer,
  Blockers,
  CachedFound,
  Child,
  Found,
  LockAnswer,
  PermitAnswer,
  RateAnswer,
  Root,
  SubjectFound,
  World,
} from '../../decide/world.js';
import { rateKeyOf } from '../../decide/queries.js';
import { eventId } from '../../model/event.js';
import type { Flow } from '../../model/flow.js';
import type { VersionAsk } from '../../model/flow-versions.js';
import { keyOf, type Task } from '../../model/task.js';
import type { Library } from './library.js';

/** What was found out for a decision; the rest of the world is what the engine is at that moment. */
export type FoundOut = Pick<
  World,
  | 'answers'
  | 'blockers'
  | 'cached'
  | 'child'
  | 'contents'
  | 'event'
  | 'flow'
  | 'lock'
  | 'permit'
  | 'displaced'
  | 'rate'
  | 'root'
  | 'subject'
  | 'task'
>;

/** What was found out and taken for one decision, by id. */
export type Findings = ReturnType<typeof emptyFindings>;

/** Nothing found out yet, to be filled. */
export function emptyFindings() {
  return {
    answers: new Map<string, Answer>(),
    flows: new Map<string, (ask?: VersionAsk) => Found<Flow>>(),
    tasks: new Map<string, Found<Task>>(),
    contents: new Map<string, unknown>(),
    children: new Map<string, Child>(),
    roots: new Map<string, Root>(),
    subjects: new Map<string, SubjectFound>(),
    events: new Map<string, Announced>(),
    cached: new Map<string, CachedFound>(),
    taken: new Map<string, LockAnswer>(),
    permits: new Map<string, PermitAnswer>(),
    displaced: new Set<string>(),
    grants: new Map<string, RateAnswer>(),
    blockers: new Map<string, Blockers>(),
  };
}

/** Never written to: most decisions ask for nothing. */
export const noFindings = emptyFindings();

/** What was found out, as the rules read it. */
export function worldOf(found: Findings, library: Library): FoundOut {
  const { answers, contents, children, roots, subjects, events, cached } = found;
  const { taken, permits, grants, displaced, blockers } = found;
  return {
    answers,
    contents,
    ...(found === noFindings
      ? { flow: library.flow, task: library.task }
      : definitionsOf(found, library)),
    child: (id) => children.get(id) ?? { kind: 'unknown' },
    root: (id) => roots.get(id) ?? 'unknown',
    subject: (id) => subjects.get(id) ?? { kind: 'unknown' },
    event: (type, key) => events.get(eventId({ type, key })) ?? { kind: 'unknown' },
    cached: (id) => cached.get(id) ?? { kind: 'unknown' },
    lock: (id) => taken.get(id) ?? { kind: 'unknown' },
    permit: (id) => permits.get(id) ?? { kind: 'unknown' },
    displaced,
    rate: (request) => grants.get(rateKeyOf(request)) ?? { kind: 'unknown' },
    blockers: (target) => blockers.get(target) ?? { kind: 'unknown' },
  };
}

/** The definitions that were found for the decision, and those at hand. */
function definitionsOf({ flows, tasks }: Findings, library: Library): Pick<World, 'flow' | 'task'> {
  return {
    flow: (name, owner, ask) =>
      flows.get(keyOf(name, owner))?.(ask) ?? library.flow(name, owner, ask),
    task: (name, owner) => tasks.get(keyOf(name, owner)) ?? library.task(name, owner),
  };
}
