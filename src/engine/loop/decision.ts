import { decide } from '../../decide/decide.js';
import type { SubjectFound, World } from '../../decide/world.js';
import { type Acquire, keysOfWanted, type Query } from '../../decide/queries.js';
import type { Intent } from '../../decide/intent.js';
import { eventId } from '../../model/event.js';
import { failure } from '../../model/failures.js';
import type { Job, LiveJob } from '../../model/job.js';
import type { Failure } from '../../model/step.js';
import { keyOf } from '../../model/task.js';
import { readCached } from '../attachments/cached-results.js';
import { findChild, readTogether } from '../children/find-child.js';
import { NoThreadError } from '../../plugin/calculations.js';
import { readEvents } from '../../store/events.js';
import type { Store } from '../../store/store.js';
import { roundTurn } from '../../turns.js';
import { evaluate } from '../../evaluate/expressions.js';
import type { ResultAttachments } from '../attachments/contents.js';
import type { RunningAttempts } from '../attempts/running-attempts.js';
import { withCurrentJob, type OnDecide } from '../watch/blocking.js';
import { emptyFindings, noFindings, worldOf, type Findings, type FoundOut } from './findings.js';
import type { Library } from './library.js';
import type { JobTree } from '../children/job-tree.js';
import { grantAttempts } from './attempt-grants.js';
import type { Rates } from '../locks/rates.js';
import { inLineOf } from '../waiting/wait-queue.js';
import type { Locks } from '../locks/locks.js';
import { unusedPermits } from '../locks/give-back.js';
import type { LogOnce } from '../log.js';
import type { Retry } from '../retry.js';
import { createSchemaChecks, type SchemaChecks } from '../../evaluate/schema-checks.js';

/** No decision can be made about the job: the job ends, or is marked, with this failure. */
export type Fault = { readonly kind: 'fault'; readonly failure: Failure };

/** An intent that needs nothing more to be known or taken. */
export type DecidedIntent = (Exclude<Intent, Query | Acquire> & Named) | Fault;

/** The rule that gave an intent; those of tests have no name. */
type Named = { readonly rule?: string };

/** From where a decision is made. */
export type Standpoint = {
  readonly job: Job;
  /** When the revision was first seen; `-Infinity` for a job just settled. */
  readonly seenAt: number;
  /** Claims that no longer count as running: they hand their slots over to what is claimed. */
  readonly ended?: readonly string[];
};

export type Decider = (standpoint: Standpoint) => Promise<DecidedIntent>;

export type DeciderParts = {
  readonly store: Store;
  readonly library: Library;
  /** The world, with what was found out for a decision. */
  readonly worldFrom: (standpoint: Standpoint, known: FoundOut, schema: World['schema']) => World;
  readonly now: () => number;
  /** How long events live that have no `ttl`, ms. */
  readonly eventTtlMs?: number | undefined;
  /** Takes the slots of a claim, in the turn in which it is decided: what is decided next has them not. */
  readonly reserve: RunningAttempts['reserve'];
  /** Reads the attachments of jobs. */
  readonly attachments: ResultAttachments;
  readonly locks: Locks;
  readonly rates: Pick<Rates, 'take' | 'isFull' | 'leaveOthers' | 'concerned'>;
  readonly jobTree: JobTree;
  readonly retry: Retry;
  readonly life: AbortSignal;
  readonly once: Pick<LogOnce, 'log'>;
  readonly onDecide?: OnDecide | undefined;
  /** The rules; other ones in tests. */
  readonly rule?: (...given: Parameters<typeof decide>) => Intent & Named;
};

/**
 * Makes the function that decides, finding out on the way what the decision asks for (definitions the
 * library has not, child jobs, conditions) and taking the locks and permits that it needs. A decision
 * that throws, or that asks only for what was answered already, is a fault, which names itself.
 */
export function createDecider(parts: DeciderParts): Decider {
  const { library, life, onDecide, once, reserve, worldFrom, now, rule = decide } = parts;
  const unasked = worldOf(noFindings, library);
  return async (standpoint) => {
    const { job, ended = [] } = standpoint;
    // Most decisions ask nothing, and read no schema.
    let found = noFindings;
    let known = unasked;
    let schemas: SchemaChecks | undefined;
    const schema: World['schema'] = (read) => (schemas ??= createSchemaChecks()).read(read);
    const asked = new Set<string>();
    let unanswered: string | undefined;
    let refusals = 0;
    for (;;) {
      await roundTurn();
      // What could not be found out any more does not count.
      if (life.aborted) return { kind: 'ignore', because: 'The engine ends.' };
      const answered = worldFrom(standpoint, known, schema);
      const world = unanswered === undefined ? answered : { ...answered, unanswered };
      const intent = withCurrentJob(onDecide, job._id, () =>
        unlessThrown(() => rule(job, now(), world)),
      );
      // What was decided without an answer does not count.
      if (schemas?.isOpen() === true) {
        unanswered = await whyNot(schemas.settle, job, once);
        continue;
      }
      if (intent.kind === 'claim' && !reserve(intent.steps, ended, intent.job)) {
        if ((refusals += 1) > 1) return fault('it claims more slots than there are');
        continue;
      }
      if (intent.kind !== 'look_up' && intent.kind !== 'acquire') {
        await leaveUnused(intent, found, job, parts);
        return intent;
      }
      const open = keysOfWanted(intent);
      if (open.every((key) => asked.has(key))) return fault(`it asks again for ${named(open)}`);
      for (const key of open) asked.add(key);
      if (found === noFindings) found = emptyFindings();
      const of = found;
      unanswered = await whyNot(
        () =>
          intent.kind === 'acquire' ? take(intent, of, job, parts) : answer(intent, of, job, parts),
        job,
        once,
      );
      known = worldOf(of, library);
    }
  };
}

/** Why something cannot be found out now, which is logged, or undefined when it was. */
async function whyNot(
  find: () => Promise<unknown>,
  { _id }: Job,
  once: Pick<LogOnce, 'log'>,
): Promise<string | undefined> {
  try {
    await find();
    return undefined;
  } catch (error) {
    if (!(error instanceof NoThreadError)) throw error;
    const { message } = error;
    once.log('warn', _id, `Job ${_id} cannot be decided now: ${message}. Trying again.`);
    return `What it asks cannot be worked out now: ${message}`;
  }
}

/** So many facts are named when a decision asks for known ones. */
const namedFacts = 3;

function named(keys: readonly string[]): string {
  const first = keys.slice(0, namedFacts).map((key) => `"${key}"`);
  const more = keys.length > namedFacts ? ` and ${keys.length - namedFacts} more` : '';
  return keys.length === 0 ? 'nothing' : `${first.join(', ')}${more}`;
}

/** What a pure function gives, or the fault that it threw. */
export function unlessThrown<T>(judge: () => T): T | Fault {
  try {
    return judge();
  } catch (error) {
    return faultOf(error);
  }
}

/** Why nothing can be decided after this was thrown. */
export function faultOf(error: unknown): Fault {
  return fault(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

function fault(reason: string): Fault {
  return { kind: 'fault', failure: failure('DecisionFault', { reason }) };
}

/** Finds out what a query asks for. */
async function answer(query: Query, found: Findings, job: Job, parts: DeciderParts): Promise<void> {
  const { store, attachments, locks, jobTree, retry } = parts;
  const { answers, contents, children, roots, events, blockers, subjects } = found;
  await findDefinitions(query, found, parts);
  // A parent may have hundreds of children that have not ended: they are read together.
  const read = query.children.length > 1 ? await readTogether(store, query.children, retry) : store;
  for (const id of query.children) children.set(id, await findChild(read, id, job, retry));
  for (const id of query.roots) {
    // The engine ends: nothing will be written any more.
    roots.set(id, (await retry(() => jobTree.rootOf(id))) ?? 'live');
  }
  for (const id of query.subjects) subjects.set(id, await findSubject(store, id, retry));
  for (const name of query.events) {
    const there =
      (await retry(() =>
        readEvents(store, name, { now: parts.now(), usualTtlMs: parts.eventTtlMs }),
      )) ?? [];
    // None also where the engine ends: nothing will be written any more.
    events.set(
      eventId(name),
      there.length === 0 ? { kind: 'absent' } : { kind: 'found', events: there },
    );
  }
  await findCached(query, found, parts);
  for (const target of query.targets) blockers.set(target, await locks.blockers(target, job));
  if (query.attachments.length > 0) {
    const read = await attachments.of(job as LiveJob, query.attachments);
    for (const [name, value] of read ?? []) contents.set(name, value);
  }
  for (const question of query.questions) answers.set(question.id, await evaluate(question));
}

/** Reads the results that are kept. */
async function findCached(
  query: Query,
  { cached }: Findings,
  { store, retry }: DeciderParts,
): Promise<void> {
  for (const id of query.cached) {
    cached.set(id, (await retry(() => readCached(store, id))) ?? { kind: 'absent' });
  }
}

/** Finds the flows and tasks that a query asks for. */
async function findDefinitions(
  query: Query,
  { flows, tasks }: Findings,
  { library, retry }: DeciderParts,
): Promise<void> {
  if (query.flows.length > 0) await retry(() => library.find('flow', query.flows));
  for (const { name, owner } of query.flows) {
    flows.set(keyOf(name, owner), (ask) => library.foundFlow(name, owner, ask));
  }
  if (query.tasks.length > 0) await retry(() => library.find('task', query.tasks));
  for (const { name, owner } of query.tasks) {
    tasks.set(keyOf(name, owner), library.foundTask(name, owner));
  }
}

/** Takes locks, permits and grants, as far as they are free. */
async function take(
  wanted: Acquire,
  { taken, permits, grants, displaced }: Findings,
  job: Job,
  { locks, rates }: Pick<DeciderParts, 'locks' | 'rates'>,
): Promise<void> {
  for (const request of wanted.locks) taken.set(request.id, await locks.take(request, job));
  for (const request of wanted.permits) permits.set(request.id, await locks.permit(request, job));
  for (const displacement of wanted.displaces) {
    await locks.displace(displacement, job);
    displaced.add(displacement.nonce);
  }
  if (wanted.rates.length > 0) await grantAttempts(wanted.rates, grants, inLineOf(job), rates);
}

/**
 * Gives back the permits that the decision does not use, and places in the lines of rates: a job that waits for a
 * slot or a permit, or is paused, cannot use the grant of its turn, and others go before it. Where another engine
 * goes first, and where an answer is missing, it may ask in a moment.
 */
async function leaveUnused(
  intent: DecidedIntent,
  { permits, grants }: Findings,
  job: Job,
  { locks, rates }: Pick<DeciderParts, 'locks' | 'rates'>,
): Promise<void> {
  if (permits.size > 0) {
    const unused = unusedPermits(intent, permits.values());
    if (unused.size > 0) await locks.giveBack(unused, job);
  }
  if (!rates.concerned.has(job._id) || intent.kind !== 'wait') return;
  if (intent.for !== 'engine' && intent.rule !== 'unanswered') rates.leaveOthers(job._id, grants);
}

/** The job that a notification tells of, as it is now. */
async function findSubject(store: Store, id: string, retry: Retry): Promise<SubjectFound> {
  const answer = await retry(async () => ({ doc: await store.get(id) }));
  // The engine ends: nothing will be written any more.
  if (answer === undefined) return { kind: 'there', doc: { _id: id } };
  return answer.doc === undefined ? { kind: 'absent' } : { kind: 'there', doc: answer.doc };
}
