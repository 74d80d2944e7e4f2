import {
  calledDefinition,
  chosenFlow,
  findDefinition,
  setEnabled,
  type ChooseFlow,
  type NamedKind,
} from './definitions.js';
import type { DefinitionKind, StoredDocument } from '../model/document.js';
import { failureGroups, type FailureGroups } from './failure-groups.js';
import { countJobs, jobSpans, type SpanQuery } from './figures.js';
import type { Explained } from './explain-job.js';
import type { TwsError } from '../errors.js';
import { submitJob, type JobToSubmit, type SubmitOptions, type Submitted } from './jobs.js';
import type { HistoryEvent } from './history.js';
import type { EventToAnnounce, SignalToSend } from './messages.js';
import {
  listEngines,
  listDefinitions,
  refusedMessages,
  unfinishedJobs,
  type RefusedMessage,
  type UnfinishedJobs,
} from './lists.js';
import { lookUpDocuments, type LookUpOptions } from './look-up.js';
import type { Pulse } from './pulse.js';
import {
  requestJob,
  requestJobs,
  type Requested,
  type RequestedOne,
  type RequestOptions,
} from './requests.js';
import { resultOf } from './results.js';
import type { RemoveJobOptions } from './remove-job.js';
import { serverUrl } from '../store/connection.js';
import { searchJobs, type FoundJobs, type JobSearch, type PageOptions } from './search.js';
import { submitJobs, type SubmittedOne } from './submit-many.js';
import {
  checkToken,
  createToken,
  listTokens,
  revokeToken,
  type NewToken,
  type TokenFacts,
} from './tokens.js';
import { otherParts, type OtherParts } from './other-parts.js';
import { watchJob, type WatchOptions } from './watch.js';
import type { QueueFacts, QueueSwitch, wrongQueueControls } from './queues.js';
import type { AnswerOptions } from './signal-answers.js';
import type { RetainOptions, RetainResult, RetentionState } from './retain.js';
import type { PassOptions, PassResult } from './retention.js';
import type { ArchivedJob, ArchivedJobWhole, ArchiveSearch } from './archive/archived-jobs.js';
import type { RestoredJob } from './archive/restore.js';
import type { ArchivesToRead } from './archives.js';
import type { Delivered, DeliveryOutcome } from './hooks/hooks.js';
import type { NextSlot, ScheduleChange } from './schedules.js';
import { removeDocument, writeDocument } from './writes.js';
import type { Delivery } from '../decide/hooks/decide-delivery.js';
import type { EngineDocument } from '../model/engine.js';
import type { Hook } from '../model/hook.js';
import type { SignalAnswer } from '../reading/signal-answer.js';
import type { Problem } from '../model/problems.js';
import type { Retain } from '../model/retain.js';
import type { RequestAction } from '../model/request.js';
import type { JobCounts, Span } from '../model/summary.js';
import type { Change } from '../store/change.js';
import type { FollowOptions } from '../store/feed.js';
import type { PastChanges } from '../store/past-changes.js';
import {
  signInUser,
  whoIs,
  type SignedIn,
  type SignInResult,
  type SigningIn,
} from '../store/sessions.js';
import { keepingDefinitions, sharingReads } from '../store/shared-reads.js';
import type { Store } from '../store/store.js';
import type { NewDocument } from '../store/writer.js';

/**
 * Everything a person or a program does with the documents of one database. Every function may
 * throw the TwsErrors of a server that is out of reach or refuses (`couch_*`, `database_missing`).
 */
export type Client = OtherParts & {
  /** The server, without credentials, and the database. */
  readonly place: { readonly url: string; readonly database: string };
  /**
   * Stores a new job; with an `_id` of its own a repeated submit finds the first one.
   * @throws TwsError `id_taken` when that id belongs to another order, `document_refused`
   */
  readonly submit: (job: JobToSubmit, options?: SubmitOptions) => Promise<Submitted>;
  /** Stores many new jobs, each by itself; answers in their order. */
  readonly submitMany: (
    jobs: readonly JobToSubmit[],
    options?: SubmitOptions,
  ) => Promise<readonly SubmittedOne[]>;
  /**
   * Those of new jobs that the engine would refuse, or tell a mistake of, with the first reason: a deprecated
   * flow, a search key that it does not declare, a sealed parameter. Jobs that are stored already, or whose
   * flow is not yet, are not among them.
   */
  readonly unwelcome: <J extends Readonly<Record<string, unknown>>>(
    jobs: readonly J[],
  ) => Promise<ReadonlyMap<J, Problem>>;
  /** The job with the same `unique` key that counts for a new one now; it is not kept from ending. */
  readonly uniqueRival: (
    job: JobToSubmit & { readonly _id: string },
  ) => Promise<StoredDocument | undefined>;
  /** Why jobs cannot be stored together, as far as their `unique` keys go: they are taken, or have no answer. */
  readonly uniqueConflicts: <J extends JobToSubmit & { readonly _id: string }>(
    jobs: readonly J[],
  ) => Promise<ReadonlyMap<J, TwsError>>;
  /** A document, or undefined when there is none of that id. */
  readonly get: (id: string) => Promise<StoredDocument | undefined>;
  /** Those of the documents that exist, by id. */
  readonly getMany: (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredDocument>>;
  /**
   * The result of a step of a job, named by its name, `<task>-<n>` or path; of a large one the content
   * of its attachment. @throws TwsError `result_missing`
   */
  readonly result: (job: StoredDocument, step: string) => Promise<unknown>;
  /** The documents of a name and owner; more than one is an ambiguity somebody has to end. */
  readonly find: (
    kind: NamedKind,
    name: string,
    owner: string,
  ) => Promise<readonly StoredDocument[]>;
  /** As `find`; while the feed is followed by `followKeeping`, as it was a moment ago. */
  readonly findKept: Client['find'];
  /** Which document of a flow counts, as engines choose: the current version, or the one that is asked for. */
  readonly chosenFlow: ChooseFlow;
  /**
   * The documents that a word may mean: the one of that id, else tasks and flows of that name (`name`
   * or `name::owner`), else the jobs of a flow of that name.
   */
  readonly lookUp: (given: string, options?: LookUpOptions) => Promise<readonly StoredDocument[]>;
  /** All tasks or flows, by name. */
  readonly definitions: (kind: DefinitionKind) => Promise<readonly StoredDocument[]>;
  /**
   * A task, flow, schedule or hook by its id, where `isMeant` agrees, or as `name` or `name::owner`; undefined when
   * there is none.
   * @throws TwsError `definition_ambiguous`
   */
  readonly definition: (
    kind: NamedKind,
    called: string,
    owner: string,
    isMeant?: (doc: StoredDocument) => boolean,
  ) => Promise<StoredDocument | undefined>;
  /** All schedules by name; `owners`: of these only. */
  readonly schedules: (owners?: readonly string[]) => Promise<readonly StoredDocument[]>;
  /** The next slots of a schedule after a moment (epoch ms); none when it cannot be followed. */
  readonly nextSlots: (
    schedule: StoredDocument,
    count: number,
    after: number,
  ) => Promise<readonly NextSlot[]>;
  /**
   * Changes a schedule, and resolves with the document as it is stored then.
   * @throws TwsError `document_missing`, `document_kind`, `document_invalid`
   */
  readonly changeSchedule: (id: string, change: ScheduleChange) => Promise<StoredDocument>;
  /**
   * Submits a job of a schedule now (epoch ms), beside its slots.
   * @throws TwsError as `changeSchedule`
   */
  readonly runSchedule: (id: string, now: number, by?: string) => Promise<Submitted>;
  /** All hooks by name; `owners`: of these only. */
  readonly hooks: (owners?: readonly string[]) => Promise<readonly StoredDocument[]>;
  /** Says what a delivery to a hook would start; nothing is stored. */
  readonly judgeDelivery: (hook: Hook, delivery: Delivery) => Promise<DeliveryOutcome>;
  /**
   * Stores the job that a delivery to a hook starts, once for each name of a delivery.
   * @throws TwsError `id_taken`, `not_unique`, `document_refused`
   */
  readonly deliver: (hook: Hook, delivery: Delivery, options?: SubmitOptions) => Promise<Delivered>;
  /** Jobs that are searched for, newest first, page by page. @throws TwsError `cursor_invalid` */
  readonly search: (search: JobSearch, page: PageOptions) => Promise<FoundJobs>;
  /** How many jobs there are, by status; `owners`: of these only. */
  readonly count: (owners?: readonly string[]) => Promise<JobCounts>;
  /** The failed jobs by cause, the most first; `owners`: of these only. */
  readonly failures: (owners?: readonly string[]) => Promise<FailureGroups>;
  /** How many jobs ended when, and how long they took. */
  readonly spans: (query: SpanQuery) => Promise<readonly Span[]>;
  /** Jobs that have not ended, at most `limit`. */
  readonly unfinished: (limit: number) => Promise<UnfinishedJobs>;
  /** Requests and signals that no job could take, at most `limit`. @throws TwsError `view_missing` */
  readonly refused: (limit: number) => Promise<readonly RefusedMessage[]>;
  /** The engines that have a document: running, disabled, draining and stopped ones. */
  readonly engines: () => Promise<readonly EngineDocument[]>;
  /**
   * Follows a job from its state now until it is final and answers the final document; undefined
   * when it was removed or the signal ended the watch.
   * @throws TwsError `document_missing`
   */
  readonly watch: (id: string, options?: WatchOptions) => Promise<StoredDocument | undefined>;
  /**
   * Why a job does not move, from the documents alone. Whoever looks again and again keeps a `pulse`
   * (`createPulse`), which sees by and by which engines live. Other jobs that hold it up are named where
   * `maySee` agrees; absent: always.
   * @throws TwsError `document_missing`, `document_kind`
   */
  readonly explain: (
    id: string,
    pulse?: Pulse,
    maySee?: (job: StoredDocument) => boolean,
  ) => Promise<Explained>;
  /**
   * Stores a request to a job and waits `waitMs` (5000) for an engine to apply it.
   * @throws TwsError `document_missing`, `document_kind`, `job_ended`, `request_refused`
   */
  readonly request: (
    job: string,
    action: RequestAction,
    options?: RequestOptions,
  ) => Promise<Requested>;
  /** Asks the same of many jobs, each by itself; answers in their order. */
  readonly requestMany: (
    jobs: readonly StoredDocument[],
    action: RequestAction,
    options: RequestOptions,
  ) => Promise<readonly RequestedOne[]>;
  /** What has happened in a job, as ordered events. @throws TwsError as `explain` */
  readonly history: (id: string) => Promise<readonly HistoryEvent[]>;
  /** Stores a signal to a job, which may be submitted later; answers the id of the document. */
  readonly signal: (signal: SignalToSend) => Promise<string>;
  /** Waits for what a job answers to a signal; `pending` when the time is over. */
  readonly answer: (
    sent: { readonly job: string; readonly id: string },
    options: AnswerOptions,
  ) => Promise<SignalAnswer>;
  /**
   * Announces an event to all jobs that wait for it, now or later; answers the id of the document.
   * @throws TwsError `event_announced` when it was announced before
   */
  readonly announce: (event: EventToAnnounce) => Promise<string>;
  /**
   * Enables or disables a flow, named by id or as `name` or `name::owner`, or an engine by its id
   * (`engine:…`, `*` for all). `changed` is false when it was so already.
   * @throws TwsError `definition_missing`, `definition_ambiguous`, `document_missing`, `document_conflict`
   */
  readonly setEnabled: (
    flow: string,
    enabled: boolean,
    owner: string,
  ) => Promise<{ readonly id: string; readonly changed: boolean }>;
  /**
   * The queues that engines serve or somebody controls, by name; always with the usual one. `known`: the
   * documents of the engines, where the caller has them.
   */
  readonly queues: (known?: readonly EngineDocument[]) => Promise<readonly QueueFacts[]>;
  /** The controls of queues that have a mistake, with what is wrong with each. */
  readonly wrongQueueControls: () => ReturnType<typeof wrongQueueControls>;
  /** The names of the queues that are paused. */
  readonly pausedQueues: () => Promise<ReadonlySet<string>>;
  /**
   * Pauses a queue, or lets it go on. `changed` is false when it was so already; `ids` are those of the
   * documents that say so. @throws TwsError `document_conflict`
   */
  readonly switchQueue: (
    wish: QueueSwitch,
  ) => Promise<{ readonly ids: readonly string[]; readonly changed: boolean }>;
  /**
   * Writes a document on the revision it carries (none: it must be new) and answers the new
   * revision. @throws TwsError `document_conflict`, `document_refused`, `write_unknown`
   */
  readonly write: (doc: NewDocument) => Promise<string>;
  /** Deletes one revision. @throws as `write` */
  readonly remove: (id: string, rev: string) => Promise<void>;
  /**
   * Deletes a job that has ended, with `children` those that it made as well; answers their ids.
   * @throws TwsError `document_missing`, `job_unfinished`, `job_family_large`
   */
  readonly removeJob: (id: string, options?: RemoveJobOptions) => Promise<readonly string[]>;
  /**
   * Removes the jobs that `retain` of their flows, or the default, does not keep. `retention` does it where no
   * other process does.
   */
  readonly retain: (options?: RetainOptions) => Promise<RetainResult>;
  readonly retention: (options: PassOptions) => Promise<PassResult>;
  /** Whether anything says which jobs go, and what of it cannot be followed; reads the flows only. */
  readonly readRetention: (usual?: Retain) => Promise<RetentionState>;
  /** The jobs in the archives that `retain` of flows and the default name. @throws TwsError `archive_failed` */
  readonly archived: (
    from: ArchivesToRead,
    search?: ArchiveSearch,
  ) => Promise<readonly ArchivedJob[]>;
  /** An archived job with all documents that went with it. @throws TwsError `archived_missing`, `archive_failed` */
  readonly archivedJob: (
    from: ArchivesToRead,
    search: ArchiveSearch & { readonly job: string },
  ) => Promise<ArchivedJobWhole>;
  /**
   * Puts an archived job back, with its child jobs and notifications.
   * @throws TwsError as `archivedJob`, and `restore_taken`
   */
  readonly restore: (from: ArchivesToRead, job: string) => Promise<RestoredJob>;
  /** Where the feed stands now. */
  readonly position: () => Promise<string>;
  /** Follows the feed until its signal aborts; see `FollowOptions`. */
  readonly follow: (options: FollowOptions) => AsyncIterable<Change>;
  /** As `follow`; meanwhile what is read of definitions and controls is kept until it changes, see `KeptAnswers`. */
  readonly followKeeping: (options: FollowOptions) => AsyncIterable<Change>;
  /** What has changed between a position and now, so many changes at most. */
  readonly changes: (since: string, limit: number) => Promise<PastChanges>;
  /** Signs somebody in against CouchDB's own users. */
  readonly signIn: (credentials: SigningIn) => Promise<SignInResult>;
  /** Whose session of CouchDB it is; undefined when it has ended. */
  readonly whoIs: (cookie: string) => Promise<SignedIn | undefined>;
  /** Makes a bearer token for a program; `token` is told this once and kept nowhere. */
  readonly createToken: (token: NewToken) => Promise<TokenFacts & { readonly token: string }>;
  /** All tokens, without what proves them. */
  readonly tokens: () => Promise<readonly TokenFacts[]>;
  /** Makes a token invalid. @throws TwsError `document_missing` */
  readonly revokeToken: (id: string) => Promise<void>;
  /** What a token stands for; undefined when it is none, or not valid any more. */
  readonly checkToken: (token: string) => Promise<TokenFacts | undefined>;
};

/**
 * What brings the rules of the engines along, half of the start of a command: loaded when it is asked
 * for, which most commands never do.
 */
const rules = {
  answers: () => import('./signal-answers.js'),
  archives: () => import('./archives.js'),
  explain: () => import('./explain-job.js'),
  history: () => import('./history.js'),
  hooks: () => import('./hooks/hooks.js'),
  messages: () => import('./messages.js'),
  queues: () => import('./queues.js'),
  remove: () => import('./remove-job.js'),
  retain: () => import('./retain.js'),
  retention: () => import('./retention.js'),
  schedules: () => import('./schedules.js'),
  unwelcome: () => import('./unwelcome-jobs.js'),
  unique: () => import('./unique-rival.js'),
};

/** Makes the client of an open store; it keeps nothing and closes nothing. */
export function createClient({ store }: { readonly store: Store }): Client {
  const { connection } = store;
  const shared = sharingReads(store);
  const keeping = keepingDefinitions(shared);
  return {
    place: { url: serverUrl(connection), database: connection.database },
    submit: (job, options) => submitJob(store, job, options),
    submitMany: (jobs, options) => submitJobs(store, jobs, options),
    unwelcome: async (jobs) => (await rules.unwelcome()).unwelcomeJobs(keeping, jobs),
    uniqueRival: async (job) => (await rules.unique()).rivalOfNew(store, job),
    uniqueConflicts: async (jobs) => (await rules.unique()).uniqueConflicts(store, jobs),
    get: (id) => shared.get(id),
    getMany: (ids) => store.getMany(ids),
    result: (job, step) => resultOf(store, job, step),
    find: (kind, name, owner) => findDefinition(shared, kind, name, owner),
    findKept: (kind, name, owner) => findDefinition(keeping, kind, name, owner),
    chosenFlow: (named, ask) => chosenFlow(shared, named, ask),
    lookUp: (given, options) => lookUpDocuments(store, given, options),
    definitions: (kind) => listDefinitions(store, kind),
    definition: (kind, called, owner, isMeant) =>
      calledDefinition(store, { kind, called, owner, isMeant }),
    search: (search, page) => searchJobs(store, search, page),
    count: (owners) => countJobs(store, owners),
    failures: (owners) => failureGroups(store, owners),
    spans: (query) => jobSpans(store, query),
    unfinished: (limit) => unfinishedJobs(store, limit),
    refused: (limit) => refusedMessages(store, limit),
    engines: () => listEngines(store),
    watch: (id, options) => watchJob(store, id, options),
    explain: async (id, pulse, maySee) =>
      (await rules.explain()).explainJob(store, id, pulse, maySee),
    request: (job, action, options) => requestJob(store, job, action, options),
    requestMany: (jobs, action, options) => requestJobs(store, jobs, action, options),
    ...startingJobs(store),
    history: async (id) => (await rules.history()).jobHistory(store, id),
    signal: async (signal) => (await rules.messages()).sendSignal(store, signal),
    answer: async (sent, options) => (await rules.answers()).answerOfSignal(store, sent, options),
    announce: async (event) => (await rules.messages()).announceEvent(store, event),
    queues: async (known) => (await rules.queues()).listQueues(store, known),
    wrongQueueControls: async () => (await rules.queues()).wrongQueueControls(store),
    pausedQueues: async () => (await rules.queues()).pausedQueues(store),
    switchQueue: async (wish) => (await rules.queues()).switchQueue(store, wish),
    setEnabled: (flow, enabled, owner) => setEnabled(store, { flow, enabled, owner }),
    write: (doc) => writeDocument(store, doc),
    remove: async (id, rev) => void (await removeDocument(store, id, rev)),
    removeJob: async (id, options) => (await rules.remove()).removeJob(store, id, options),
    ...{ ...removing(store), ...otherParts(store, keeping) },
    position: async () => (await store.info()).updateSeq,
    follow: (options) => store.follow(options),
    followKeeping: (options) => store.kept.following(store.follow, options),
    changes: (since, limit) => store.changes(since, limit),
    signIn: (credentials) => signInUser(store.connection, credentials),
    whoIs: (cookie) => whoIs(store.connection, cookie),
    createToken: (token) => createToken(store, token, Date.now()),
    tokens: () => listTokens(store),
    revokeToken: (id) => revokeToken(store, id),
    checkToken: (token) => checkToken(store, token, Date.now()),
  };
}

/** What starts jobs: schedules and hooks. */
function startingJobs(
  store: Store,
): Pick<
  Client,
  | ('schedules' | 'nextSlots' | 'changeSchedule' | 'runSchedule')
  | ('hooks' | 'judgeDelivery' | 'deliver')
> {
  return {
    schedules: (owners) => listDefinitions(store, 'schedule', owners),
    nextSlots: async (schedule, count, after) =>
      (await rules.schedules()).nextSlots(schedule, count, after),
    changeSchedule: async (id, change) =>
      (await rules.schedules()).changeSchedule(store, id, change),
    runSchedule: async (id, now, by) => (await rules.schedules()).runSchedule(store, id, now, by),
    hooks: (owners) => listDefinitions(store, 'hook', owners),
    judgeDelivery: async (hook, delivery) => (await rules.hooks()).judgeDelivery(hook, delivery),
    deliver: async (hook, delivery, options) =>
      (await rules.hooks()).deliverToHook(store, hook, delivery, options),
  };
}

/** What removes old jobs, and what is left of them. */
function removing(
  store: Store,
): Pick<
  Client,
  ('retain' | 'retention' | 'readRetention') | ('archived' | 'archivedJob' | 'restore')
> {
  return {
    retain: async (options) => (await rules.retain()).retainJobs(store, options),
    retention: async (options) => (await rules.retention()).runRetention(store, options),
    readRetention: async (usual) => (await rules.retain()).readRetention(store, usual),
    archived: async (from, search) => (await rules.archives()).listArchived(store, from, search),
    archivedJob: async (from, search) => (await rules.archives()).findArchived(store, from, search),
    restore: async (from, job) => (await rules.archives()).restoreArchived(store, from, job),
  };
}
