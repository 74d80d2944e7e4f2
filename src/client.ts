/**
 * What the CLI, the HTTP API and programs of your own use of the client. What needs the rules of the
 * engines is in `client-rules.ts`: commands that do without start in half the time.
 */
export { createClient, type Client } from './client/client.js';
export { spanMs, spanUnits, type SpanQuery, type SpanUnit } from './client/figures.js';
export { makeDatabaseId, readDatabaseIds } from './client/database-id.js';
export { clockAhead } from './decide/retention/clock.js';
export { overdueSubjects } from './decide/retention/subjects.js';
export { newDefinitionId, type FlowName, type NamedKind } from './client/definitions.js';
export type { MadeCurrent } from './client/flow-versions.js';
export type { Migration } from './client/migrations.js';
export type { FoundJobs, JobSearch, PageOptions } from './client/search.js';
export { queueOfDocument } from './reading/entries.js';
export { readSteps, type StepReading } from './reading/step-reading.js';
export type { SubmittedOne } from './client/submit-many.js';
export type { DefinitionKind } from './model/document.js';
export type { JobCounts, JobSummary, Span } from './model/summary.js';
export type { NewToken, TokenFacts } from './client/tokens.js';
export type { Change } from './store/change.js';
export type { FeedState } from './store/feed.js';
export { readServerClock } from './store/server-clock.js';
export type { PastChanges } from './store/past-changes.js';
export type { SignedIn, SignInResult } from './store/sessions.js';
export type { WriteBatch, StoreOptions } from './store/store.js';
export type { Reason } from './client/reason.js';
export type { EventLevel, HistoryEvent } from './client/history.js';
export type { EventToAnnounce, SignalToSend } from './client/messages.js';
export type { AnswerOptions } from './client/signal-answers.js';
export type { SignalAnswer } from './reading/signal-answer.js';
export type { CachedRow } from './client/cached-results.js';
export type { RetainOptions, RetainProgress, RetainResult } from './client/retain.js';
export { archivedFactsSchema } from './client/archive/archive.js';
export type { ArchivesToRead } from './client/archives.js';
export type { PassOptions, PassResult } from './client/retention.js';
export type { Gathered, GatheredFacts, GatheredQuery } from './client/gatherings.js';
export type { FormAnswer, Inbox, InboxQuery } from './client/inbox.js';
export type { LinkedForm } from './client/link-answers.js';
export type { OpenForm } from './reading/open-forms.js';
export type { LimitFacts, LimitsInUse, LimitsQuery } from './client/limits.js';
export type { QueueFacts, QueueSwitch } from './client/queues.js';
export type {
  ArchivedJob,
  ArchivedJobWhole,
  ArchiveSearch,
} from './client/archive/archived-jobs.js';
export type { RestoredJob } from './client/archive/restore.js';
export type { NextSlot, ScheduleChange } from './client/schedules.js';
export type { Delivered, DeliveryOutcome } from './client/hooks/hooks.js';
export { isProved, proofOf, type HookProof, type HookRequest } from './client/hooks/check.js';
export type { Delivery } from './decide/hooks/decide-delivery.js';
export type { NotifyTarget, NotifyTest, TestedEvent } from './client/notify.js';
export type { Explained } from './client/explain-job.js';
export { isEndedJob, type JobToSubmit, type SubmitOptions, type Submitted } from './client/jobs.js';
export type { Requested, RequestDetails, RequestedOne, RequestOptions } from './client/requests.js';
export { createPulse, renewedAt, type Pulse } from './client/pulse.js';
export { usualLeaseMs } from './model/engine.js';
export { isAway, type WatchOptions } from './client/watch.js';
export type { TakenWork, WorkerStep, WorkWanted } from './client/work.js';
export type { WorkAnswer } from './client/work-answer.js';
export { documentKinds, type DocumentKind, type LookUpOptions } from './client/look-up.js';
export { everyJob } from './client/every-job.js';
export {
  connectionOf,
  guardCost,
  inspectServer,
  openDatabase,
  prepareDatabase,
  pushDesign,
  type GuardCost,
  type Opened,
  type PreparedDatabase,
  type ServerReport,
} from './client/open.js';
export { formKeyOf } from './client/begun-forms.js';
