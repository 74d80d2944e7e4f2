import { engineControlId, everyEngine } from '../model/engine-control.js';
import { notificationsOf } from '../model/notify.js';
import type { StoredDocument } from '../model/document.js';
import { isLiveJob } from '../model/job.js';
import { queueOfDocument } from '../reading/entries.js';
import { parseInPieces, type Parsed } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import { takeTurns } from '../turns.js';
import { ordinal } from '../words.js';
import { explain } from './explain.js';
import { ableObserver, type Observed } from './observer.js';
import type { Reason, Seen } from './reason.js';
import { storedFlowOf } from './definitions.js';
import { parentOf } from './ended-parent.js';
import { holderOf } from './holder.js';
import { jobOf } from './jobs.js';
import { observeJob } from './observe-job.js';
import { placeInLine } from './limit-waiters.js';
import { listEngines, unfinishedJobs } from './lists.js';
import { controlOfQueue } from './queues.js';
import { createPulse, type Pulse } from './pulse.js';
import { periodReason } from './unique-until.js';
import { countInHand, countOwn } from './service.js';

/** A job with the reasons why it stands where it stands. */
export type Explained = {
  readonly job: StoredDocument;
  readonly reasons: readonly Reason[];
  /** False while it is not certain yet which engines live: a later look may tell more. */
  readonly settled: boolean;
};

/** So many unfinished jobs are looked at to count what the engines have in hand. */
const mostJobs = 500;

/**
 * Reads what is around a job and explains it. A `pulse` that is kept over several looks tells living
 * engines from dead ones without trusting the clocks of their machines. Other jobs are named as far as
 * somebody `maySee` them.
 */
export async function explainJob(
  store: Store,
  id: string,
  pulse: Pulse = createPulse(),
  maySee?: (job: StoredDocument) => boolean,
): Promise<Explained> {
  const job = await jobOf(store, id);
  const explained = await reasonsOf(store, job, pulse, maySee);
  const last = await periodReason(store, job, Date.now());
  return { ...explained, reasons: [...explained.reasons, ...last] };
}

async function reasonsOf(
  store: Store,
  job: StoredDocument,
  pulse: Pulse,
  maySee?: (job: StoredDocument) => boolean,
): Promise<Explained> {
  const { _id: id } = job;
  const documents = await listEngines(store);
  const now = Date.now();
  const engines = pulse.look(documents, now);
  const flow = await storedFlowOf(store, job);
  const holder = await holderOf(store, job, flow);
  const queueControl = await controlOfQueue(store, queueOfDocument(job, flow));
  const engineControl = await store.get(engineControlId(everyEngine));
  const notifications = await notificationsFor(store, job, maySee);
  const above = await parentOf(store, job);
  const parent = above !== undefined && maySee?.(above) !== false ? above : undefined;
  const facts = { holder, notifications, parent, queueControl, engineControl };
  const around: Seen = { job, engines, flow, ...facts, now };
  const parsed = await takeTurns(parseInPieces(job));
  const observed = await observeJob(store, parsed, around);
  const lines = linesIn(observed) ?? linesIn(await observeAble(store, parsed, around));
  const withLines = async (waitsIn: Seen['lines']): Promise<Seen> => {
    const holders = (waitsIn ?? []).flatMap(({ by }) => by.map((one) => one.job));
    const others = [...new Set([holder?.job ?? [], ...holders].flat())];
    const hidden = maySee === undefined ? undefined : await hiddenOf(store, others, maySee);
    const place = waitsIn?.[0] && (await placeSentence(store, id, waitsIn[0].key, now));
    return { ...around, lines: waitsIn, hidden, place };
  };
  const seen = await withLines(lines);
  const settled = pulse.settled(documents, now);
  const reasons = explain(seen, observed);
  if (reasons[0]?.kind !== 'soon') return { job, reasons, settled };
  // A new job may wait for what only an engine that can run its first step asks for.
  const able = await observeJob(store, parsed, around, { me: ableObserver });
  const rated = rateReason(able);
  if (rated !== undefined) {
    const { rule, because, until, limit } = rated;
    const place = limit === undefined ? '' : await placeSentence(store, id, limit, now);
    const at = until === undefined ? {} : { until };
    const first: Reason = { kind: 'rate', rule, because: `${because}${place}`, ...at };
    return { job, reasons: [first, ...reasons.slice(1)], settled };
  }
  const ableLines = linesIn(able);
  if (ableLines !== undefined) {
    return { job, reasons: explain(await withLines(ableLines), observed), settled };
  }
  const { jobs } = await unfinishedJobs(store, mostJobs);
  const busy = { inHand: countInHand(jobs), ownInHand: countOwn(jobs, job) };
  return { job, reasons: explain({ ...seen, ...busy }, observed), settled };
}

/** The limits of which the job waits for a permit. */
function linesIn(observed: Observed | undefined): Seen['lines'] {
  if (observed?.kind !== 'decided') return undefined;
  const { decided } = observed;
  return decided.kind === 'wait' ? decided.lines : undefined;
}

/** The rate limit for which the job would wait on an engine that can run it. */
function rateReason(observed: Observed) {
  if (observed.kind !== 'decided') return undefined;
  const { decided, fullRates: [rate] = [] } = observed;
  if (decided.kind !== 'wait' || decided.for !== 'rate') return undefined;
  const { rule, because, until } = decided;
  return { rule, because, until, limit: rate?.id };
}

/** Where the job is in the line of a limit, as a sentence behind another one; '': it is in none that was looked at. */
async function placeSentence(
  store: Store,
  job: string,
  limit: string,
  now: number,
): Promise<string> {
  const found = await placeInLine(store, { job, limit }, now);
  if (found === undefined) return '';
  const { place, to, of, partly } = found;
  if (of === 1 && !partly) return ' No other job is in line for it.';
  const between = to === undefined ? ordinal(place) : `${ordinal(place)} to ${ordinal(to)}`;
  return ` It is ${between} of ${partly ? 'at least ' : ''}${of} in line.`;
}

/**
 * What an engine decides that can run every task: only such an engine asks for the permits of steps. Undefined
 * where no step may need one.
 */
async function observeAble(
  store: Store,
  parsed: Parsed,
  seen: Seen,
): Promise<Observed | undefined> {
  if (parsed.kind !== 'job' || !parsed.ok || !isLiveJob(parsed.value)) return undefined;
  const limited = Object.values(parsed.value.definitions).some(
    ({ concurrency }) => concurrency !== undefined,
  );
  return limited ? observeJob(store, parsed, seen, { me: ableObserver }) : undefined;
}

/** So many alerts are looked up, the last ones. */
const mostAlerts = 5;

/** The jobs that tell of its last end, or of the job as it goes on; the database was asked only where there are some. */
async function notificationsFor(
  store: Store,
  job: StoredDocument,
  maySee: (job: StoredDocument) => boolean = () => true,
): Promise<readonly StoredDocument[]> {
  const made = notificationsOf(job);
  const isOver = job['end'] !== undefined;
  const ids = made
    .filter(({ at, event }) => (isOver ? at === job['end'] : event !== undefined))
    .slice(isOver ? 0 : -mostAlerts)
    .map(({ id }) => id);
  if (ids.length === 0) return [];
  const docs = await store.getMany(ids);
  return ids.flatMap((id) => docs.get(id) ?? []).filter(maySee);
}

async function hiddenOf(
  store: Store,
  ids: readonly string[],
  maySee: (job: StoredDocument) => boolean,
): Promise<ReadonlySet<string>> {
  const docs = ids.length === 0 ? new Map<string, StoredDocument>() : await store.getMany(ids);
  const isSeen = (id: string): boolean => {
    const doc = docs.get(id);
    return doc !== undefined && maySee(doc);
  };
  return new Set(ids.filter((id) => !isSeen(id)));
}

/** How a chain is followed: who looks at a job, and whether a child job is there to be looked at. */
export type ChainLook = {
  readonly look: (id: string) => Promise<Explained>;
  readonly isThere: (child: string) => Promise<boolean>;
};

/** Child jobs of child jobs are followed so far. */
const deepest = 10;

/** Explains a job and, where it waits for a child job, that one, and so on. */
export async function explainChain(
  id: string,
  { look, isThere }: ChainLook,
): Promise<readonly Explained[]> {
  const chain: Explained[] = [];
  for (let next: string | undefined = id; next !== undefined && chain.length < deepest;) {
    // A child may have been removed, or not be made yet; the parent is explained all the same.
    if (chain.length > 0 && !(await isThere(next))) break;
    const explained: Explained = await look(next);
    chain.push(explained);
    next = explained.reasons.find(({ child }) => child !== undefined)?.child;
  }
  return chain;
}
