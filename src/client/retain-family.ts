import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import { notificationsOf, notifiesOf } from '../model/notify.js';
import { isObject } from '../model/object.js';
import { readScheduleProgress, slotJobId } from '../model/schedule.js';
import type { Store } from '../store/store.js';
import { removeDocument } from './writes.js';

/** Why a job stays although its rule says that it goes. */
export const keptReasons = [
  ...(['unfinished', 'retry', 'large', 'conflict'] as const),
  ...(['schedule', 'archive'] as const),
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

/** Requests and signals that no job took, and locks, by the job that they name. */
export type BesideJobs = ReadonlyMap<string, readonly string[]>;

/** Maximum number of jobs in a family that goes at once. */
const mostJobs = 10_000;

/** Reads once for a pass what jobs may have left: few documents in a database that is well. */
export async function readBeside(store: Store): Promise<BesideJobs> {
  const beside = new Map<string, string[]>();
  const add = (job: unknown, id: string): void => {
    if (typeof job === 'string') beside.set(job, [...(beside.get(job) ?? []), id]);
  };
  for await (const { id, value } of store.rows('locks', {})) add(value.job, id);
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
  const left = await messagesFor(store, levels.flat());
  const toBeMade = await startingJobs(store, levels.flat());
  return roots.map((root): JobFamily => {
    const own = levels.map((members) =>
      members.flatMap((one) => (one.root === root._id ? one.doc : [])),
    );
    const jobs = own.flat();
    const messages = jobs.flatMap(({ _id }) => left.get(_id) ?? []);
    const others = jobs.flatMap(({ _id }) => beside.get(_id) ?? []);
    const all = [...new Set([...messages.map(({ id }) => id), ...others])];
    const isLarge = Number(sizes.get(root._id)) > mostJobs;
    const starting = jobs.find(({ _id }) => toBeMade.has(_id));
    const kept =
      isLarge || starting !== undefined
        ? {
            kept: { because: isLarge ? 'large' : 'schedule', job: (starting ?? root)._id } as const,
          }
        : keptBy(jobs, messages);
    return { root, levels: own, beside: all, ...kept };
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
  members: readonly Member[],
): Promise<ReadonlyMap<string, readonly Message[]>> {
  const keys = members.map(({ doc }) => doc._id);
  const [requests, signals] = await Promise.all([
    store.view('requests', { keys }),
    store.view('signals', { keys }),
  ]);
  const messages: readonly Message[] = [
    ...requests.map(({ id, key, value }) => ({ id, job: key, action: value })),
    ...signals.map(({ id, key }) => ({ id, job: key })),
  ];
  const found = new Map<string, Message[]>();
  for (const message of messages)
    found.set(message.job, [...(found.get(message.job) ?? []), message]);
  return found;
}

/**
 * U12 A job of a slot stays while its schedule names the slot as starting: an engine that died may have made it
 *     and not said so, and the next one would make it again. The schedule is read after the job was: it
 *     named the slot before the job was made, so one that does not name it has let go of it.
 */
async function startingJobs(
  store: Store,
  members: readonly Member[],
): Promise<ReadonlySet<string>> {
  const ids = members.flatMap(({ doc: { schedule } }) =>
    isObject(schedule) && typeof schedule['id'] === 'string' ? schedule['id'] : [],
  );
  const schedules = ids.length === 0 ? [] : (await store.getMany([...new Set(ids)])).values();
  return new Set(
    [...schedules].flatMap(({ _id, progress }) =>
      (readScheduleProgress(progress)?.starting ?? []).map((slot) => slotJobId(_id, slot)),
    ),
  );
}

/** Somebody wants the job to go on: an engine is going to take the request, or the key `retry`. */
function isToGoOn(
  { _id, retry, retry_refused: refused }: StoredDocument,
  asked: ReadonlySet<string>,
) {
  return asked.has(_id) || (retry !== undefined && retry !== false && refused === undefined);
}

function keptBy(
  jobs: readonly StoredDocument[],
  messages: readonly Message[],
): Pick<JobFamily, 'kept'> {
  const live = jobs.find(({ state }) => !isFinalState(state));
  if (live !== undefined) return { kept: { because: 'unfinished', job: live._id } };
  const retries = messages.filter(({ action }) => action === 'retry');
  const asked = new Set(retries.map(({ job }) => job));
  const wanted = jobs.find((job) => isToGoOn(job, asked));
  return wanted === undefined ? {} : { kept: { because: 'retry', job: wanted._id } };
}

/**
 * Removes a family: what is beside it first, then the jobs that were made last, the job itself at the end, so
 * that a removal that was broken off is found again. Resolves with the number of documents, or with
 * `conflict` when one of them was changed meanwhile: the jobs above it stay. `mayGo`: of what is beside it
 * only these, by the revision that is there now.
 * @throws TwsError those of a removal but `document_conflict`
 */
export async function removeFamily(
  store: Store,
  { levels, beside, root }: JobFamily,
  mayGo: (doc: StoredDocument) => boolean = () => true,
): Promise<number | 'conflict'> {
  const jobs = new Set(levels.flat().map(({ _id }) => _id));
  const found = await store.getMany(beside);
  const others = [...found.values()].filter((one) => jobs.has(String(one['job'])) && mayGo(one));
  // A lock or a message that changed meanwhile belongs to somebody else, or is taken.
  const removed = await removeEach(store, others);
  let count = removed.filter(Boolean).length;
  const current = await store.get(root._id);
  if (current?._rev !== root._rev) return 'conflict';
  for (const level of levels.toReversed()) {
    const gone = await removeEach(store, level);
    if (gone.includes(false)) return 'conflict';
    count += gone.length;
  }
  return count;
}

/** Removes these revisions together; false for one that was changed meanwhile. */
async function removeEach(
  store: Store,
  docs: readonly StoredDocument[],
): Promise<readonly boolean[]> {
  const results = await Promise.allSettled(
    docs.map(({ _id, _rev }) => removeDocument(store, _id, _rev)),
  );
  return results.map((result) => {
    if (result.status === 'fulfilled') return true;
    const { reason } = result as { readonly reason: unknown };
    if (reason instanceof TwsError && reason.code === 'document_conflict') return false;
    throw reason;
  });
}
