import type { Clock } from '../../clock/clock.js';
import type { QuickCheckWorld } from '../../decide/compete/quick-check.js';
import type { StoredDocument } from '../../model/document.js';
import type { TwsError } from '../../errors.js';
import type { Wait } from '../../decide/intent.js';
import type { Store } from '../../store/store.js';
import type { Breaker } from './breaker.js';
import type { Replicas } from '../../replicas/replicas.js';
import type { Decider } from './decision.js';
import type { ReadDocument } from './fetch.js';
import type { ParsedJobs, Serializer } from './serializer.js';
import type { RunningAttempts } from '../attempts/running-attempts.js';
import type { Rates } from '../locks/rates.js';
import type { Locks } from '../locks/locks.js';
import type { Log, LogOnce } from '../log.js';
import type { Notifications } from '../events/notifications.js';
import type { WaitQueue } from '../waiting/wait-queue.js';
import type { Retry } from '../retry.js';
import type { PermitQueues } from '../locks/permit-queues.js';
import type { SystemEvents } from '../events/system-events.js';
import type { Timers } from '../waiting/timers.js';

/** The parts of an engine that have to do with jobs. */
export type JobParts = {
  readonly store: Store;
  readonly readDocument: ReadDocument;
  readonly serializer: Serializer;
  readonly parsedJobs: ParsedJobs;
  readonly attempts: RunningAttempts;
  readonly waitQueue: WaitQueue;
  readonly permitQueues: PermitQueues;
  readonly timers: Timers;
  readonly replicas: Replicas;
  readonly decider: Decider;
  readonly breaker: Breaker;
  readonly locks: Locks;
  readonly rates: Rates;
  /** Those that wake a job from a wait. */
  readonly rateTimers: Timers;
  readonly timersOf: (wait: Wait) => Timers;
  readonly notifications: Notifications;
  readonly events: SystemEvents;
  /** A job that belongs to a schedule has ended. */
  readonly onJobEnd: (job: StoredDocument) => void;
  /** How long a document may be, bytes; known once the database was asked. */
  readonly documentLimit: { bytes: number };
  /** The part of the world that a quick check needs of a version that was first seen then. */
  readonly bystanders: (seenAt: number) => QuickCheckWorld;
  readonly now: () => number;
  readonly clock: Clock;
  /** So far ahead times are kept in memory, ms. */
  readonly horizonMs: () => number;
  /** So many engines one after the other may be ended for the sake of a job. */
  readonly crashLimit: number;
  readonly retry: Retry;
  /** Aborted: nothing is written any more. */
  readonly life: AbortController;
  readonly log: Log;
  /** Logs once what stays the same while a job cannot be stored. */
  readonly once: LogOnce;
  /** Has the engine stop by itself, for that reason; it takes nothing more from now on. */
  readonly fail: (reason: TwsError) => void;
};
