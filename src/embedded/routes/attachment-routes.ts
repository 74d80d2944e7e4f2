import { checkAttachmentName, prepareAttachments } from '../databases/attachments.js';
import type { Database } from '../databases/database.js';
import { checkRev } from '../databases/writes.js';
import { MAX_BINARY_BYTES, readBody } from '../http/body.js';
import { CouchError, notFound, refuse } from '../http/couch-error.js';
import { sendJson, writePiece, type Exchange } from '../http/exchange.js';
import { Absent, type Attachment, type Doc } from '../storage/storage.js';
import { assertWritten, revisionNamed } from './document-routes.js';

/** GET and HEAD of an attachment, also of one byte range. */
export async function getAttachment(
  x: Exchange,
  { store }: Database,
  id: string,
  name: string,
): Promise<void> {
  const rev = x.query.text('rev');
  checkRev(rev);
  const found = await store.attachment(id, name, rev);
  if (found instanceof Absent) throw notFound(found);
  if (found === undefined) throw refuse.missing('Document is missing attachment');
  try {
    await sendAttachment(x, found);
  } finally {
    found.close();
  }
}

async function sendAttachment(x: Exchange, found: Attachment): Promise<void> {
  const etag = `"${found.digest.replace(/^md5-/, '')}"`;
  if (x.request.headers['if-none-match'] === etag) {
    x.response.writeHead(304, { etag }).end();
    return;
  }
  const range = parseRange(x.request.headers.range, found.length);
  const [first, last] = range ?? [0, found.length - 1];
  x.response.writeHead(range === undefined ? 200 : 206, {
    etag,
    'content-md5': found.digest.replace(/^md5-/, ''),
    'content-type': found.contentType,
    'content-length': last + 1 - first,
    'accept-ranges': 'bytes',
    'cache-control': 'must-revalidate',
    // What users upload must not run as a page of this server.
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    ...(range === undefined ? {} : { 'content-range': `bytes ${first}-${last}/${found.length}` }),
  });
  if (x.method !== 'HEAD' && last >= first) {
    for await (const piece of found.read(first, last)) {
      if (!(await writePiece(x, piece))) return;
    }
  }
  x.response.end();
}

/** One range only, as CouchDB; anything else gets the whole body. @throws CouchError 416 */
function parseRange(header: string | undefined, length: number): [number, number] | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const first = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (first > last) {
    throw new CouchError(
      416,
      'requested_range_not_satisfiable',
      'Requested range not satisfiable',
      {
        'content-range': `bytes */${length}`,
      },
    );
  }
  return [first, last];
}

/** PUT of an attachment; makes the document if there is none. */
export async function putAttachment(
  x: Exchange,
  database: Database,
  id: string,
  name: string,
): Promise<void> {
  checkAttachmentName(name);
  const data = await readBody(x.request, MAX_BINARY_BYTES);
  const contentType = x.request.headers['content-type'] ?? 'application/octet-stream';
  await changeAttachments(x, database, { id, status: 201 }, (attachments) => ({
    ...attachments,
    [name]: { content_type: contentType, data },
  }));
}

/** DELETE of an attachment: a new revision without it. */
export async function deleteAttachment(
  x: Exchange,
  database: Database,
  id: string,
  name: string,
): Promise<void> {
  await changeAttachments(x, database, { id, status: 200 }, (attachments) => {
    if (!Object.hasOwn(attachments, name)) throw refuse.missing('Document is missing attachment');
    const { [name]: _, ...others } = attachments;
    return others;
  });
}

async function changeAttachments(
  x: Exchange,
  database: Database,
  { id, status }: { readonly id: string; readonly status: number },
  change: (attachments: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> {
  const rev = revisionNamed(x, undefined);
  const stored = await database.store.get(id, rev === undefined ? {} : { rev });
  if (stored instanceof Absent && rev !== undefined) throw refuse.conflict();
  if (!(stored instanceof Absent) && rev === undefined) throw refuse.conflict();
  const doc: Doc = stored instanceof Absent ? { _id: id } : stored;
  const attachments = change((doc['_attachments'] ?? {}) as Record<string, unknown>);
  const next: Doc = { ...doc, _attachments: attachments };
  await prepareAttachments([next]);
  const [result] = await database.write([next], { user: x.user });
  if (result === undefined) throw refuse.conflict();
  const written = assertWritten(result);
  sendJson(x, status, written, { etag: `"${written.rev}"` });
}
