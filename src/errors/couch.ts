import { row } from './row.js';

/** Rows about the server and its database. */
export const couchProblems = {
  couch_unreachable: row(
    (d: { url: string; cause: string }) => `CouchDB at ${d.url} does not answer (${d.cause}).`,
    'Start it, or set COUCH_URL or --url to where it runs; `tws dev` starts an embedded server.',
    69,
    503,
  ),
  couch_unauthorized: row(
    (d: { url: string }) => `CouchDB at ${d.url} refuses the name or password.`,
    'Set COUCH_USER and COUCH_PASS (or COUCH_KEY, or both inside COUCH_URL) to a valid user.',
    77,
    401,
  ),
  couch_locked: row(
    (d: { url: string }) =>
      `CouchDB at ${d.url} has locked the account for some minutes, after too many wrong passwords.`,
    'Correct COUCH_USER and COUCH_PASS everywhere they are used, and try again in five minutes.',
    77,
    403,
  ),
  couch_not_admin: row(
    (d: { url: string; action: string }) =>
      `You are not a server admin: CouchDB at ${d.url} refuses to ${d.action}.`,
    'Set COUCH_USER and COUCH_PASS to a server admin of that CouchDB, for this command only.',
    77,
    403,
  ),
  database_missing: row(
    (d: { url: string; database: string }) => `There is no database "${d.database}" at ${d.url}.`,
    'Run `tws init`, or set COUCH_DATABASE or --database to an existing one.',
    69,
    404,
  ),
  couch_forbidden: row(
    (d: { url: string; database: string; reason: string }) =>
      `CouchDB at ${d.url} does not let you into database "${d.database}" (${d.reason}).`,
    'Have your user added to the members of the database, or set COUCH_USER and COUCH_PASS to another one.',
    77,
    403,
  ),
  couch_failed: row(
    (d: { url: string; action: string; status: number; reason: string }) =>
      `CouchDB at ${d.url} could not ${d.action}: it answers ${d.status} (${d.reason}).`,
    'Check the log of CouchDB, or run `tws doctor`.',
    69,
    502,
  ),
  database_name_invalid: row(
    (d: { database: string }) => `"${d.database}" cannot be the name of a database.`,
    'Use lower-case letters, digits and _ $ ( ) + - / only, beginning with a letter.',
    78,
    400,
  ),
};
