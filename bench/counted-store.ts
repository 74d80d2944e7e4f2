import { type WriteResult, bulkSender, type SendBulk } from '../src/store/batch.js';
import type { Connection } from '../src/store/connection.js';
import { openExchange } from '../src/store/exchange.js';
import { largeSender } from '../src/store/large-write.js';
import { openStore, type Store } from '../src/store/store.js';
import { createWriter, type NewDocument } from '../src/store/writer.js';
import type { Counts } from './engine-messages.js';

/** A store that counts the writes of the engine above it. */
export type CountedStore = {
  readonly store: Store;
  /** What was counted since the last call. `bodies`: whether from now on requests are kept. */
  readonly take: (bodies: boolean) => Counts;
};

/** `onFinal` is called for each job whose last revision was stored by this process. */
export function openCountedStore(connection: Connection, onFinal: () => void): CountedStore {
  let counts = emptyCounts();
  let keep = false;
  const exchange = openExchange(connection);
  const send = bulkSender(connection, exchange);
  const counted: SendBulk = async (json) => {
    if (keep) counts.bodies.push(json);
    const began = performance.now();
    const answer = await send(json);
    counts.requests += 1;
    counts.requestMs += performance.now() - began;
    return answer;
  };
  const writer = createWriter({ bulk: counted, large: largeSender(connection, exchange) });
  const write = async (doc: NewDocument): Promise<WriteResult> => {
    const result = await writer.write(doc);
    if (doc['type'] !== 'job') return result;
    count(counts, doc, result);
    if (result.kind === 'written' && isFinal(doc)) onFinal();
    return result;
  };
  const store: Store = {
    ...openStore(connection),
    write,
    remove: (_id, _rev) => writer.write({ _id, _rev, _deleted: true }),
    close: writer.close,
  };
  return {
    store,
    take: (bodies) => {
      const taken = counts;
      counts = emptyCounts();
      keep = bodies;
      return taken;
    },
  };
}

type Step = { readonly state?: unknown; readonly pid?: unknown };

function count(
  counts: ReturnType<typeof emptyCounts>,
  doc: NewDocument,
  result: WriteResult,
): void {
  if (result.kind === 'written') counts.revisions += 1;
  const steps = (doc['steps'] ?? []) as readonly Step[];
  const last = steps.at(-1);
  if (last?.state !== '$$active' || last.pid !== process.pid) return;
  for (const contest of steps.length === 1
    ? [counts.claims, counts.firstClaims]
    : [counts.claims]) {
    contest.written += 1;
    if (result.kind === 'conflict') contest.lost += 1;
  }
}

function isFinal({ state }: NewDocument): boolean {
  return state === '$$complete' || state === '$$cancelled';
}

function emptyCounts() {
  return {
    revisions: 0,
    claims: { written: 0, lost: 0 },
    firstClaims: { written: 0, lost: 0 },
    requests: 0,
    requestMs: 0,
    bodies: [] as string[],
  };
}
