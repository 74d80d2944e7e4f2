import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { CouchError, refuse } from './couch-error.js';

/** Limit of JSON bodies (a `_bulk_docs` of many documents), bytes. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024;
/** Limit of attachment bodies, bytes. */
export const MAX_BINARY_BYTES = 256 * 1024 * 1024;
/** Deeper nesting would exhaust the stack of functions that walk documents. */
const MAX_DEPTH = 500;

export type JsonObject = { [name: string]: unknown };

/**
 * Reads a request's body. A body over the limit is read to its end all the same, so that the
 * client gets to see the refusal.
 * @throws CouchError 413, 415 (unknown encoding), 400 (broken gzip, ended early)
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity') {
    return collectWhole(request, limit, Number(request.headers['content-length'] ?? 0));
  }
  if (encoding !== 'gzip') {
    throw new CouchError(415, 'bad_ctype', `${encoding} is not a supported content encoding.`);
  }
  const packed = await collectWhole(request, limit);
  const unzip = createGunzip();
  unzip.end(packed);
  return collect(unzip, limit).catch((error: unknown) => {
    throw error instanceof CouchError ? error : refuse.badRequest('Invalid gzip body');
  });
}

/** @throws CouchError 400 when the connection ended before the body did */
async function collectWhole(
  request: IncomingMessage,
  limit: number,
  length?: number,
): Promise<Buffer> {
  const body = await collect(request, limit, length).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? endedEarly() : error;
  });
  if (!request.complete) throw endedEarly();
  return body;
}

const endedEarly = (): CouchError => refuse.badRequest('The request body ended early');

/** A body that says its length is put into its place as it arrives, so that it is in memory once. */
async function collect(stream: Readable, limit: number, length = 0): Promise<Buffer> {
  let room: Buffer = Buffer.allocUnsafe(Math.min(length, limit));
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = size + chunk.length;
    if (end > limit) room = Buffer.alloc(0);
    else {
      if (end > room.length) room = grown(room, Math.min(limit, Math.max(end, 2 * room.length)));
      chunk.copy(room, size);
    }
    size = end;
  }
  if (size > limit) throw refuse.tooLarge();
  return room.subarray(0, size);
}

function grown(room: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafe(length);
  room.copy(larger);
  return larger;
}

/** Reads a JSON body; undefined when it is empty. @throws CouchError 400, 413, 415 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request, MAX_JSON_BYTES);
  return body.length === 0 ? undefined : parseJsonBytes(body);
}

/** Reads a JSON body that must be an object; an empty one counts as `{}`. @throws CouchError */
export async function readJsonObject(request: IncomingMessage): Promise<JsonObject> {
  const value = (await readJsonBody(request)) ?? {};
  if (!isJsonObject(value)) throw refuse.badRequest('Request body must be a JSON object');
  return value;
}

/** @throws CouchError 400 for what is not UTF-8, not JSON or nested too deep */
export function parseJsonBytes(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuse.badRequest('invalid UTF-8 JSON');
  }
  if (isTooDeep(value, MAX_DEPTH))
    throw refuse.badRequest(`JSON is nested over ${MAX_DEPTH} levels`);
  return value;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isTooDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (left === 0) return true;
  for (const member of Object.values(value)) if (isTooDeep(member, left - 1)) return true;
  return false;
}

/** CouchDB refuses POST bodies of any other declared type. @throws CouchError 415 */
export function requireJsonType(request: IncomingMessage): void {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new CouchError(415, 'bad_content_type', 'Content-Type must be application/json');
  }
}
