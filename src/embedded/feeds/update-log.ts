import type { DatabaseEvent } from '../databases/databases.js';

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
  wait(since: number, signal: AbortSignal): Promise<void>;
};

export function createUpdateLog(): UpdateLog {
  let entries: Update[] = [];
  let seq = 0;
  const sleepers = new Set<() => void>();
  return {
    add(name, type) {
      seq += 1;
      const newest = entries.at(-1);
      if (newest?.db_name === name) entries.pop();
      else entries = entries.filter((entry) => entry.db_name !== name).slice(-MAX_ENTRIES);
      entries.push({ seq, db_name: name, type });
      for (const wake of sleepers) wake();
    },
    after: (since) => entries.filter((entry) => entry.seq > since),
    last: () => seq,
    wait: (since, signal) =>
      new Promise((resolve) => {
        if (seq > since || signal.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        sleepers.add(wake);
        signal.addEventListener('abort', wake);
      }),
  };
}
