import { randomUUID } from 'node:crypto';
import { command } from '../decide/requests/command.js';
import { offering, workPlugin, type Offering } from '../decide/waiting/offering.js';
import type { NameAndOwner } from '../decide/queries.js';
import { unknownWorld, type Found, type World } from '../decide/world.js';
import { createSchemaChecks } from '../evaluate/schema-checks.js';
import { renderParams } from '../evaluate/expressions.js';
import { lockIdOf } from '../lock-id.js';
import type { StoredDocument } from '../model/document.js';
import type { Flow } from '../model/flow.js';
import { chooseVersion, type VersionAsk } from '../model/flow-versions.js';
import { isCancelRequested, isFinal, isNew, type Job, type LiveJob } from '../model/job.js';
import type { QueueControl } from '../model/queue-control.js';
import type { JobRequest } from '../model/request.js';
import type { Step } from '../model/step.js';
import { defaultOwner, type Task } from '../model/task.js';
import { queueOfOffer, type OfferPlace } from '../model/work.js';
import { definitionOf, leavesIn, queueOf } from '../reading/entries.js';
import { parseDocument } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import { readControls } from './controls.js';
import { findDefinition } from './definitions.js';
import { createOrder } from './work-order.js';

/*
 * Takes jobs as far as they go without an engine: with the rules of the engines, and what they ask for.
 */

/** What is known for many jobs of one call. */
export type OfferWorld = {
  readonly found: Map<string, (ask?: VersionAsk) => Found<Task> | Found<Flow>>;
  readonly control: (queue: string) => QueueControl | undefined;
  /** The queues that a rate limits. */
  readonly rated: ReadonlySet<string>;
  /** Whether somebody may have to be told of ends: then engines end jobs. */
  readonly tells: boolean;
  /** The database keeps one copy of each document, so that an answered write is a won one. */
  readonly isPlain: boolean;
  /** Ids of the documents that were looked up for it. */
  readonly madeOf: Set<string>;
};

/** Reads what decisions about such jobs need. `notifies`: settings say who is told of ends. */
export async function offerWorld(
  store: Store,
  { notifies = false }: { readonly notifies?: boolean | undefined } = {},
): Promise<OfferWorld> {
  const [{ queues, tells, ids }, { copies }] = await Promise.all([
    readControls(store),
    store.info(),
  ]);
  return {
    found: new Map(),
    control: (queue) => queues.get(queue),
    rated: new Set([...queues].flatMap(([queue, { rate }]) => (rate === undefined ? [] : [queue]))),
    tells: notifies || tells,
    isPlain: copies === 1,
    madeOf: new Set(ids),
  };
}

const anything: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });
/** Definitions of this many kinds are looked up one after the other. */
const mostLookUps = 5;
/** Places in line, in the order in which this process gave them. */
export const nextPlace = createOrder();

/** When steps are offered, epoch ms, and where they stand in line; absent: behind all of this process. */
export type OfferWhen = { readonly now: number; readonly place?: () => OfferPlace };

/**
 * The job as it can be stored after `now` without an engine; undefined: an engine has to look at it. Work of a paused
 * queue is offered and given to nobody (`takeWork`), so that it can be fetched as soon as the queue goes on: what is not
 * offered would then wait for an engine. Nothing else begins in a paused queue.
 */
export async function withoutEngine(
  store: Store,
  job: Job,
  known: OfferWorld,
  when: OfferWhen,
): Promise<Job | undefined> {
  const control = (queue: string) => unpaused(known.control(queue));
  const next = await asFarAsItGoes(store, job, { ...known, control }, when);
  if (next === undefined || isNew(next) || isFinal(next)) return next;
  const isPaused = known.control(queueOf(next))?.paused === true;
  return isPaused && beginsWait(job, next) ? asFarAsItGoes(store, job, known, when) : next;
}

function unpaused(control: QueueControl | undefined): QueueControl | undefined {
  return control?.paused === true ? { ...control, paused: false } : control;
}

/** Whether a step waits now that did not before, and is no work for workers. */
function beginsWait(before: Job, { steps }: LiveJob): boolean {
  const begun = new Set(isNew(before) ? [] : before.steps?.map(placeOfStep));
  return steps.some((step) => {
    if (step.state !== '$$waiting' || begun.has(placeOfStep(step))) return false;
    return step.signal === undefined || queueOfOffer(step.signal) === undefined;
  });
}

const placeOfStep = ({ path, attempt }: Step): string => `${path} ${attempt}`;

async function asFarAsItGoes(
  store: Store,
  job: Job,
  known: OfferWorld,
  { now, place = () => nextPlace(now) }: OfferWhen,
): Promise<Job | undefined> {
  if (!known.isPlain || !isSimple(job)) return undefined;
  for (let asked = 0; asked < mostLookUps; asked += 1) {
    const came = offeringOf(job, known, now, place);
    if (came.kind === 'none') return undefined;
    if (came.kind === 'write') return mayWrite(job, came.job, known) ? came.job : undefined;
    const { flows, tasks, ...others } = came;
    const isMore = Object.values(others).some((list) => Array.isArray(list) && list.length > 0);
    if (isMore) return undefined;
    await Promise.all([
      ...tasks.map((one) => learn(store, known, 'task', one)),
      ...flows.map((one) => learn(store, known, 'flow', one)),
    ]);
  }
  return undefined;
}

function offeringOf(job: Job, known: OfferWorld, now: number, place: () => OfferPlace): Offering {
  const control = known.control;
  const schemas = createSchemaChecks();
  const find = (kind: string) => (name: string, owner: string, ask?: VersionAsk) =>
    known.found.get(keyOf(kind, { name, owner }))?.(ask) ?? { kind: 'unknown' as const };
  const world: World = {
    ...unknownWorld,
    me: {
      ...unknownWorld.me,
      id: 'client',
      plugins: new Set([workPlugin]),
      labels: anything,
      queues: anything,
      freeSlots: 1_000,
    },
    nonce: job._id,
    lease: () => 'alive',
    queueControl: control,
    ratedQueues: known.rated,
    flow: find('flow') as World['flow'],
    task: find('task') as World['task'],
    root: () => 'live',
    lockId: lockIdOf,
    render: renderParams,
    schema: (schema) => schemas.read(schema),
  };
  const came = offering(job, now, { world, place });
  // What takes long to check is checked by engines.
  return schemas.isOpen() ? { kind: 'none' } : came;
}

/** Ends that somebody is told of are written by engines, and beginnings that depend on their settings. */
function mayWrite(before: Job, next: Job, { tells }: OfferWorld): boolean {
  if (isFinal(next)) return !tells && (!isNew(before) || isCancelRequested(before));
  return !isNew(before) || isNew(next) || hasOwnDelays(next);
}

/** All that is tried again says how long it waits: what an engine is told to wait is not known here. */
function hasOwnDelays(job: LiveJob): boolean {
  return leavesIn(job.tasks).list.every(({ entry }) => {
    const retry = entry.retry ?? definitionOf(job, entry)?.retry ?? 0;
    return typeof retry === 'number' ? retry === 0 : retry.delay !== undefined;
  });
}

/** Nothing hangs on it that engines would have to see to: no lock, no permit, no parent. */
function isSimple(job: Job): boolean {
  const { parent, locked, notify, unique, locks, target } = job as Readonly<
    Record<string, unknown>
  >;
  const isFree = [parent, locked, notify, unique, locks, target].every((one) => one === undefined);
  if (!isFree || isFinal(job)) return false;
  return isNew(job) || job.steps.every(({ permits }) => permits === undefined);
}

async function learn(
  store: Store,
  known: OfferWorld,
  kind: 'flow' | 'task',
  one: NameAndOwner,
): Promise<void> {
  known.found.set(keyOf(kind, one), await lookUp(store, known, kind, one));
}

async function lookUp(
  store: Store,
  { madeOf }: OfferWorld,
  kind: 'flow' | 'task',
  { name, owner }: NameAndOwner,
): Promise<(ask?: VersionAsk) => Found<Task> | Found<Flow>> {
  for (const whose of new Set([owner, defaultOwner])) {
    const docs = await findDefinition(store, kind, name, whose);
    if (docs.length === 0) continue;
    for (const { _id } of docs) madeOf.add(_id);
    // What is wrong is told by engines: two of one name are ambiguous, whatever DEFAULT has.
    if (kind === 'task' && docs.length > 1) break;
    return (ask) => {
      const choice = chooseVersion(docs, ask);
      return (choice.kind === 'chosen' ? found(choice.doc) : undefined) ?? { kind: 'unknown' };
    };
  }
  return () => ({ kind: 'unknown' });
}

function found(doc: StoredDocument): Found<Task> | Found<Flow> | undefined {
  const parsed = parseDocument(doc);
  if ((parsed.kind !== 'task' && parsed.kind !== 'flow') || !parsed.ok) return undefined;
  return { kind: 'found', value: parsed.value } as Found<Task> | Found<Flow>;
}

function keyOf(kind: string, { name, owner }: NameAndOwner): string {
  return `${kind} ${JSON.stringify([name, owner])}`;
}

/** How a call is made: when (epoch ms), and whether settings say who is told of ends. */
export type OfferOptions = { readonly now: number; readonly notifies?: boolean | undefined };

/** So often a job is cancelled that others change meanwhile. */
const mostTries = 5;

/** Who cancels, and why. */
export type CancelOptions = OfferOptions & {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
};

/** Ends a job by a cancel, where that takes no engine; undefined: it has to be requested. */
export async function cancelWork(
  store: Store,
  id: string,
  { by, reason, ...options }: CancelOptions,
): Promise<StoredDocument | undefined> {
  const known = await offerWorld(store, options);
  const who = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
  const request = {
    ...{ _id: `request:${id}:${randomUUID()}`, type: 'request', job: id, action: 'cancel' },
    ...who,
  } as JobRequest;
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const doc = await store.get(id);
    const parsed = doc === undefined ? undefined : parseDocument(doc);
    if (parsed?.kind !== 'job' || !parsed.ok || isFinal(parsed.value)) return undefined;
    const asked = command(parsed.value, request, options.now);
    if (asked.kind !== 'applied') return undefined;
    const next = await withoutEngine(store, asked.job, known, options);
    if (next === undefined || !isFinal(next)) return undefined;
    const result = await store.write(next);
    if (result.kind === 'written') return { ...next, _rev: result.rev };
    if (result.kind !== 'conflict') return undefined;
  }
  return undefined;
}
