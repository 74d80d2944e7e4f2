import { findChild } from '../engine/children/find-child.js';
import { rateKeyOf, type Acquire, type Query, type RateRequest } from '../decide/queries.js';
import type {
  Announced,
  Answer,
  CachedFound,
  Child,
  Found,
  PermitAnswer,
  RateAnswer,
  SubjectFound,
  World,
} from '../decide/world.js';
import { evaluate } from '../evaluate/expressions.js';
import { eventId } from '../model/event.js';
import type { Job } from '../model/job.js';
import { defaultOwner, keyOf, type Task } from '../model/task.js';
import { parseDocument, type Parsed } from '../reading/parse.js';
import { readEvents } from '../store/events.js';
import type { Store } from '../store/store.js';
import { roundTurn } from '../turns.js';
import { observe, type Observed } from './observer.js';
import { permitsTaken } from './permits.js';
import { grantOpen } from './rates.js';
import type { Seen } from './reason.js';

/** So many rounds of questions are answered; engines ask in fewer. */
const mostRounds = 10;

/**
 * Asks the rules of the engines about a job, and reads what they ask for before they decide: tasks,
 * child jobs, events, the subject of a notification, keys of limits, who has their permits, and what rate
 * limits let begin. Nothing is taken and nothing else is evaluated: where the rules ask for that, the observation ends. The event loop goes on between two decisions.
 */
export async function observeJob(
  store: Store,
  parsed: Parsed,
  seen: Seen,
  more: Partial<World> = {},
): Promise<Observed> {
  const found = {
    permits: new Map<string, PermitAnswer>(),
    grants: new Map<string, RateAnswer>(),
    fullRates: new Map<string, RateRequest>(),
    answers: new Map<string, Answer>(),
    tasks: new Map<string, Found<Task>>(),
    children: new Map<string, Child>(),
    events: new Map<string, Announced>(),
    cached: new Map<string, CachedFound>(),
    subjects: new Map<string, SubjectFound>(),
  };
  const facts: Partial<World> = {
    ...more,
    answers: found.answers,
    permit: (id) => found.permits.get(id) ?? { kind: 'unknown' },
    rate: (request) => found.grants.get(rateKeyOf(request)) ?? { kind: 'unknown' },
    task: (name, owner) => found.tasks.get(keyOf(name, owner)) ?? { kind: 'unknown' },
    child: (id) => found.children.get(id) ?? { kind: 'unknown' },
    event: (type, key) => found.events.get(eventId({ type, key })) ?? { kind: 'unknown' },
    cached: (id) => found.cached.get(id) ?? { kind: 'unknown' },
    subject: (id) => found.subjects.get(id) ?? { kind: 'unknown' },
    ...more,
  };
  for (let round = 0, known = -1; ; round += 1) {
    await roundTurn();
    const observed = observe(parsed, seen, facts);
    const query = observed.kind === 'decided' ? observed.decided : undefined;
    const count = Object.values(found).reduce((sum, { size }) => sum + size, 0);
    const isAnswered = count === known || round === mostRounds;
    if (observed.kind !== 'decided') return observed;
    const full = [...found.fullRates.values()];
    const result = full.length === 0 ? observed : { ...observed, fullRates: full };
    if (isAnswered) return result;
    known = count;
    if (query?.kind === 'look_up')
      await answer(store, query, { job: observed.job, now: seen.now }, found);
    else if (query?.kind === 'acquire')
      await lookAtLimits(store, query, { job: observed.job, now: seen.now }, found);
    else return result;
  }
}

type FoundFacts = {
  readonly tasks: Map<string, Found<Task>>;
  readonly children: Map<string, Child>;
  readonly events: Map<string, Announced>;
  readonly cached: Map<string, CachedFound>;
  readonly subjects: Map<string, SubjectFound>;
  readonly answers: Map<string, Answer>;
  readonly permits: Map<string, PermitAnswer>;
  readonly grants: Map<string, RateAnswer>;
  readonly fullRates: Map<string, RateRequest>;
};

/** Who has the permits that are wanted, where all are taken, and which grants of rate limits are free. */
async function lookAtLimits(
  store: Store,
  { permits, rates }: Acquire,
  { job, now }: { readonly job: Job; readonly now: number },
  found: FoundFacts,
): Promise<void> {
  for (const one of rates) {
    const grant = await grantOpen(store, one, now);
    found.grants.set(rateKeyOf(one), grant);
    if (grant.kind === 'full') found.fullRates.set(one.id, one);
  }
  for (const { id, wants, step } of permits) {
    const answer = await permitsTaken(store, { wants, step }, job);
    if (answer !== undefined) found.permits.set(id, answer);
  }
}

async function answer(
  store: Store,
  query: Query,
  { job, now }: { readonly job: Job; readonly now: number },
  found: FoundFacts,
): Promise<void> {
  for (const { name, owner } of query.tasks) {
    found.tasks.set(keyOf(name, owner), await findTask(store, name, owner));
  }
  for (const id of query.children) {
    found.children.set(id, await findChild(store, id, job, (ask) => ask()));
  }
  for (const name of query.events) {
    const there = await readEvents(store, name, { now });
    found.events.set(
      eventId(name),
      there.length === 0 ? { kind: 'absent' } : { kind: 'found', events: there },
    );
  }
  // Kept results are not read: the step is told as one that runs.
  for (const id of query.cached) found.cached.set(id, { kind: 'absent' });
  for (const question of query.questions) {
    if (/\.key$|\.wait\.match /.test(question.id))
      found.answers.set(question.id, await evaluate(question));
  }
  for (const id of query.subjects) {
    const doc = await store.get(id);
    found.subjects.set(id, doc === undefined ? { kind: 'absent' } : { kind: 'there', doc });
  }
}

/** The owner's task of that name, else everybody's. */
export async function findTask(store: Store, name: string, owner: string): Promise<Found<Task>> {
  for (const one of new Set([owner, defaultOwner])) {
    const rows = await store.view('tasks', { key: keyOf(name, one), includeDocs: true });
    const docs = rows.flatMap(({ doc }) => doc ?? []);
    const [doc] = docs;
    if (doc === undefined) continue;
    if (docs.length > 1) return { kind: 'ambiguous', ids: docs.map(({ _id }) => _id) };
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'task') continue;
    return parsed.ok
      ? { kind: 'found', value: parsed.value }
      : { kind: 'invalid', id: doc._id, problems: parsed.problems };
  }
  return { kind: 'absent' };
}
