import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import type { OpenRev } from '../storage/storage.js';
import { isJsonObject, MAX_BINARY_BYTES, parseJsonBytes, type JsonObject } from './body.js';
import { refuse } from './couch-error.js';
import { sendBytes, type Exchange } from './exchange.js';

/** What replicators use of MIME multipart (RFC 2387): a document as JSON, then its attachments. */

export const isMultipart = (contentType: string): boolean =>
  /^multipart\/related\b/i.test(contentType.trim());

/**
 * Reads a `multipart/related` body: the first part is the document, the others are, in order,
 * the attachments it marks with `follows`. They become `data` of the attachments.
 * @throws CouchError 400
 */
export function readRelated(body: Buffer, contentType: string): JsonObject {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw refuse.badRequest('multipart body without a boundary');
  const [first, ...bodies] = splitParts(body, boundary);
  const doc = first === undefined ? undefined : parseJsonBytes(first.body);
  if (!isJsonObject(doc)) throw refuse.badRequest('the first part must be a JSON document');
  const attachments = isJsonObject(doc['_attachments']) ? doc['_attachments'] : {};
  const following = Object.entries(attachments).filter(
    ([, about]) => isJsonObject(about) && about['follows'] === true,
  );
  if (following.length !== bodies.length) {
    throw refuse.badRequest(`${following.length} attachments announced, ${bodies.length} sent`);
  }
  const filled = following.map(([name, about], i) => {
    const part = bodies.find((each) => each.name === name) ?? bodies[i];
    const { follows: _, ...rest } = about as JsonObject;
    return [name, decoded({ ...rest, data: part?.body ?? Buffer.alloc(0) })];
  });
  return {
    ...doc,
    _attachments: { ...attachments, ...(Object.fromEntries(filled) as JsonObject) },
  };
}

/** CouchDB sends compressible attachments as it stores them; here they are stored plain. */
function decoded({ encoding, encoded_length: _, digest, ...about }: JsonObject): JsonObject {
  if (encoding === undefined) return { ...about, ...(digest === undefined ? {} : { digest }) };
  if (encoding !== 'gzip') throw refuse.badRequest('attachments may be encoded with gzip only');
  try {
    const data = gunzipSync(about['data'] as Buffer, { maxOutputLength: MAX_BINARY_BYTES });
    return { ...about, data };
  } catch {
    throw refuse.badRequest('an attachment is not the gzip that it says it is');
  }
}

type Part = { readonly name: string | undefined; readonly body: Buffer };

function splitParts(body: Buffer, boundary: string): Part[] {
  const mark = Buffer.from(`--${boundary}`);
  const parts: Part[] = [];
  let at = body.indexOf(mark);
  while (at !== -1) {
    const start = at + mark.length;
    if (body.subarray(start, start + 2).toString('latin1') === '--') return parts;
    const next = body.indexOf(Buffer.concat([Buffer.from('\r\n'), mark]), start);
    const head = body.indexOf('\r\n\r\n', start - 2);
    if (next === -1 || head === -1 || head > next) break;
    const headers = body.subarray(start, head).toString('utf8');
    const [, name] = /content-disposition:[^\r\n]*filename="([^"]*)"/i.exec(headers) ?? [];
    parts.push({ name, body: body.subarray(Math.min(head + 4, next), next) });
    at = next + 2;
  }
  throw refuse.badRequest('multipart body is not complete');
}

/** Answers `open_revs` as `multipart/mixed`, one part per revision; attachments must be loaded. */
export function sendMixed(x: Exchange, revs: readonly OpenRev[]): void {
  const boundary = randomUUID().replaceAll('-', '');
  const pieces = revs.flatMap((each) => [Buffer.from(`--${boundary}\r\n`), mixedPart(each)]);
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--`)]);
  sendBytes(x.response, 200, body, { 'content-type': `multipart/mixed; boundary="${boundary}"` });
}

function mixedPart(each: OpenRev): Buffer {
  if ('missing' in each) {
    return Buffer.from(
      `Content-Type: application/json; error="true"\r\n\r\n${JSON.stringify(each)}\r\n`,
    );
  }
  const attachments = Object.entries((each.ok['_attachments'] ?? {}) as Record<string, JsonObject>);
  const loaded = attachments.filter(([, about]) => typeof about['data'] === 'string');
  if (loaded.length === 0) {
    return Buffer.from(`Content-Type: application/json\r\n\r\n${JSON.stringify(each.ok)}\r\n`);
  }
  const boundary = randomUUID().replaceAll('-', '');
  const bodies = loaded.map(([name, about]) => ({
    name,
    about,
    body: Buffer.from(about['data'] as string, 'base64'),
  }));
  const announced = bodies.map(({ name, about: { data: _, ...rest }, body }) => [
    name,
    { ...rest, follows: true, length: body.length },
  ]);
  const doc = { ...each.ok, _attachments: Object.fromEntries(announced) as JsonObject };
  return Buffer.concat([
    Buffer.from(`Content-Type: multipart/related; boundary="${boundary}"\r\n\r\n`),
    Buffer.from(`--${boundary}\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(doc)}`),
    ...bodies.flatMap(({ name, about, body }) => [
      Buffer.from(
        `\r\n--${boundary}\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Type: ${String(about['content_type'])}\r\nContent-Length: ${body.length}\r\n\r\n`,
      ),
      body,
    ]),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
}
