import type { PermitLine } from '../decide/intent.js';
import type { RateRequest } from '../decide/queries.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { defaultPriority } from '../model/job.js';
import { ownerOf } from '../model/task.js';
import { queueOfDocument } from '../reading/entries.js';
import { parseInPieces } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import { takeTurns } from '../turns.js';
import { storedFlowOf } from './definitions.js';
import { listDefinitions, listEngines, unfinishedJobs } from './lists.js';
import { observeJob } from './observe-job.js';
import { ableObserver } from './observer.js';
import { createPulse } from './pulse.js';
import { controlOfQueue } from './queues.js';

/**
 * The place of a job in a line, from 1. `to`: the last of the places that it may have, beside others that have not
 * begun either; which of these came first no document tells.
 */
export type LinePlace = { readonly place: number; readonly to?: number };

/** A job that waits for a limit. */
export type LimitWaiter = LinePlace & {
  readonly job: string;
  readonly owner: string;
  readonly priority: number;
  /** When it began; one that has not tells no time. */
  readonly since?: number;
};

/** A limit that jobs wait for; `id`: the key of its permits, or the id of the rate's document. */
export type AskedLimit = {
  readonly id: string;
  readonly permit?: PermitLine;
  readonly rate?: RateRequest;
  /** In the order in which they get it, as far as documents tell. */
  readonly line: readonly LimitWaiter[];
};

type Asked = Omit<AskedLimit, 'line'> & {
  readonly line: readonly Omit<LimitWaiter, 'place' | 'to'>[];
};

/** So many jobs are looked at. */
const mostJobs = 500;

/**
 * The limits that jobs wait for, by the rules of the engines: no document says that a job waits. `partly`: there
 * are more jobs than were looked at.
 */
export async function limitWaiters(
  given: Store,
  now: number,
): Promise<{ readonly asked: readonly AskedLimit[]; readonly partly: boolean }> {
  const store = readingOnce(given);
  const { jobs, more } = await unfinishedJobs(store, mostJobs);
  const engines = createPulse().look(await listEngines(store), now);
  const isLimited = await limitedJobs(store);
  const asked = new Map<string, Asked>();
  for (const job of jobs) {
    const flow = await storedFlowOf(store, job);
    const queueControl = await controlOfQueue(store, queueOfDocument(job, flow));
    if (queueControl?.rate === undefined && !isLimited(job, flow)) continue;
    const seen = { job, engines, flow, queueControl, now };
    const parsed = await takeTurns(parseInPieces(job));
    const observed = await observeJob(store, parsed, seen, { me: ableObserver });
    if (observed.kind !== 'decided' || observed.decided.kind !== 'wait') continue;
    const waiter = waiterOf(job);
    const add = (id: string, of: Pick<Asked, 'permit' | 'rate'>): void => {
      asked.set(id, { id, ...of, line: [...(asked.get(id)?.line ?? []), waiter] });
    };
    for (const permit of observed.decided.lines ?? []) add(permit.key, { permit });
    if (observed.decided.for !== 'rate') continue;
    for (const rate of observed.fullRates ?? []) add(rate.id, { rate });
  }
  const all = [...asked.values()].map((one) => ({ ...one, line: inLine(one.line) }));
  return { asked: all, partly: more };
}

type Waiters = Awaited<ReturnType<typeof limitWaiters>>;

/** For so long what was found out about lines is told again, ms: pages of many jobs ask for it now and then. */
const lastsMs = 5_000;
const found = new WeakMap<Store, { readonly at: number; readonly waiters: Promise<Waiters> }>();

/** Where a job is in the line of a limit, as it was some seconds ago; undefined: it was not found in it. */
export async function placeInLine(
  store: Store,
  { job, limit }: { readonly job: string; readonly limit: string },
  now: number,
): Promise<(LinePlace & { readonly of: number; readonly partly: boolean }) | undefined> {
  const before = found.get(store);
  const isNew = before !== undefined && Math.abs(now - before.at) < lastsMs;
  const waiters = isNew ? before.waiters : limitWaiters(store, now);
  if (!isNew) found.set(store, { at: now, waiters });
  const { asked, partly } = await waiters.catch((error: unknown) => {
    found.delete(store);
    throw error;
  });
  const line = asked.find(({ id }) => id === limit)?.line ?? [];
  const own = line.find((one) => one.job === job);
  if (own === undefined) return undefined;
  const { place, to } = own;
  return { place, ...(to === undefined ? {} : { to }), of: line.length, partly };
}

function inLine(line: readonly Omit<LimitWaiter, 'place' | 'to'>[]): readonly LimitWaiter[] {
  const sorted = line.toSorted(inTurn);
  return sorted.map((one) => {
    const place = sorted.findIndex((other) => inTurn(other, one) === 0) + 1;
    const to = sorted.findLastIndex((other) => inTurn(other, one) === 0) + 1;
    return { ...one, place, ...(to === place ? {} : { to }) };
  });
}

/** Makes each read once: many jobs wait for the same. */
function readingOnce(store: Store): Store {
  const made = new Map<string, Promise<unknown>>();
  const once = <T>(read: () => Promise<T>, ...what: readonly unknown[]): Promise<T> => {
    const key = JSON.stringify(what);
    const promise = made.get(key) ?? read();
    made.set(key, promise);
    return promise as Promise<T>;
  };
  const view: Store['view'] = (name, query) => once(() => store.view(name, query), name, query);
  return {
    ...{ ...store, view },
    get: (id) => once(() => store.get(id), 'get', id),
    getMany: (ids) => once(() => store.getMany(ids), 'many', ids),
  };
}

/** Which jobs may wait for a limit: most flows and tasks have none. */
async function limitedJobs(
  store: Store,
): Promise<(job: StoredDocument, flow: StoredDocument | undefined) => boolean> {
  const limited = (await listDefinitions(store, 'task')).filter(hasLimit);
  const words = limited.map(({ name }) => JSON.stringify(name));
  // It may name such a task: whether it does is of no importance, its jobs are only looked at in vain.
  const mayName = (doc: unknown): boolean => {
    // A flow that is gone, or one without tasks, names none.
    const text = words.length === 0 || doc === undefined ? '' : JSON.stringify(doc);
    return words.some((word) => text.includes(word));
  };
  const flows = new Map<unknown, boolean>();
  return (job, flow) => {
    const { state, definitions, flow_definition: copied, tasks } = job;
    if (state !== undefined) {
      return [copied, ...Object.values(isObject(definitions) ? definitions : {})].some(hasLimit);
    }
    if (flow === undefined || tasks !== undefined) return mayName(tasks);
    const known = flows.get(flow._id) ?? (hasLimit(flow) || mayName(flow['tasks']));
    flows.set(flow._id, known);
    return known;
  };
}

function hasLimit(definition: unknown): boolean {
  if (!isObject(definition)) return false;
  const { max_running: most, concurrency, rate } = definition as StoredDocument;
  return most !== undefined || concurrency !== undefined || rate !== undefined;
}

function waiterOf(job: StoredDocument): Asked['line'][number] {
  const { _id, priority, start } = job;
  return {
    ...{ job: _id, owner: ownerOf(job) },
    priority: typeof priority === 'number' ? priority : defaultPriority,
    ...(typeof start === 'number' ? { since: start } : {}),
  };
}

type Turn = Pick<LimitWaiter, 'priority' | 'since'>;

/** As engines do; which of two that have not begun came first no document tells. */
function inTurn(a: Turn, b: Turn): number {
  const begun = (one: Turn): number => one.since ?? Infinity;
  if (a.priority !== b.priority) return a.priority - b.priority;
  return begun(a) === begun(b) ? 0 : begun(a) - begun(b);
}
