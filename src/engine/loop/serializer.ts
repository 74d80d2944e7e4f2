import { createLru } from '../../memo.js';
import { goneSteps } from '../../decide/requests/hand-edits.js';
import type { StoredDocument } from '../../model/document.js';
import type { Job } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { knownJob } from '../../reading/known-jobs.js';
import { parseInPieces, type Parsed } from '../../reading/parse.js';
import { takeTurns } from '../../turns.js';
import { blockedEnginesKey, withoutBlockedEngines } from '../watch/blocked-engines.js';
import { withCurrentJob, type OnDecide } from '../watch/blocking.js';

/**
 * The documents on which something is under way, by id.
 *
 * E8 In this process one thing at a time happens to a document.
 * E9 A task always works on the newest version that was seen; older ones are dropped.
 */
export type Serializer = {
  /**
   * Takes a version: `stale` when a newer one was seen, `echo` when this one was. A copy that was read
   * gives way to the same version `madeHere`. `at`: when it was first seen (epoch ms), default: now.
   */
  readonly put: (doc: StoredDocument, how?: Put) => 'news' | 'echo' | 'stale';
  /** What may be done about the document is new, though its version is not: counts as seen now. */
  readonly touch: (id: string) => void;
  /** The newest version of each document that was seen lately, and when it first was (epoch ms). */
  readonly seen: Pick<ReadonlyMap<string, Seen>, 'get'>;
  /** Whether no newer version was seen since, nor this one made here. */
  readonly isNewest: (doc: StoredDocument) => boolean;
  /**
   * What a version that somebody else wrote lacks of the one that was kept: ended steps, by the id of
   * the job. It is told in the job and then deleted here.
   */
  readonly gone: Pick<Map<string, Problem>, 'get' | 'set' | 'has' | 'delete'>;
  /** The newest versions, by id, as far as they are kept. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
  /** Whether a task for the document is under way: a revision that it writes may be unknown still. */
  readonly isBusy: (id: string) => boolean;
  /** Runs a task for the document after those that wait already. */
  readonly queue: (id: string, task: () => Promise<void>) => Promise<void>;
  /** Drops the document; its revision is remembered. */
  readonly drop: (id: string) => void;
  /** Forgets all revisions: the database may be another one. */
  readonly forget: () => void;
  /** How many tasks are open. */
  readonly tasks: { readonly open: number };
  /** Resolves when fewer tasks than `limit` are open. */
  readonly room: (limit: number) => Promise<void>;
  readonly idle: () => Promise<void>;
};

type Put = { readonly madeHere?: true; readonly at?: number };

type Seen = { readonly rev: string; readonly at: number };

/** So many revisions of dropped documents are remembered, to know echoes from news. */
const remembered = 20_000;
/** What is gone of more jobs than these is told of the latest. */
const rememberedGone = 1_000;

export function createSerializer(
  onError: (id: string, error: unknown) => void,
  now: () => number,
): Serializer {
  return { ...createVersions(now), ...createQueues(onError) };
}

/** The newest versions that were seen, and which documents are held of them. */
function createVersions(now: () => number) {
  const documents = new Map<string, StoredDocument>();
  const revisions = createLru<Seen>(remembered);
  const gone = createLru<Problem>(rememberedGone);
  const compare = (doc: StoredDocument): void => {
    const held = documents.get(doc._id);
    const problem = held === undefined || held._rev === doc._rev ? undefined : goneSteps(held, doc);
    if (problem !== undefined) gone.set(doc._id, problem);
  };
  return {
    documents: documents as Serializer['documents'],
    seen: revisions as Serializer['seen'],
    gone: gone as Serializer['gone'],
    put: (doc: StoredDocument, { madeHere, at }: Put = {}) => {
      const { _id: id, _rev: rev } = doc;
      const before = revisions.get(id)?.rev;
      if (before !== undefined && before !== rev && writesBetween(rev, before) > 0) return 'stale';
      if (before !== rev) revisions.set(id, { rev, at: at ?? now() });
      if (madeHere !== true) compare(doc);
      // Of two copies of one version the first stays: it may have been read already.
      if (madeHere === true || documents.get(id)?._rev !== rev) documents.set(id, doc);
      return before === rev ? 'echo' : 'news';
    },
    isNewest: (doc: StoredDocument): boolean => {
      const held = documents.get(doc._id);
      const newest = revisions.get(doc._id)?.rev ?? doc._rev;
      return newest === doc._rev && (held === undefined || held === doc);
    },
    touch: (id: string): void => {
      const seen = revisions.get(id);
      if (seen !== undefined) revisions.set(id, { ...seen, at: now() });
    },
    forget: (): void => revisions.clear(),
    drop: (id: string): void => void documents.delete(id),
  } satisfies Partial<Serializer>;
}

/** The tasks of each document, one after the other. */
function createQueues(onError: (id: string, error: unknown) => void) {
  const tails = new Map<string, Promise<void>>();
  const waiting: { readonly limit: number; readonly resolve: () => void }[] = [];
  const tasks = { open: 0 };
  const room = (limit: number): Promise<void> =>
    tasks.open < limit
      ? Promise.resolve()
      : new Promise((resolve) => waiting.push({ limit, resolve }));
  const queue: Serializer['queue'] = (id, task) => {
    tasks.open += 1;
    const before = tails.get(id) ?? Promise.resolve();
    const tail = before
      .then(task)
      .catch((error: unknown) => onError(id, error))
      .then(() => {
        if (tails.get(id) === tail) tails.delete(id);
        tasks.open -= 1;
        for (const waiter of waiting.splice(0)) {
          if (tasks.open < waiter.limit) waiter.resolve();
          else waiting.push(waiter);
        }
      });
    tails.set(id, tail);
    return tail;
  };
  const isBusy = (id: string): boolean => tails.has(id);
  return { tasks: tasks as Serializer['tasks'], queue, isBusy, room, idle: () => room(1) };
}

/** How many writes of one document came after `rev`, up to `later`: each counts up its first number. */
export function writesBetween(rev: string, later: string): number {
  return Number.parseInt(later, 10) - Number.parseInt(rev, 10);
}

/** What documents mean. A version is read once, and one of our own making not at all. */
export type ParsedJobs = {
  /** Reads a document piece by piece; the event loop goes on in between. */
  readonly read: (doc: StoredDocument) => Promise<Parsed>;
  /** The document is our own: `job` was written as it. */
  readonly know: (doc: StoredDocument, job: Job) => void;
  /** The documents that are our own: what is in them was decided here. */
  readonly own: Pick<WeakSet<StoredDocument>, 'has'>;
};

export function createParsedJobs(onDecide?: OnDecide): ParsedJobs {
  const known = new WeakMap<StoredDocument, Parsed>();
  const own = new WeakSet<StoredDocument>();
  return {
    read: async (doc) => {
      const before = known.get(doc);
      if (before !== undefined) return before;
      // Somebody else in this process may have written it: the API, for workers.
      const made = knownJob(doc);
      const given = blockedEnginesKey in doc ? withoutBlockedEngines(doc) : doc;
      const parsed: Parsed = made
        ? { kind: 'job', ok: true, value: made }
        : await parseInTurns(given, onDecide);
      known.set(doc, parsed);
      return parsed;
    },
    know: (doc, job) => {
      known.set(doc, { kind: 'job', ok: true, value: job });
      own.add(doc);
    },
    own,
  };
}

/** Reads a document that may be long. */
export function parseInTurns(doc: StoredDocument, onDecide?: OnDecide): Promise<Parsed> {
  return takeTurns(parseInPieces(doc), (piece) => withCurrentJob(onDecide, doc._id, piece));
}
