import nano from 'nano';
import { causeOf } from './causes.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';
import type { Answered, Call } from './exchange.js';

type Question = Pick<Call, 'method' | 'path' | 'body'>;

/**
 * Opens the way by which views are read and databases and design documents administrated: nothing
 * limits such a request but its caller, who aborts the signal. Never rejects.
 */
export function openNano(
  connection: Connection,
): (question: Question, signal: AbortSignal) => Promise<Answered> {
  // Without parseUrl nano takes the path of a proxy for the name of a database.
  const configuration = {
    url: serverUrl(connection),
    headers: credentialsOf(connection),
    parseUrl: false,
  };
  const server = nano(configuration);
  return async ({ method, path, body }, signal) => {
    const asJson = body === undefined ? {} : { body, dontStringify: true };
    const options = { method, path: path.slice(1), ...asJson, dontParse: true, signal };
    try {
      const answer: unknown = await server.request(options);
      return { kind: 'answered', status: 200, text: String(answer) };
    } catch (thrown) {
      const { statusCode, error, reason } = thrown as nano.RequestError;
      if (statusCode === undefined) return { kind: 'failed', cause: causeOf(thrown) };
      const text = JSON.stringify({ error, reason });
      return { kind: 'answered', status: statusCode, text };
    }
  };
}
