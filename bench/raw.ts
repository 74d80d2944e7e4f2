import { randomUUID } from 'node:crypto';
import { resultsOf, bulkSender } from '../src/store/batch.js';
import type { NewDocument } from '../src/store/writer.js';
import { sum } from './figure.js';
import { revisionsOf, storeAll } from './project.js';
import type { BenchServer } from './server.js';

/** Documents stored by nothing but requests. */
export type RawRate = { readonly documents: number; readonly ms: number };

/**
 * Sends the requests of engines again, as new documents into a database without a design document:
 * the same documents in the same batches, by as many writers, each with one request in flight.
 */
export async function replay(
  server: BenchServer,
  writers: readonly (readonly string[])[],
): Promise<RawRate> {
  const connection = await server.database('plain');
  const prepared = writers.map((bodies) => bodies.map(asNew));
  const began = performance.now();
  const counts = await Promise.all(
    prepared.map(async (bodies) => {
      const send = bulkSender(connection);
      let documents = 0;
      for (const body of bodies) documents += revisionsOf(await send(body)).length;
      return documents;
    }),
  );
  const ms = performance.now() - began;
  await server.remove(connection);
  return { documents: sum(counts), ms };
}

/**
 * Sends the requests of engines again as what they were: revisions of documents, in a database with
 * the design document, so that each is validated. The documents are there before the time begins.
 */
export async function replayRevisions(
  server: BenchServer,
  writers: readonly (readonly string[])[],
): Promise<RawRate> {
  const connection = await server.database('project');
  const prepared = writers.map((bodies) => bodies.map(documentsOf));
  const ids = new Set(prepared.flat(2).map(({ _id }) => _id));
  const jobs = [...ids].map((_id) => ({ _id, type: 'job', flow: 'f', owner: 'bench' }));
  const stored = await storeAll(connection, jobs);
  const revs = new Map(jobs.map(({ _id }, i) => [_id, stored[i]]));
  const began = performance.now();
  const counts = await Promise.all(
    prepared.map(async (batches) => {
      const send = bulkSender(connection);
      let documents = 0;
      for (const batch of batches) {
        const docs = batch.map((doc) => ({ ...doc, _rev: revs.get(doc._id) }));
        const results = resultsOf(
          docs.map(({ _id }) => _id),
          await send(JSON.stringify({ docs })),
        );
        if (results === 'split') throw new Error('A request of an engine is too large.');
        // A claim that lost its race was sent, too; here it may come too late for its job.
        for (const [i, result] of results.entries()) {
          if (result.kind !== 'written') continue;
          revs.set(String(docs[i]?._id), result.rev);
          documents += 1;
        }
      }
      return documents;
    }),
  );
  const ms = performance.now() - began;
  await server.remove(connection);
  return { documents: sum(counts), ms };
}

function asNew(body: string): string {
  const docs = documentsOf(body).map(({ _rev, ...doc }) => ({ ...doc, _id: randomUUID() }));
  return JSON.stringify({ docs });
}

/** The documents in the JSON of a `_bulk_docs` request. */
export function documentsOf(body: string): readonly NewDocument[] {
  return (JSON.parse(body) as { readonly docs: readonly NewDocument[] }).docs;
}

/**
 * Writes the revisions of one document one after the other, each as soon as the one before it is
 * stored; answers how long that took, ms.
 */
export function rawChain(send: ReturnType<typeof bulkSender>) {
  return async (revisions: readonly NewDocument[]): Promise<number> => {
    const _id = randomUUID();
    let rev: string | undefined;
    const began = performance.now();
    for (const { _rev, ...doc } of revisions) {
      const next = { ...doc, _id, ...(rev === undefined ? {} : { _rev: rev }) };
      [rev] = revisionsOf(await send(JSON.stringify({ docs: [next] })));
    }
    return performance.now() - began;
  };
}
