import { setImmediate as turn } from 'node:timers/promises';
import {
  resultsOf,
  takeAlone,
  takeBatch,
  type BatchLimits,
  type SendBulk,
  type WriteResult,
} from './batch.js';
import { announced, type LargeDocument, type SendLarge } from './large-write.js';

/** A document on its way into the database; `_rev` is the revision that was decided upon. */
export type NewDocument = {
  readonly _id: string;
  readonly _rev?: string;
  readonly [key: string]: unknown;
};

/**
 * Group commit.
 *
 * T7 One request is in flight; beside one that is slow to be answered there are others, a few at most.
 * T8 What arrives meanwhile, and in the turn of the event loop in which an answer is heard, is the next
 *    batch; nothing waits longer for more to come.
 * T9 An `_id` is never in flight twice, and its writes keep their order.
 * T10 A document with long attachments goes alone, beside the batches: nothing waits for it but later
 *    writes of its own and other such documents, of which a few are in flight at most.
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

/** A larger document goes alone. What is larger takes longer, and holds up all that is in it. */
const usualLimits: BatchLimits = { documents: 500, bytes: 2_000_000 };

/** After so long without an answer others go beside a request, ms: it may hang. */
const usualSlowMs = 500;
/** Requests in flight at most: those that hang are given up before there are so many. */
const mostInFlight = 12;
/** Documents with long attachments in flight at most. */
const mostAlone = 3;

type Waiting = {
  readonly id: string;
  readonly json: string;
  readonly bytes: number;
  /** Its long attachments, with which it goes alone. */
  readonly alone?: LargeDocument['attachments'];
  readonly settle: (result: WriteResult) => void;
};

/** How a writer sends: batches, and documents with long attachments. */
export type WriterPorts = { readonly bulk: SendBulk; readonly large: SendLarge };

/** Makes the writer of a process. `limits`: documents and bytes of one request at most. */
export function createWriter(
  send: WriterPorts,
  limits: BatchLimits = usualLimits,
  slowMs = usualSlowMs,
): Writer {
  const queue = createQueue(send, limits, slowMs);
  let ended: Promise<void> | undefined;
  return {
    write: (doc, mostBytes = Infinity) => {
      if (ended !== undefined) {
        return Promise.resolve({ kind: 'unknown', cause: 'the store is closed' });
      }
      const ready = readyToSend(doc, mostBytes);
      if ('kind' in ready) return Promise.resolve(ready);
      return new Promise((settle) => queue.add({ ...ready, settle }));
    },
    close: () => (ended ??= queue.end()),
  };
}

/** What waits to be sent, and what is in flight. */
function createQueue(send: WriterPorts, limits: BatchLimits, slowMs: number) {
  let queue: readonly Waiting[] = [];
  let arrived: Waiting[] = [];
  let inFlight = 0;
  /** Requests that are neither answered nor slow: while there is one, what arrives waits for it. */
  let prompt = 0;
  const busy = new Set<string>();
  let planned = false;
  let finish: (() => void) | undefined;

  const plan = (soon: Promise<unknown>): void => {
    if (planned) return;
    planned = true;
    void soon.then(() => {
      planned = false;
      next();
    });
  };
  const next = (): void => {
    const left = queue.length + arrived.length;
    if (left === 0 && inFlight + alone.inFlight === 0) finish?.();
    if (alone.waiting > 0) {
      queue = alone.sendFrom([...queue, ...arrived]);
      arrived = [];
    }
    if (left === 0 || prompt > 0 || inFlight >= mostInFlight) return;
    const { batch, rest } = takeBatch([...queue, ...arrived], limits, busy);
    queue = rest;
    arrived = [];
    if (batch.length > 0) void go(batch);
  };
  const alone = createLane(send.large, busy, () => plan(turn()));
  const go = async (batch: readonly Waiting[]): Promise<void> => {
    let isPrompt = true;
    inFlight += 1;
    prompt += 1;
    for (const { id } of batch) busy.add(id);
    const slow = setTimeout(() => {
      isPrompt = false;
      prompt -= 1;
      next();
    }, slowMs);
    await sendBatch(batch, send.bulk);
    clearTimeout(slow);
    for (const { id } of batch) busy.delete(id);
    inFlight -= 1;
    if (isPrompt) prompt -= 1;
    // Answers lead to further writes: those that follow at once go with what waits already.
    plan(turn());
  };
  return {
    add: (one: Waiting): void => {
      if (one.alone !== undefined) alone.waiting += 1;
      arrived.push(one);
      // What is written in the same turn of the event loop belongs together.
      if (prompt === 0 || one.alone !== undefined) plan(Promise.resolve());
    },
    /** Resolves when nothing waits or is in flight any more. */
    end: (): Promise<void> =>
      new Promise((resolve) => {
        finish = resolve;
        next();
      }),
  };
}

/** The documents that go alone: how many are in flight, and how many wait (T10). */
function createLane(send: SendLarge, busy: Set<string>, onFree: () => void) {
  const go = async ({ id, json, alone: attachments = [], settle }: Waiting): Promise<void> => {
    lane.inFlight += 1;
    busy.add(id);
    settle(await send({ id, json, attachments }));
    busy.delete(id);
    lane.inFlight -= 1;
    onFree();
  };
  const lane = {
    inFlight: 0,
    waiting: 0,
    /** Sends those of a queue that may go now; returns the others. */
    sendFrom: (queue: readonly Waiting[]): readonly Waiting[] => {
      let left = queue;
      while (lane.waiting > 0 && lane.inFlight < mostAlone) {
        const one = takeAlone(left, busy);
        if (one === undefined) break;
        left = left.filter((other) => other !== one);
        lane.waiting -= 1;
        void go(one);
      }
      return left;
    },
  };
  return lane;
}

/**
 * A document as it is sent, or why it is not. Circular values and BigInts have no JSON. Half of a
 * character (a text cut in the middle of it) is no UTF-8: CouchDB would refuse the whole document, so a
 * replacement character stands for it.
 */
function readyToSend(
  doc: NewDocument,
  mostBytes: number,
): Omit<Waiting, 'settle'> | Extract<WriteResult, { kind: 'refused' }> {
  const large = doc['_attachments'] === undefined ? undefined : announced(doc);
  const sent = large?.doc ?? doc;
  let json: string;
  try {
    json = JSON.stringify(sent);
  } catch {
    return { kind: 'refused', reason: 'The document cannot be made JSON.' };
  }
  if (json.includes('\\ud')) json = json.replace(halfCharacter, '$1\ufffd');
  const bytes = Buffer.byteLength(json);
  if (bytes > mostBytes) {
    const own = bytes - attachedBytes(sent);
    if (own > mostBytes) return tooLarge(own, mostBytes);
  }
  const alone = large === undefined ? {} : { alone: large.attachments };
  return { id: doc._id, json, bytes, ...alone };
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

function tooLarge(bytes: number, mostBytes: number) {
  const reason = `The document is ${bytes} bytes long; ${mostBytes} is the most.`;
  return { kind: 'refused' as const, reason, bytes };
}

/** Attachments are no part of the document for its limit. */
function attachedBytes({ _attachments }: NewDocument): number {
  return _attachments === undefined ? 0 : JSON.stringify(_attachments).length;
}

/** How `JSON.stringify` writes a lone surrogate; behind an even number of backslashes, so it is no text. */
const halfCharacter = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
