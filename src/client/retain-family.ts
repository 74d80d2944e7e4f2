import { addTo } from '../model/grouped.js';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import { notificationsOf, notifiesOf } from '../model/notify.js';
import { isObject } from '../model/object.js';
import { readScheduleProgress, slotJobId } from '../model/schedule.js';
import type { Store } from '../store/store.js';
import { readGathering } from '../model/gathering.js';
import { readTriggered } from '../model/trigger.js';
import { keptKeysOf, type KeptKey } from './retain-unique.js';
import { removeDocument } from './writes.js';

/** Why a job stays although its rule says that it goes. */
export const keptReasons = [
  ...(['unfinished', 'retry', 'large', 'conflict'] as const),
  ...(['starting', 'unique', 'archive'] as const),
] as const;
export type KeptReason = (typeof keptReasons)[number];

/** A job with everything that goes with it. */
export type JobFamily = {
  readonly root: StoredDocument;
  /** The job, then its child jobs and notifications, then theirs, and so on. */
  readonly levels: readonly (readonly StoredDocument[])[];
  /** Ids of requests, signals and locks for one of these jobs. */
  readonly beside: readonly string[];
  /** What keeps the job, and which of the family it is about. */
  readonly kept?: { readonly because: KeptReason; readonly job: string };
};

/** Requests and signals that no job took, and locks but those of keys, by the job that they name. */
export type BesideJobs = ReadonlyMap<string, readonly string[]>;

/** Maximum number of jobs in a family that goes at once. */
const mostJobs = 10_000;

/** Reads once for a pass what jobs may have left: few documents in a database that is well. */
export async function readBeside(store: Store): Promise<BesideJobs> {
  const beside = new Map<string, string[]>();
  const add = (job: unknown, id: string): void => {
    if (typeof job === 'string') addTo(beside, job, id);
  };
  // After these come the locks of keys, which are many where they have a period: they are read with their jobs.
  for await (const { id, value } of store.rows('locks', { endKey: ['unique'] })) {
    add(value.job, id);
  }
  for await (const { id, doc } of store.rows('refused', { includeDocs: true })) {
    if (doc?.['type'] !== 'event') add(doc?.['job'], id);
  }
  return beside;
}

type Member = { readonly doc: StoredDocument; readonly root: string };

/** Reads the families of some jobs, level by level, all of them together. */
export async function familiesOf(
  store: Store,
  roots: readonly StoredDocument[],
  beside: BesideJobs,
  now: number,
): Promise<readonly JobFamily[]> {
  const rootOf = new Map(roots.map(({ _id }): [string, string] => [_id, _id]));
  const sizes = new Map(roots.map(({ _id }): [string, number] => [_id, 1]));
  const levels: (readonly Member[])[] = [];
  let level: readonly Member[] = roots.map((doc) => ({ doc, root: doc._id }));
  while (level.length > 0) {
    levels.push(level);
    const ids = (await relatedTo(store, level)).filter(({ id }) => !rootOf.has(id));
    for (const { id, root } of ids) rootOf.set(id, root);
    for (const { root } of ids) sizes.set(root, Number(sizes.get(root)) + 1);
    const wanted = ids.filter(({ root }) => Number(sizes.get(root)) <= mostJobs);
    const docs = await store.getMany(wanted.map(({ id }) => id));
    level = wanted.flatMap(({ id, root, isFit }): readonly Member[] => {
      const doc = docs.get(id);
      return doc !== undefined && isFit(doc) ? [{ doc, root }] : [];
    });
  }
  const docs = levels.flat().map(({ doc }) => doc);
  const left = await messagesFor(store, docs);
  const toBeMade = await startingJobs(store, docs);
  const keys = await keptKeysOf(store, docs, now);
  return roots.map((root): JobFamily => {
    const own = levels.map((members) =>
      members.flatMap((one) => (one.root === root._id ? one.doc : [])),
    );
    const jobs = own.flat();
    const messages = jobs.flatMap(({ _id }) => left.get(_id) ?? []);
    const others = jobs.flatMap(({ _id }) => [
      ...(beside.get(_id) ?? []),
      ...[keys.get(_id)?.id ?? []].flat(),
    ]);
    const all = [...new Set([...messages.map(({ id }) => id), ...others])];
    const isLarge = Number(sizes.get(root._id)) > mostJobs;
    const kept = isLarge
      ? ({ because: 'large', job: root._id } as const)
      : keptBy(jobs, messages, { toBeMade, keys });
    return { root, levels: own, beside: all, ...(kept === undefined ? {} : { kept }) };
  });
}

type Related = {
  readonly id: string;
  readonly root: string;
  readonly isFit: (doc: StoredDocument) => boolean;
};

/** The child jobs of some jobs, and the notifications of their ends. */
async function relatedTo(store: Store, level: readonly Member[]): Promise<readonly Related[]> {
  const rootOf = new Map(level.map(({ doc, root }): [string, string] => [doc._id, root]));
  const rows = await store.view('children', { keys: [...rootOf.keys()] });
  const children = rows.map(({ id, key }): Related => ({
    id,
    root: String(rootOf.get(key)),
    isFit: ({ type }) => type === 'job',
  }));
  const notifications = level.flatMap(({ doc, root }) =>
    notificationsOf(doc).map(({ id }): Related => ({
      id,
      root,
      // Anybody may write a list of ids into a job.
      isFit: (one) => one['type'] === 'job' && notifiesOf(one)?.job === doc._id,
    })),
  );
  return [...children, ...notifications];
}

type Message = { readonly id: string; readonly job: string; readonly action?: string };

/** Requests and signals that no engine has taken, by job. */
async function messagesFor(
  store: Store,
  jobs: readonly StoredDocument[],
): Promise<ReadonlyMap<string, readonly Message[]>> {
  const keys = jobs.map(({ _id }) => _id);
  const [requests, signals] = await Promise.all([
    store.view('requests', { keys }),
    store.view('signals', { keys }),
  ]);
  const messages: readonly Message[] = [
    ...requests.map(({ id, key, value }) => ({ id, job: key, action: value })),
    ...signals.map(({ id, key }) => ({ id, job: key })),
  ];
  const found = new Map<string, Message[]>();
  for (const message of messages) addTo(found, message.job, message);
  return found;
}

/**
 * U12 A job stays while the schedule, the event or the gathering that started it names it as starting: an engine that died may
 *     have made it and not said so, and the next one would make it again. The cause is read after the job was:
 *     it named the job before that was made, so one that does not name it has let go of it.
 */
async function startingJobs(
  store: Store,
  jobs: readonly StoredDocument[],
): Promise<ReadonlySet<string>> {
  const causes = jobs.flatMap(({ schedule, started_by: by }) => [
    isObject(schedule) ? schedule['id'] : undefined,
    isObject(by) ? (by['event'] ?? by['gathering']) : undefined,
  ]);
  const ids = new Set(causes.filter((id) => typeof id === 'string'));
  const found = ids.size === 0 ? [] : (await store.getMany([...ids])).values();
  return new Set(
    [...found].flatMap((cause) => {
      const { _id, progress, triggered } = cause;
      const slots = readScheduleProgress(progress)?.starting ?? [];
      const event = readTriggered(triggered);
      const jobsOfEvent = (typeof event === 'object' ? event.starting : undefined) ?? [];
      const gathered = readGathering(cause)?.starting?.job;
      return [
        ...slots.map((slot) => slotJobId(_id, slot)),
        ...jobsOfEvent.map(({ job }) => job),
        ...(gathered === undefined ? [] : [gathered]),
      ];
    }),
  );
}

/** Somebody wants the job to go on: an engine is going to take the request, or the key `retry`. */
function isToGoOn(
  { _id, retry, retry_refused: refused }: StoredDocument,
  asked: ReadonlySet<string>,
) {
  return asked.has(_id) || (retry !== undefined && retry !== false && refused === undefined);
}

/** What keeps a family because of one of its jobs; the first is told. */
const ties = ['starting', 'unfinished', 'retry', 'unique'] as const;
type Tie = (typeof ties)[number];

type Ties = {
  readonly toBeMade: ReadonlySet<string>;
  readonly keys: ReadonlyMap<string, KeptKey>;
};

function keptBy(
  jobs: readonly StoredDocument[],
  messages: readonly Message[],
  { toBeMade, keys }: Ties,
): JobFamily['kept'] {
  const retries = messages.filter(({ action }) => action === 'retry');
  const asked = new Set(retries.map(({ job }) => job));
  const checks: Readonly<Record<Tie, (job: StoredDocument) => boolean>> = {
    starting: ({ _id }) => toBeMade.has(_id),
    unfinished: ({ state }) => !isFinalState(state),
    retry: (job) => isToGoOn(job, asked),
    unique: ({ _id }) => keys.get(_id)?.counts === true,
  };
  for (const because of ties) {
    const job = jobs.find(checks[because]);
    if (job !== undefined) return { because, job: job._id };
  }
  return undefined;
}

type RemoveFamilyOptions = {
  /** Of what is beside the family only these go, by the revision that is there now. */
  readonly mayGo?: (doc: StoredDocument) => boolean;
  /** Takes the revision of each tombstone by the id of its document. */
  readonly gone?: Map<string, string>;
};

/**
 * Removes a family: what is beside it first, then the jobs that were made last, the job itself at the end, so
 * that a removal that was broken off is found again. Resolves with the number of documents, or with
 * `conflict` when one of them was changed meanwhile: the jobs above it stay.
 * @throws TwsError those of a removal but `document_conflict`
 */
export async function removeFamily(
  store: Store,
  { levels, beside, root }: JobFamily,
  { mayGo = () => true, gone }: RemoveFamilyOptions = {},
): Promise<number | 'conflict'> {
  const jobs = new Map(levels.flat().map(({ _id, _rev }) => [_id, _rev]));
  const found = await store.getMany(beside);
  const others = [...found.values()].filter((one) => jobs.has(String(one['job'])) && mayGo(one));
  // A job that goes on again has taken its locks anew: what was read before the job was is not what it has then.
  const theirs = [...new Set(others.map(({ job }) => String(job)))];
  const there = theirs.length === 0 ? undefined : await store.getMany(theirs);
  if (theirs.some((id) => there?.get(id)?._rev !== jobs.get(id))) return 'conflict';
  // A lock or a message that changed meanwhile belongs to somebody else, or is taken.
  const removed = await removeEach(store, others, gone);
  let count = removed.filter(Boolean).length;
  const current = await store.get(root._id);
  if (current?._rev !== root._rev) return 'conflict';
  for (const level of levels.toReversed()) {
    const went = await removeEach(store, level, gone);
    if (went.includes(false)) return 'conflict';
    count += went.length;
  }
  return count;
}

/** Removes these revisions together; false for one that was changed meanwhile. */
async function removeEach(
  store: Store,
  docs: readonly StoredDocument[],
  gone: Map<string, string> | undefined,
): Promise<readonly boolean[]> {
  const results = await Promise.allSettled(
    docs.map(async ({ _id, _rev }) => {
      const tombstone = await removeDocument(store, _id, _rev);
      if (tombstone !== undefined) gone?.set(_id, tombstone);
    }),
  );
  return results.map((result) => {
    if (result.status === 'fulfilled') return true;
    const { reason } = result as { readonly reason: unknown };
    if (reason instanceof TwsError && reason.code === 'document_conflict') return false;
    throw reason;
  });
}
