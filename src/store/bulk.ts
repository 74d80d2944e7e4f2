import { Agent as AgentHttp, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as AgentHttps, request as requestHttps } from 'node:https';
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
      const request = send(url, { method: 'POST', agent, headers });
      const timer = setTimeout(() => request.destroy(new Error(late)), timeoutMs);
      const settle = (answer: BulkAnswer): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      const fail = (error: unknown): void => settle({ kind: 'failed', cause: causeOf(error) });
      request.on('error', fail);
      request.on('response', (response) => {
        readText(response).then((text) => settle(read(response.statusCode ?? 0, text)), fail);
      });
      request.end(body);
    });
}

const late = 'ended due to timeout';

async function readText(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk as string;
  return text;
}

function read(status: number, text: string): BulkAnswer {
  try {
    return { kind: 'answered', status, body: JSON.parse(text) as unknown };
  } catch {
    if (status >= 300) return { kind: 'answered', status, body: undefined };
    return { kind: 'failed', cause: 'the answer is not complete' };
  }
}
