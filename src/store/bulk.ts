import type { BulkAnswer } from './batch.js';
import { databasePath, type Connection } from './connection.js';
import { openExchange } from './exchange.js';
import { createPatience } from './patience.js';
import type { SendBulk } from './writer.js';

/** Sends `_bulk_docs` requests to the database of a connection. */
export function bulkSender(connection: Connection, exchange = openExchange(connection)): SendBulk {
  const path = databasePath(connection, '/_bulk_docs');
  const patience = createPatience();
  return async (body) => {
    const answer = await exchange.send({ method: 'POST', path, body, patience });
    return answer.kind === 'failed' ? answer : read(answer.status, answer.text);
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
