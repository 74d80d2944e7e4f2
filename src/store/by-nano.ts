import { createRequire } from 'node:module';
import type Nano from 'nano';
import { causeOf } from './causes.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';
import type { ExchangeResult, HttpRequest } from './exchange.js';

type Change = Pick<HttpRequest, 'path' | 'body'>;

/**
 * Opens the way by which databases are created and design documents are stored: only the caller limits
 * such a request, by aborting the signal. Never rejects. nano leaves a rejection behind that nobody can
 * handle when a text that is not JSON breaks off, so no engine sends anything through it while it runs.
 */
export function openNano(
  connection: Connection,
): (change: Change, signal: AbortSignal) => Promise<ExchangeResult> {
  // Without parseUrl nano takes the path of a proxy for the name of a database.
  const configuration = {
    url: serverUrl(connection),
    headers: credentialsOf(connection),
    parseUrl: false,
  };
  // Few commands create or install anything, and Node takes long to import CommonJS.
  let server: Nano.ServerScope | undefined;
  return async ({ path, body }, signal) => {
    const asJson = body === undefined ? {} : { body, dontStringify: true };
    const options = { method: 'PUT', path: path.slice(1), ...asJson, signal };
    try {
      const answer: unknown = await (server ??= loadNano()(configuration)).request(options);
      // JSON that breaks off is answered as an empty text.
      if (answer === '') return { kind: 'failed', cause: 'connection broken' };
      return { kind: 'answered', status: 200, text: JSON.stringify(answer) };
    } catch (thrown) {
      const { statusCode, error, reason } = thrown as Nano.RequestError;
      if (statusCode === undefined) return { kind: 'failed', cause: causeOf(thrown) };
      return { kind: 'answered', status: statusCode, text: JSON.stringify({ error, reason }) };
    }
  };
}

function loadNano(): typeof Nano {
  return createRequire(import.meta.url)('nano') as typeof Nano;
}
