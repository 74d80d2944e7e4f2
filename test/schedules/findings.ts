import type { EffectAnswer } from '../../src/replicas/resolve/protocol.js';
import type { LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import type { Answer, Blockers, Child, LockAnswer, Root, World } from '../../src/decide/world.js';
import type { Acquire, Query } from '../../src/decide/queries.js';
import { isMadeBy } from '../../src/reading/parent.js';
import { isFinal, isFinalState, type Job } from '../../src/model/job.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { Locks } from './locks.js';
import type { Wish } from './process.js';

/** What was found out for one decision. */
export type Findings = {
  readonly children: Map<string, Child>;
  readonly roots: Map<string, Root>;
  readonly answers: Map<string, Answer>;
  readonly taken: Map<string, LockAnswer>;
  readonly blockers: Map<string, Blockers>;
};

/** The items over which maps go, whatever expression asks for them. */
export const items = [1, 2, 3, 4] as const;

export function emptyFindings(): Findings {
  return {
    ...{ children: new Map(), roots: new Map(), answers: new Map() },
    ...{ taken: new Map(), blockers: new Map() },
  };
}

export function withFindings(world: World, found: Findings): World {
  const { children, roots, answers, taken, blockers } = found;
  return {
    ...world,
    answers,
    child: (id) => children.get(id) ?? { kind: 'unknown' },
    root: (id) => roots.get(id) ?? 'unknown',
    lock: (id) => taken.get(id) ?? { kind: 'unknown' },
    blockers: (target) => blockers.get(target) ?? { kind: 'unknown' },
  };
}

/** Finds out what `src/engine/loop/decision.ts` finds out, with ordinary reads; throws at other questions. */
export function* lookUps(
  asked: Query,
  job: Job,
  found: Findings,
  locks: Locks,
): Generator<Wish, void, EffectAnswer> {
  const { children, roots, questions, flows, tasks, attachments } = asked;
  if ([flows, tasks, attachments].some((list) => list.length > 0)) {
    throw new Error(`Nobody can answer ${JSON.stringify({ flows, tasks, attachments })}.`);
  }
  for (const id of children) found.children.set(id, childOf(yield* get(id), job));
  for (const id of roots) {
    const doc = yield* get(id);
    const isOver = doc?.['continued_to'] === undefined && isFinalState(doc?.['state']);
    found.roots.set(id, isOver ? 'final' : 'live');
  }
  for (const target of asked.targets) {
    found.blockers.set(target, yield* locks.blockers(target, job));
  }
  for (const { id } of questions) found.answers.set(id, { ok: true, value: items });
}

/** Takes what `src/engine/loop/decision.ts` takes; throws at permits. */
export function* acquire(
  { locks: wishes, permits }: Acquire,
  job: Job,
  found: Findings,
  locks: Locks,
): Generator<Wish, void, EffectAnswer> {
  if (permits.length > 0) throw new Error(`Nobody can give ${JSON.stringify({ permits })}.`);
  for (const wish of wishes) found.taken.set(wish.id, yield* locks.take(wish, job));
}

function* get(id: string): Generator<Wish, LeafRevision | undefined, EffectAnswer> {
  const leaves = (yield { kind: 'get', id }) as readonly LeafRevision[];
  return leaves[0];
}

function childOf(doc: LeafRevision | undefined, job: Job): Child {
  if (doc === undefined) return { kind: 'absent' };
  if (!isMadeBy(doc, job)) return { kind: 'foreign' };
  if (!isFinalState(doc['state'])) return { kind: 'live' };
  const parsed = parseDocument(doc);
  const isEnded = parsed.kind === 'job' && parsed.ok && isFinal(parsed.value);
  return isEnded ? { kind: 'final', job: parsed.value } : { kind: 'live' };
}
