import type { BulkAnswer } from './batch.js';
import { causeOf } from './causes.js';
import { credentialsOf, databasePath, serverUrl, type Connection } from './connection.js';
import type { SendBulk } from './writer.js';

const timeoutMs = 60_000;

/**
 * Sends `_bulk_docs` requests to the database of a connection. nano is not used here because it
 * keeps the status of a success to itself, and 201 and 202 mean different things.
 */
export function bulkSender(connection: Connection): SendBulk {
  const url = `${serverUrl(connection)}${databasePath(connection, '/_bulk_docs')}`;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...credentialsOf(connection),
  };
  return async (body) => {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
      return read(answer.status, await answer.text());
    } catch (error) {
      return { kind: 'failed', cause: causeOf(error) };
    }
  };
}

function read(status: number, text: string): BulkAnswer {
  try {
    return { kind: 'answered', status, body: JSON.parse(text) as unknown };
  } catch {
    if (status >= 300) return { kind: 'answered', status, body: undefined };
    return { kind: 'failed', cause: 'the answer is not complete' };
  }
}
