import { isFinalState } from '../src/model/job.js';
import type { Connection } from '../src/store/connection.js';
import { openStore } from '../src/store/store.js';
import { preciseNow } from './bench.js';
import { storeAll } from './project.js';
import type { NewDocument } from '../src/store/writer.js';

/** Submits jobs and learns of their ends as others do: by the feed of the database. */
export type Submitter = {
  /** Resolves when all jobs have ended well. @throws Error that shows one that has not */
  readonly run: (jobs: readonly NewDocument[]) => Promise<readonly Ran[]>;
  readonly close: () => Promise<void>;
};

/** When a job was stored, and when its end was seen; epoch ms. */
export type Ran = { readonly submitted: number; readonly ended: number };

type Open = {
  submitted: number;
  readonly done: (ran: Ran) => void;
  readonly fail: (e: Error) => void;
};

/** Opens the feed of a database, from its present end. */
export async function openSubmitter(connection: Connection): Promise<Submitter> {
  const store = openStore(connection);
  const end = new AbortController();
  const open = new Map<string, Open>();
  const { updateSeq: since } = await store.info();
  const follow = async (): Promise<void> => {
    for await (const { id, doc } of store.follow({ since, signal: end.signal })) {
      const waiting = open.get(id);
      if (waiting === undefined || doc === undefined || !isFinalState(doc['state'])) continue;
      open.delete(id);
      if (doc['exit'] === 0) waiting.done({ submitted: waiting.submitted, ended: preciseNow() });
      else waiting.fail(new Error(`A job failed: ${JSON.stringify(doc).slice(0, 2_000)}`));
    }
  };
  const following = follow();
  return {
    run: async (jobs) => {
      const ends = jobs.map(
        ({ _id }) =>
          new Promise<Ran>((done, fail) => open.set(_id, { submitted: preciseNow(), done, fail })),
      );
      await storeAll(connection, jobs);
      return Promise.all(ends);
    },
    close: async () => {
      end.abort();
      await following;
      await store.close();
    },
  };
}
