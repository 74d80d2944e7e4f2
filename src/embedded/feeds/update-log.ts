import type { DatabaseEvent } from '../databases/databases.js';
import { createSleepers } from './sleepers.js';

const MAX_ENTRIES = 1_000;

export type Update = {
  readonly seq: number;
  readonly db_name: string;
  readonly type: DatabaseEvent;
};

/** What happened to databases since the server started, the newest event of each, for `_db_updates`. */
export type UpdateLog = {
  add(name: string, event: DatabaseEvent): void;
  after(since: number): readonly Update[];
  last(): number;
  /** Resolves when something happened after `since`, or the wait was aborted. */
  wait(since: number, signal: AbortSignal): Promise<void>;
};

export function createUpdateLog(): UpdateLog {
  let entries: Update[] = [];
  let seq = 0;
  const sleepers = createSleepers();
  return {
    add(name, type) {
      seq += 1;
      // Mostly it is the database of the event before: nothing has to be searched then.
      if (entries.at(-1)?.db_name === name) entries.pop();
      else entries = entries.filter((entry) => entry.db_name !== name).slice(-MAX_ENTRIES);
      entries.push({ seq, db_name: name, type });
      sleepers.wakeBefore(seq);
    },
    after: (since) => entries.filter((entry) => entry.seq > since),
    last: () => seq,
    wait: (since, signal) => (seq > since ? Promise.resolve() : sleepers.sleep(since, signal)),
  };
}
