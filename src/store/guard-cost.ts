import { randomUUID } from 'node:crypto';
import { bulkSender, resultsOf } from './batch.js';
import { openClient, unexpected, databasePath } from './client.js';
import type { Connection } from './connection.js';
import { createDatabase } from './database.js';
import { installDesign } from './design.js';

/** Updates of jobs that the server stores a second, by one writer, with the guard and without it. */
export type GuardCost = { readonly withGuard: number; readonly withoutGuard: number };

/** About a second in all, ms. */
const usualMs = 1_000;
/** As many as an engine under load writes at once. */
const jobsAtOnce = 94;

/**
 * Measures what the guard costs on the server of a connection, in two databases that are made for this
 * and removed; that of the connection is not touched. Both are written to in turn, so that whatever
 * else the server does slows both down.
 * @throws TwsError `couch_not_admin` when the user may not create databases, and those of
 * `CouchClient.ask`
 */
export async function measureGuard(connection: Connection, ms = usualMs): Promise<GuardCost> {
  const name = `tws-measure-${randomUUID()}`;
  const bare: Connection = { ...connection, database: name };
  const guarded: Connection = { ...connection, database: `${name}-guard` };
  try {
    for (const scratch of [bare, guarded]) await createDatabase(scratch);
    await installDesign(guarded, { guard: true });
    const writers = [jobUpdates(bare), jobUpdates(guarded)] as const;
    // The first batch opens the connection, and has the server compile the guard.
    for (const write of writers) await write();
    const spent = [0, 0] as [number, number];
    let rounds = 0;
    for (; spent[0] + spent[1] < ms; rounds += 1) {
      for (const i of rounds % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const began = performance.now();
        await writers[i]();
        spent[i] += performance.now() - began;
      }
    }
    const [withoutGuard, withGuard] = spent.map((each) => (rounds * jobsAtOnce * 1000) / each);
    return { withGuard: withGuard ?? NaN, withoutGuard: withoutGuard ?? NaN };
  } finally {
    for (const scratch of [bare, guarded]) await removeDatabase(scratch);
  }
}

/**
 * Returns a function that stores the next revision of some jobs at once: jobs under way of 1.4 kB, with
 * three steps. It resolves to how many were stored.
 * @throws TwsError `couch_failed` when one is not
 */
export function jobUpdates(connection: Connection): () => Promise<number> {
  const send = bulkSender(connection);
  const ids = Array.from({ length: jobsAtOnce }, () => randomUUID());
  let revs: readonly (string | undefined)[] = [];
  return async () => {
    const docs = ids.map((_id, i) => ({
      _id,
      ...(revs[i] === undefined ? {} : { _rev: revs[i] }),
      ...job,
    }));
    const results = resultsOf(ids, await send(JSON.stringify({ docs })));
    revs = results === 'split' ? [] : results.flatMap((one) => ('rev' in one ? [one.rev] : []));
    if (revs.length === ids.length) return revs.length;
    const reason = results === 'split' ? 'the request is refused' : JSON.stringify(results[0]);
    const refused = { kind: 'refused', status: 500, reason } as const;
    throw unexpected(connection, 'store the jobs of a measurement', refused);
  };
}

const step = {
  ...{ task: 'noop', plugin: 'noop', attempt: 1, phase: 'main', run: 1, state: '$$complete' },
  ...{ pid: 12345, engine: 'engine:00000000-0000-4000-8000-000000000000', exit: 0 },
  ...{ claim: '00000000-0000-4000-8000-000000000000', params: {}, result: { ok: true } },
  ...{ accepted: 1_700_000_000_000, start: 1_700_000_000_000, end: 1_700_000_000_010 },
};

const job = {
  ...{ type: 'job', flow: 'measured', owner: 'DEFAULT', state: 'c-2', run: 1 },
  tasks: {
    structure: 'sequence',
    sequence: ['a', 'b', 'c'].map((name) => ({ task: 'noop', name })),
  },
  steps: ['a', 'b', 'c'].map((name, index) => ({ index, path: String(index), name, ...step })),
};

async function removeDatabase(connection: Connection): Promise<void> {
  const action = `remove the database "${connection.database}"`;
  const request = { method: 'DELETE', path: databasePath(connection), action } as const;
  try {
    await openClient(connection).ask(request);
  } catch {
    // It was not made, or the server is gone: what was thrown before tells.
  }
}
