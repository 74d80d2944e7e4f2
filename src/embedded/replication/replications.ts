import { createHash, randomUUID } from 'node:crypto';

import { CouchError, refuse } from '../http/couch-error.js';
import { createHistories } from './histories.js';
import {
  replicate,
  type ReplicationPeer,
  type ReplicationProgress,
  type ReplicationOptions,
  type RunningReplication,
} from '../../replicator.js';

/** A replication as `POST /_replicate` asks for it, both sides resolved to URLs. */
export type ReplicationRequest = {
  readonly source: ReplicationPeer;
  readonly target: ReplicationPeer;
  readonly options: Omit<ReplicationOptions, 'retry'>;
};

/** The row of a replication in `_active_tasks` and `_scheduler/jobs`. */
export type ReplicationTask = {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly continuous: boolean;
  readonly startedAt: number;
  readonly progress: ReplicationProgress;
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

const NOTHING: ReplicationProgress = {
  docs_read: 0,
  docs_written: 0,
  doc_write_failures: 0,
  last_seq: 0,
};

export function createReplications(): Replications {
  const entries = new Map<string, Entry>();
  const histories = createHistories();

  const open = (id: string, { source, target, options }: ReplicationRequest): Entry => {
    const running = replicate(source, target, { ...options, retry: options.live }, (progress) => {
      entry.task = { ...entry.task, progress };
    });
    const entry: Entry = { running, task: newTask(id, source, target, options.live) };
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
      return histories.answer(idOf(request), entry.task.startedAt, progress);
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

const newTask = (
  id: string,
  source: ReplicationPeer,
  target: ReplicationPeer,
  continuous: boolean,
): ReplicationTask => ({
  id,
  source: source.url,
  target: target.url,
  continuous,
  startedAt: Date.now(),
  progress: NOTHING,
});

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
