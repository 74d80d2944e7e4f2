import { setImmediate as turn } from 'node:timers/promises';
import {
  resultsOf,
  takeBatch,
  type BatchLimits,
  type BulkAnswer,
  type WriteResult,
} from './batch.js';

/** A document on its way into the database; `_rev` is the revision that was decided upon. */
export type NewDocument = {
  readonly _id: string;
  readonly _rev?: string;
  readonly [key: string]: unknown;
};

/** Sends the JSON of a `_bulk_docs` request. Never rejects. */
export type SendBulk = (json: string) => Promise<BulkAnswer>;

/**
 * Group commit. W1: one request is in flight. W2: what arrives meanwhile, and in the turn of the event
 * loop in which its answer is heard, is the next batch; nothing waits longer for more to come. W3: an `_id` is never twice in a request, and its writes keep their order.
 */
export type Writer = {
  /**
   * Writes one document, compare-and-set on its `_rev`. The document is read at once. One that is
   * longer than `mostBytes`, attachments left aside, is refused without asking the database.
   */
  readonly write: (doc: NewDocument, mostBytes?: number) => Promise<WriteResult>;
  /** Takes nothing more; ends when all that was taken has its result. */
  readonly close: () => Promise<void>;
};

/** CouchDB refuses documents over 8 MB by default; a request may be larger, but then it is slow. */
const usualLimits: BatchLimits = { documents: 500, bytes: 8_000_000 };

type Waiting = {
  readonly id: string;
  readonly json: string;
  readonly bytes: number;
  readonly settle: (result: WriteResult) => void;
};

/** Makes the writer of a process. `limits`: documents and bytes of one request at most. */
export function createWriter(send: SendBulk, limits: BatchLimits = usualLimits): Writer {
  let queue: readonly Waiting[] = [];
  let arrived: Waiting[] = [];
  let running: Promise<void> | undefined;
  let closed = false;

  const run = async (): Promise<void> => {
    // What is written in the same turn of the event loop belongs together.
    await Promise.resolve();
    while (queue.length + arrived.length > 0) {
      const { batch, rest } = takeBatch([...queue, ...arrived], limits);
      queue = rest;
      arrived = [];
      await sendBatch(batch, send);
      // Answers lead to further writes: those that follow at once go with what waits already.
      if (queue.length + arrived.length > 0) await turn();
    }
    running = undefined;
  };

  return {
    write: (doc, mostBytes = Infinity) => {
      if (closed) return Promise.resolve({ kind: 'unknown', cause: 'the store is closed' });
      const json = jsonOf(doc);
      if (json === undefined) {
        return Promise.resolve({ kind: 'refused', reason: 'The document cannot be made JSON.' });
      }
      const bytes = Buffer.byteLength(json);
      if (bytes > mostBytes) {
        const own = bytes - attachedBytes(doc);
        if (own > mostBytes) return Promise.resolve(tooLarge(own, mostBytes));
      }
      return new Promise((settle) => {
        arrived.push({ id: doc._id, json, bytes, settle });
        running ??= run();
      });
    },
    close: async () => {
      closed = true;
      await running;
    },
  };
}

async function sendBatch(batch: readonly Waiting[], send: SendBulk): Promise<void> {
  const answer = await send(`{"docs":[${batch.map(({ json }) => json).join(',')}]}`);
  const results = resultsOf(
    batch.map(({ id }) => id),
    answer,
  );
  if (results === 'split') {
    const half = Math.ceil(batch.length / 2);
    await sendBatch(batch.slice(0, half), send);
    await sendBatch(batch.slice(half), send);
    return;
  }
  batch.forEach(({ settle }, i) => settle(results[i] as WriteResult));
}

function tooLarge(bytes: number, mostBytes: number): WriteResult {
  const reason = `The document is ${bytes} bytes long; ${mostBytes} is the most.`;
  return { kind: 'refused', reason, bytes };
}

/** Attachments are no part of the document for its limit. */
function attachedBytes({ _attachments }: NewDocument): number {
  return _attachments === undefined ? 0 : JSON.stringify(_attachments).length;
}

/**
 * Circular values and BigInts have no JSON. Half of a character (a text cut in the middle of it) is no
 * UTF-8: CouchDB would refuse the whole document, so a replacement character stands for it.
 */
function jsonOf(doc: NewDocument): string | undefined {
  try {
    const json = JSON.stringify(doc);
    return json.includes('\\ud') ? json.replace(halfCharacter, '$1\ufffd') : json;
  } catch {
    return undefined;
  }
}

/** How `JSON.stringify` writes a lone surrogate; behind an even number of backslashes, so it is no text. */
const halfCharacter = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
