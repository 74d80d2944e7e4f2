import { row } from './row.js';

/** Rows about the HTTP API: what is wrong with a request, and who may not make it. */
export const httpProblems = {
  json_invalid: row(
    (d: { reason: string }) => `The body is not valid JSON: ${d.reason}`,
    'Send one JSON document; `jq . FILE` checks a file.',
    2,
    400,
  ),
  request_invalid: row(
    (d: { part: string; reason: string }) => `The ${d.part} is not valid: ${d.reason}`,
    'The reference of the API is at /_tws/docs/api.',
    2,
    400,
  ),
  request_unreadable: row(
    (_: Readonly<Record<string, never>>) => 'What was sent is not an HTTP request.',
    'Check the port and the scheme (http or https).',
    2,
    400,
  ),
  request_late: row(
    (_: Readonly<Record<string, never>>) => 'The request did not arrive in time.',
    'Send it again; a request has a minute to arrive.',
    2,
    408,
  ),
  headers_too_large: row(
    (_: Readonly<Record<string, never>>) => 'Address and headers together are too long.',
    'Keep them below 16 KB; long lists belong in the body of a bulk request.',
    2,
    431,
  ),
  cursor_invalid: row(
    (_: Readonly<Record<string, never>>) => 'The cursor is not one of an earlier answer.',
    'Leave it out to begin with the newest job, and take the next one from each answer.',
    2,
    400,
  ),
  document_invalid: row(
    (d: { kind: string; first: string; more: number }) =>
      `The ${d.kind} is not valid: ${d.first}${d.more > 0 ? ` (${d.more} more, see "problems")` : ''}`,
    'Correct what "problems" lists, and send it again; nothing was stored.',
    3,
    422,
  ),
  bulk_refused: row(
    (d: { refused: number; of: number }) =>
      `${d.refused} of ${d.of} documents are not valid, so none was stored, as "atomic" asks.`,
    'Correct those that "results" refuses, or leave "atomic" out to store the others.',
    3,
    422,
  ),
  bulk_too_many: row(
    (d: { count: number; most: number }) =>
      `${d.count} documents are more than the ${d.most} that one request may bring.`,
    'Send them in several requests.',
    2,
    413,
  ),
  job_family_large: row(
    (d: { job: string; most: number }) =>
      `Job ${d.job} and the child jobs below it are more than ${d.most} jobs, which one request cannot remove; nothing was removed.`,
    'Remove its child jobs first, each with children=true; then remove the job itself.',
    2,
    409,
  ),
  job_unfinished: row(
    (d: { job: string }) => `Job ${d.job} has not ended, so it cannot be removed.`,
    'Cancel it, and remove it when it has ended.',
    2,
    409,
  ),
  body_too_large: row(
    (d: { most: number }) => `The body is larger than ${d.most} bytes.`,
    'Send less at a time, or set "http": {"body_limit": …} in tws.json.',
    2,
    413,
  ),
  media_type_unknown: row(
    (d: { given: string; known: readonly string[] }) =>
      `The content type ${d.given === '' ? 'is missing' : `"${d.given}" is not understood`}; it must be ${d.known.join(' or ')}.`,
    'Send the header content-type: application/json.',
    2,
    415,
  ),
  route_missing: row(
    (d: { method: string; path: string }) => `There is nothing at ${d.method} ${d.path}.`,
    'The reference of the API is at /_tws/docs/api.',
    4,
    404,
  ),
  pages_missing: row(
    (_: Readonly<Record<string, never>>) => 'The admin pages are not built.',
    'Run `npm run build` where tws is installed, and start it again.',
    70,
    404,
  ),
  docs_missing: row(
    (_: Readonly<Record<string, never>>) => 'The documentation is not built.',
    'Run `npm run docs` where tws is installed, and start it again; its sources are in `docs`, and the reference of the API is at /_tws/docs/api.',
    70,
    404,
  ),
  docs_page_missing: row(
    (d: { path: string }) => `The documentation has no page ${d.path}.`,
    'Begin at /_tws/docs/, and search there.',
    4,
    404,
  ),
  method_wrong: row(
    (d: { method: string; path: string; allowed: readonly string[] }) =>
      `${d.path} does not know ${d.method}, only ${d.allowed.join(', ')}.`,
    'The reference of the API is at /_tws/docs/api.',
    2,
    405,
  ),
  sign_in_needed: row(
    (_: Readonly<Record<string, never>>) => 'You are not signed in.',
    'POST name and password to /_tws/session, or send the header authorization: Bearer TOKEN.',
    77,
    401,
  ),
  sign_in_refused: row(
    (_: Readonly<Record<string, never>>) => 'Name or password is wrong.',
    'They are those of a user of the CouchDB that this API works with.',
    77,
    401,
  ),
  sign_in_locked: row(
    (_: Readonly<Record<string, never>>) =>
      'The account is locked for some minutes, after too many wrong passwords.',
    'Try again in five minutes.',
    77,
    403,
  ),
  token_refused: row(
    (d: { readonly basic?: boolean }) =>
      d.basic === true
        ? 'The header authorization takes a token ("Bearer TOKEN"), not a name and a password.'
        : 'The token is not valid, or no longer valid.',
    'Ask an admin for a new token; with a name and a password, sign in by POST session.',
    77,
    401,
  ),
  role_missing: row(
    (d: { who: string; needed: string }) =>
      `${d.who} may not do this; it needs the role ${d.needed}.`,
    'Have an admin of CouchDB add the role to your user, or make a token that has it.',
    77,
    403,
  ),
  owner_refused: row(
    (d: { who: string; owner: string }) => `${d.who} has no access to owner "${d.owner}".`,
    'A role tws-owner:NAME lets a user see and change what belongs to that owner. What names no "owner" belongs to DEFAULT.',
    77,
    403,
  ),
  owners_needed: row(
    (d: { who: string; what: string }) => `${d.who} may not ${d.what}, which concerns all owners.`,
    'This needs a user with the role tws-owner:*, or an admin without any role tws-owner:….',
    77,
    403,
  ),
  origin_refused: row(
    (d: { origin: string }) => `Requests of pages from ${d.origin} are not accepted.`,
    'Use the API from its own address; behind a proxy, set "http": {"public_url": …} in tws.json.',
    77,
    403,
  ),
  csrf_header_missing: row(
    (_: Readonly<Record<string, never>>) =>
      'A request with a session cookie that changes something must carry the header x-tws-request.',
    'Send the header x-tws-request: 1, which pages of other origins cannot send.',
    77,
    403,
  ),
  too_many_requests: row(
    (d: { seconds: number }) =>
      `Too many requests; the next is accepted in ${d.seconds} ${d.seconds === 1 ? 'second' : 'seconds'}.`,
    'Wait as long as the header retry-after says; use bulk requests to send fewer.',
    1,
    429,
  ),
  database_away: row(
    (_: Readonly<Record<string, never>>) => 'The database is not answering.',
    'Try again in a while; /_tws/health/ready says when it is back.',
    69,
    503,
  ),
  database_old: row(
    (_: Readonly<Record<string, never>>) =>
      'The database was set up by another version of this program.',
    'Have an administrator bring it up to date with `tws init`.',
    69,
    503,
  ),
  not_ready: row(
    (d: { reason: string }) => `This process cannot do its work now: ${d.reason}`,
    'Try again in a while.',
    69,
    503,
  ),
  too_many_streams: row(
    (d: { most: number; who?: string }) =>
      `${d.who === undefined ? 'There are' : `${d.who} has`} ${d.most} streams of changes open already.`,
    'Close one, or set "http": {"streams": …} in tws.json.',
    69,
    503,
  ),
  unexpected: row(
    (d: { reference: string }) => `An unexpected error occurred (reference ${d.reference}).`,
    'The log of the server has the details under this reference.',
    1,
    500,
  ),
} as const;
