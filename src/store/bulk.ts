import { Agent as AgentHttp, request as requestHttp } from 'node:http';
import { Agent as AgentHttps, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { BulkAnswer } from './batch.js';
import { causeOf } from './causes.js';
import { credentialsOf, databasePath, serverUrl, type Connection } from './connection.js';
import type { SendBulk } from './writer.js';

const timeoutMs = 60_000;

/**
 * Sends `_bulk_docs` requests to the database of a connection. nano is not used here because it
 * keeps the status of a success to itself, and 201 and 202 mean different things; and `fetch` takes
 * several times the processor time of a plain request. Redirects are not followed.
 */
export function bulkSender(connection: Connection): SendBulk {
  const url = new URL(`${serverUrl(connection)}${databasePath(connection, '/_bulk_docs')}`);
  const target = { ...urlToHttpOptions(url), method: 'POST' };
  const isSecure = url.protocol === 'https:';
  const send = isSecure ? requestHttps : requestHttp;
  // Idle connections of it keep no process alive.
  const agent = new (isSecure ? AgentHttps : AgentHttp)({ keepAlive: true });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...credentialsOf(connection),
  };
  return (body) =>
    new Promise((resolve) => {
      const request = send({ ...target, agent, headers });
      const timer = setTimeout(() => request.destroy(new Error(late)), timeoutMs);
      const settle = (answer: BulkAnswer): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      const fail = (error: unknown): void => settle({ kind: 'failed', cause: causeOf(error) });
      request.on('error', fail);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => settle(read(response.statusCode ?? 0, text)));
        response.on('error', fail);
      });
      request.end(body);
    });
}

const late = 'ended due to timeout';

function read(status: number, text: string): BulkAnswer {
  try {
    return { kind: 'answered', status, body: JSON.parse(text) as unknown };
  } catch {
    if (status >= 300) return { kind: 'answered', status, body: undefined };
    return { kind: 'failed', cause: 'the answer is not complete' };
  }
}
