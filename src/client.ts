import { findDefinition, setEnabled, type DefinitionKind } from './client/definitions.js';
import { explainJob, type Explained } from './client/explain-job.js';
import {
  requestJob,
  submitJob,
  type JobToSubmit,
  type Requested,
  type RequestOptions,
  type Submitted,
} from './client/jobs.js';
import { jobHistory, type HistoryEvent } from './client/history.js';
import {
  announceEvent,
  sendSignal,
  type EventToAnnounce,
  type SignalToSend,
} from './client/messages.js';
import {
  listEngines,
  listJobs,
  listOf,
  type FailedJobs,
  type JobFilter,
  type JobList,
} from './client/lists.js';
import { lookUp, type LookUp } from './client/look-up.js';
import type { Pulse } from './client/pulse.js';
import { watchJob, type WatchOptions } from './client/watch.js';
import { removeDocument, writeDocument } from './client/writes.js';
import type { EngineDocument } from './model/engine.js';
import type { StoredDocument } from './model/parse.js';
import type { RequestAction } from './model/request.js';
import type { Store } from './store/store.js';
import type { NewDocument } from './store/writer.js';

export type { DefinitionKind } from './client/definitions.js';
export type { Reason } from './client/explain.js';
export type { EventLevel, HistoryEvent } from './client/history.js';
import { resultOf } from './client/results.js';
export type { EventToAnnounce, SignalToSend } from './client/messages.js';
export type { Explained } from './client/explain-job.js';
export type {
  JobToSubmit,
  Requested,
  RequestDetails,
  RequestOptions,
  Submitted,
} from './client/jobs.js';
export { createPulse, renewedAt, usualLeaseMs, type Pulse } from './client/pulse.js';
export { isAway, type WatchOptions } from './client/watch.js';
export type { JobFilter, JobList } from './client/lists.js';
export { documentKinds, type DocumentKind, type LookUp } from './client/look-up.js';
export { jobFilters, mostCounted } from './client/lists.js';
export {
  inspectServer,
  open,
  prepareDatabase,
  pushDesign,
  type Opened,
  type Prepared,
  type ServerReport,
} from './client/open.js';

/**
 * Everything a person or a program does with the documents of one database. Every function may
 * throw the TwsErrors of a server that is out of reach or refuses (`couch_*`, `database_missing`).
 */
export type Client = {
  /**
   * Stores a new job; with an `_id` of its own a repeated submit finds the first one.
   * @throws TwsError `id_taken` when that id belongs to another order, `document_refused`
   */
  readonly submit: (job: JobToSubmit) => Promise<Submitted>;
  /** A document, or undefined when there is none of that id. */
  readonly get: (id: string) => Promise<StoredDocument | undefined>;
  /**
   * The result of a step of a job, named by its name, `<task>-<n>` or path; of a large one the content
   * of its attachment. @throws TwsError `result_missing`
   */
  readonly result: (job: StoredDocument, step: string) => Promise<unknown>;
  /** The documents of a name and owner; more than one is an ambiguity somebody has to end. */
  readonly find: (
    kind: DefinitionKind,
    name: string,
    owner: string,
  ) => Promise<readonly StoredDocument[]>;
  /**
   * The documents that a word may mean: the one of that id, else tasks and flows of that name (`name`
   * or `name::owner`), else the jobs of a flow of that name.
   */
  readonly lookUp: (given: string, options?: LookUp) => Promise<readonly StoredDocument[]>;
  /** All tasks or flows, by name. */
  readonly definitions: (kind: DefinitionKind) => Promise<readonly StoredDocument[]>;
  /** Jobs of a kind, at most `limit`. */
  readonly jobs: (filter: JobFilter, limit: number, which?: FailedJobs) => Promise<JobList>;
  /** The engines that have a document: running, draining and stopped ones. */
  readonly engines: () => Promise<readonly EngineDocument[]>;
  /**
   * Follows a job from its state now until it is final and answers the final document; undefined
   * when it was removed or the signal ended the watch.
   * @throws TwsError `document_missing`
   */
  readonly watch: (id: string, options?: WatchOptions) => Promise<StoredDocument | undefined>;
  /**
   * Why a job does not move, from the documents alone. Whoever looks again and again keeps a `pulse`
   * (`createPulse`), which sees by and by which engines live.
   * @throws TwsError `document_missing`, `document_kind`
   */
  readonly explain: (id: string, pulse?: Pulse) => Promise<Explained>;
  /**
   * Stores a request to a job and waits `waitMs` (5000) for an engine to apply it.
   * @throws TwsError `document_missing`, `document_kind`, `job_ended`, `request_refused`
   */
  readonly request: (
    job: string,
    action: RequestAction,
    options?: RequestOptions,
  ) => Promise<Requested>;
  /** What has happened in a job, as ordered events. @throws TwsError as `explain` */
  readonly history: (id: string) => Promise<readonly HistoryEvent[]>;
  /** Stores a signal to a job, which may be submitted later; answers the id of the document. */
  readonly signal: (signal: SignalToSend) => Promise<string>;
  /**
   * Announces an event to all jobs that wait for it, now or later; answers the id of the document.
   * @throws TwsError `document_conflict` when it was announced before
   */
  readonly announce: (event: EventToAnnounce) => Promise<string>;
  /**
   * Enables or disables a flow, named by id or as `name` or `name::owner`. `changed` is false when
   * it was so already. @throws TwsError `definition_missing`, `definition_ambiguous`, `document_conflict`
   */
  readonly setEnabled: (
    flow: string,
    enabled: boolean,
    owner: string,
  ) => Promise<{ readonly id: string; readonly changed: boolean }>;
  /**
   * Writes a document on the revision it carries (none: it must be new) and answers the new
   * revision. @throws TwsError `document_conflict`, `document_refused`, `write_unknown`
   */
  readonly write: (doc: NewDocument) => Promise<string>;
  /** Deletes one revision. @throws as `write` */
  readonly remove: (id: string, rev: string) => Promise<void>;
};

/** Makes the client of an open store; it keeps nothing and closes nothing. */
export function createClient({ store }: { readonly store: Store }): Client {
  return {
    submit: (job) => submitJob(store, job),
    get: (id) => store.get(id),
    result: (job, step) => resultOf(store, job, step),
    find: (kind, name, owner) => findDefinition(store, kind, name, owner),
    lookUp: (given, options) => lookUp(store, given, options),
    definitions: (kind) => listOf(store, kind),
    jobs: (filter, limit, which) => listJobs(store, filter, limit, which),
    engines: () => listEngines(store),
    watch: (id, options) => watchJob(store, id, options),
    explain: (id, pulse) => explainJob(store, id, pulse),
    request: (job, action, options) => requestJob(store, job, action, options),
    history: (id) => jobHistory(store, id),
    signal: (signal) => sendSignal(store, signal),
    announce: (event) => announceEvent(store, event),
    setEnabled: (flow, enabled, owner) => setEnabled(store, { flow, enabled, owner }),
    write: (doc) => writeDocument(store, doc),
    remove: (id, rev) => removeDocument(store, id, rev),
  };
}
