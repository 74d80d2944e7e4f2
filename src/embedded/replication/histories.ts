import { createLru } from '../../memo.js';
import { randomUUID } from 'node:crypto';

import type { ReplicationProgress } from '../../replicator.js';

/** How many sessions of a replication an answer tells, and of how many replications, while the server runs. */
const MAX_SESSIONS = 50;
const MAX_REPLICATIONS = 200;

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

/** What replications did before, newest first. */
export type Histories = {
  /** CouchDB's answer to a replication that ended, its own session included. */
  answer(id: string, startedAt: number, progress: ReplicationProgress): object;
};

export function createHistories(): Histories {
  const histories = createLru<Session[]>(MAX_REPLICATIONS);
  return {
    answer(id, startedAt, progress) {
      const before = histories.get(id) ?? [];
      const unchanged = progress.docs_read === 0;
      const history = unchanged ? before : [session(startedAt, progress, before[0]), ...before];
      histories.set(id, history.slice(0, MAX_SESSIONS));
      return {
        ok: true,
        ...(unchanged ? { no_changes: true } : {}),
        session_id: history[0]?.session_id ?? newId(),
        source_last_seq: progress.last_seq,
        replication_id_version: 4,
        history,
      };
    },
  };
}

const newId = (): string => randomUUID().replaceAll('-', '');

function session(
  startedAt: number,
  progress: ReplicationProgress,
  before: Session | undefined,
): Session {
  const { docs_read, docs_written, doc_write_failures, last_seq } = progress;
  return {
    session_id: newId(),
    start_time: new Date(startedAt).toUTCString(),
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
