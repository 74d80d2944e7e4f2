import { randomUUID } from 'node:crypto';
import { BigResult } from '../model/big-result.js';
import { jsonPieces } from '../model/json-pieces.js';
import type { WriteResult } from './batch.js';
import { databasePath, documentPath } from './client.js';
import type { Connection } from './connection.js';
import {
  createPatience,
  type ExchangeResult,
  type HttpExchange,
  type StreamedBody,
} from './exchange.js';

/** Attachments from so many bytes on go in a request of their own: its fixed cost is then a small part. */
const fewestBytes = 1_000_000;

/**
 * A document whose attachments are long, on its way: its JSON, in which they are announced, and what
 * they hold, in the order of the announcements.
 */
export type LargeDocument = {
  readonly id: string;
  readonly json: string;
  readonly attachments: readonly BigResult[];
};

/** Writes one document with long attachments. Never rejects. */
export type SendLarge = (doc: LargeDocument) => Promise<WriteResult>;

type Attached = Readonly<Record<string, { readonly data?: unknown }>>;

/**
 * The document as it is sent with its attachments beside it, and what they hold; undefined when these
 * are short, so that it goes with other documents.
 */
export function announced<D extends { readonly [key: string]: unknown }>(
  doc: D,
): { readonly doc: D; readonly attachments: readonly BigResult[] } | undefined {
  const entries = Object.entries((doc['_attachments'] ?? {}) as Attached);
  const attachments = entries.flatMap(([, { data }]) => (data instanceof BigResult ? [data] : []));
  const bytes = attachments.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes < fewestBytes) return undefined;
  const following = entries.map(([name, about]) => {
    const { data, ...rest } = about;
    return [
      name,
      data instanceof BigResult ? { ...rest, follows: true, length: data.bytes } : about,
    ] as const;
  });
  return { doc: { ...doc, _attachments: Object.fromEntries(following) }, attachments };
}

/**
 * Sends documents with long attachments to the database of a connection, each as `multipart/related`
 * (RFC 2387): one revision, compare-and-set as any other, whose attachments are sent as they are, and
 * made JSON meanwhile.
 */
export function largeSender(connection: Connection, exchange: HttpExchange): SendLarge {
  const patience = createPatience();
  return async (doc) => {
    const path = databasePath(connection, documentPath(doc.id));
    const body = relatedBody(doc);
    return largeResult(await exchange.send({ method: 'PUT', path, body, patience }));
  };
}

/**
 * The body of such a request. Its boundary cannot occur in it: it follows a line break, and JSON has
 * none.
 */
export function relatedBody({ json, attachments }: Omit<LargeDocument, 'id'>): StreamedBody {
  const boundary = randomUUID();
  const first = `--${boundary}\r\nContent-Type: application/json\r\n\r\n${json}`;
  const between = `\r\n--${boundary}\r\n\r\n`;
  const last = `\r\n--${boundary}--`;
  const framing = first.length - json.length + last.length + between.length * attachments.length;
  const attached = attachments.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    contentType: `multipart/related; boundary="${boundary}"`,
    bytes: framing + Buffer.byteLength(json) + attached,
    pieces: function* () {
      yield first;
      for (const { value } of attachments) {
        yield between;
        yield* jsonPieces(value);
      }
      yield last;
    },
  };
}

/** What became of the document, by the answer to such a request. */
function largeResult(answer: ExchangeResult): WriteResult {
  if (answer.kind === 'failed') return { kind: 'unknown', cause: answer.cause };
  const { status, text } = answer;
  const { rev, error, reason } = parsed(text);
  if (status === 201 && typeof rev === 'string') return { kind: 'written', rev };
  if (status === 202) return { kind: 'unknown', cause: 'CouchDB answers 202: not on enough nodes' };
  if (status === 409 && error === 'conflict') return { kind: 'conflict' };
  // A proxy refuses a body as too large without CouchDB's JSON.
  if (status === 413) {
    return { kind: 'refused', reason: 'The document is too large for this CouchDB.' };
  }
  const why = typeof reason === 'string' ? reason : error;
  if (typeof error === 'string' && refusals.has(error) && !ofSender.test(String(why))) {
    return { kind: 'refused', reason: String(why) };
  }
  const told = typeof why === 'string' ? `: ${why}` : '';
  return { kind: 'unknown', cause: `CouchDB answers ${status}${told}` };
}

/** Errors that say no to this document; any other leaves open what happened. */
const refusals = new Set(['forbidden', 'doc_validation', 'bad_request', 'illegal_docid']);

/** CouchDB says no to whoever asks, not to the document. */
const ofSender = /not allowed to access|not a (db or )?server admin|temporarily locked/i;

type Answer = { readonly rev?: unknown; readonly error?: unknown; readonly reason?: unknown };

function parsed(text: string): Answer {
  try {
    return (JSON.parse(text) ?? {}) as Answer;
  } catch {
    return {};
  }
}
