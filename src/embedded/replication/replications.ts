import { createHash, randomUUID } from 'node:crypto';

import { CouchError, refuse } from '../http/couch-error.js';
import {
  replicate,
  type Peer,
  type Progress,
  type ReplicationOptions,
  type RunningReplication,
} from './pouch-replicate.js';

/** A replication as `POST /_replicate` asks for it, both sides resolved to URLs. */
export type ReplicationRequest = {
  readonly source: Peer;
  readonly target: Peer;
  readonly options: Omit<ReplicationOptions, 'retry'>;
};

/** The row of a replication in `_active_tasks` and `_scheduler/jobs`. */
export type ReplicationTask = {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly continuous: boolean;
  readonly startedAt: number;
  readonly progress: Progress;
};

/** The replications of this server; they end with it. */
export type Replications = {
  /** Runs to the end and answers with CouchDB's summary. @throws CouchError 500 */
  run(request: ReplicationRequest): Promise<object>;
  /** Starts a continuous one; starting the same again changes nothing. Returns its id. */
  start(request: ReplicationRequest): string;
  /** @throws CouchError 404 */
  cancel(id: string): void;
  idOf(request: ReplicationRequest): string;
  tasks(): readonly ReplicationTask[];
  close(): Promise<void>;
};

type Entry = { readonly running: RunningReplication; task: ReplicationTask };

/** How many sessions of a replication its answer tells, and of how many replications, as long as the server runs. */
const MAX_SESSIONS = 50;
const MAX_HISTORIES = 200;

const NOTHING: Progress = { docs_read: 0, docs_written: 0, doc_write_failures: 0, last_seq: 0 };

export function createReplications(): Replications {
  const entries = new Map<string, Entry>();
  const histories = new Map<string, Session[]>();

  const open = (id: string, { source, target, options }: ReplicationRequest): Entry => {
    const running = replicate(source, target, { ...options, retry: options.live }, (progress) => {
      entry.task = { ...entry.task, progress };
    });
    const entry: Entry = {
      running,
      task: {
        id,
        source: source.url,
        target: target.url,
        continuous: options.live,
        startedAt: Date.now(),
        progress: NOTHING,
      },
    };
    entries.set(id, entry);
    const forget = (): void => void entries.delete(id);
    running.done.then(forget, forget);
    return entry;
  };

  return {
    idOf,
    async run(request) {
      const entry = open(`${idOf(request)}-${randomUUID()}`, request);
      const progress = await entry.running.done.catch((error: unknown) => {
        throw failure(error);
      });
      const id = idOf(request);
      const history = histories.get(id) ?? [];
      const unchanged = progress.docs_read === 0;
      if (!unchanged) history.unshift(sessionOf(entry.task, progress, history[0]));
      histories.delete(id);
      histories.set(id, history.slice(0, MAX_SESSIONS));
      for (const oldest of histories.keys()) {
        if (histories.size <= MAX_HISTORIES) break;
        histories.delete(oldest);
      }
      return {
        ok: true,
        ...(unchanged ? { no_changes: true } : {}),
        session_id: history[0]?.session_id ?? newSession(),
        source_last_seq: progress.last_seq,
        replication_id_version: 4,
        history,
      };
    },
    start(request) {
      const id = idOf(request);
      if (!entries.has(id)) {
        // A continuous replication retries; what ends it is shown by its absence.
        open(id, request).running.done.catch(() => undefined);
      }
      return id;
    },
    cancel(id) {
      const entry = entries.get(id);
      if (entry === undefined) throw refuse.missing();
      entry.running.cancel();
      entries.delete(id);
    },
    tasks: () => [...entries.values()].map((entry) => entry.task),
    async close() {
      const all = [...entries.values()];
      for (const { running } of all) running.cancel();
      await Promise.allSettled(all.map(({ running }) => running.done));
    },
  };
}

function idOf({ source, target, options }: ReplicationRequest): string {
  const identity = JSON.stringify([source.url, target.url, options]);
  return createHash('md5').update(identity).digest('hex');
}

/** CouchDB's words for a side that cannot be reached or refuses. */
function failure(error: unknown): CouchError {
  const {
    status,
    message = String(error),
    reason = message,
  } = error as {
    status?: number;
    message?: string;
    reason?: string;
  };
  if (status === 404)
    return new CouchError(404, 'db_not_found', `could not open a database: ${reason}`);
  if (status === 401 || status === 403) return new CouchError(status, 'unauthorized', reason);
  return new CouchError(500, 'replication_failed', reason);
}

/** One run of a replication, as CouchDB keeps them. */
type Session = {
  readonly session_id: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly start_last_seq: unknown;
  readonly end_last_seq: unknown;
  readonly recorded_seq: unknown;
  readonly missing_checked: number;
  readonly missing_found: number;
  readonly docs_read: number;
  readonly docs_written: number;
  readonly doc_write_failures: number;
};

const newSession = (): string => randomUUID().replaceAll('-', '');

function sessionOf(
  task: ReplicationTask,
  progress: Progress,
  before: { readonly end_last_seq: unknown } | undefined,
): Session {
  const { docs_read, docs_written, doc_write_failures, last_seq } = progress;
  return {
    session_id: newSession(),
    start_time: new Date(task.startedAt).toUTCString(),
    end_time: new Date().toUTCString(),
    start_last_seq: before?.end_last_seq ?? 0,
    end_last_seq: last_seq,
    recorded_seq: last_seq,
    missing_checked: docs_read,
    missing_found: docs_read,
    docs_read,
    docs_written,
    doc_write_failures,
  };
}
