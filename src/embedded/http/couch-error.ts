import { StoreClosed, type Absent } from '../storage/storage.js';

/** An answer other than success, in CouchDB's form: `{"error": …, "reason": …}` and a status. */
export class CouchError extends Error {
  override readonly name = 'CouchError';

  constructor(
    readonly status: number,
    readonly error: string,
    readonly reason: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(`${error}: ${reason}`);
  }
}

/** The refusals that several handlers share; those with one place are made there. */
export const refuse = {
  conflict: () => new CouchError(409, 'conflict', 'Document update conflict.'),
  missing: (reason = 'missing') => new CouchError(404, 'not_found', reason),
  noDatabase: () => new CouchError(404, 'not_found', 'Database does not exist.'),
  badRequest: (reason: string) => new CouchError(400, 'bad_request', reason),
  queryParse: (reason: string) => new CouchError(400, 'query_parse_error', reason),
  unauthorized: (reason: string) => new CouchError(401, 'unauthorized', reason),
  forbidden: (reason: string) => new CouchError(403, 'forbidden', reason),
  tooLarge: () => new CouchError(413, 'too_large', 'the request entity is too large'),
  diskFull: () =>
    new CouchError(507, 'enospc', 'No space left on the disk: the document was not stored.'),
  notOffered: (what: string) =>
    new CouchError(
      501,
      'not_implemented',
      `${what} is not offered by the embedded server; use CouchDB 3 for it.`,
    ),
  methodNotAllowed: (allowed: readonly string[]) =>
    new CouchError(405, 'method_not_allowed', `Only ${allowed.join(',')} allowed`, {
      allow: allowed.join(', '),
    }),
} as const;

/** The answer for a document that a read did not find. */
export const notFound = (absent: Absent): CouchError => refuse.missing(absent.why);

/** The answer that an exception stands for. */
export function asCouchError(error: unknown): CouchError {
  if (error instanceof CouchError) return error;
  if (isClosed(error)) return refuse.noDatabase();
  if (isStorageError(error)) {
    const { status, name, reason } = error;
    return new CouchError(status, name, reason);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new CouchError(500, 'internal_server_error', message);
}

/** Whether a database was closed under a request; PouchDB says it in words of its own. */
const isClosed = (error: unknown): boolean =>
  error instanceof StoreClosed ||
  (error instanceof Error && error.message === 'database is closed');

/** What the document store refused, with a status of its own (a missing stub, for one). */
const isStorageError = (
  error: unknown,
): error is Error & { status: number; name: string; reason: string } =>
  error instanceof Error &&
  typeof (error as { status?: unknown }).status === 'number' &&
  typeof (error as { reason?: unknown }).reason === 'string';
