import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { problem } from '../../errors.js';
import { answerOf } from '../answers/problems.js';

/** Answers what never became a request, in the form of all problems, and ends the connection. */
export function answerBroken(
  error: Error & { readonly code?: string },
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = answerOf(problemOf(error.code));
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  const first = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  socket.end([first, ...lines, '', text].join('\r\n'));
  // Whoever goes on sending is not listened to.
  socket.destroySoon();
}

function problemOf(code: string | undefined) {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return problem('request_late', {});
  return code === 'HPE_HEADER_OVERFLOW'
    ? problem('headers_too_large', {})
    : problem('request_unreadable', {});
}

/** Answers a path that no route is looked for. */
export function answerBadPath(
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): void {
  const { status, body } = answerOf(
    problem('request_invalid', { part: 'path', reason: 'it is no valid path, or too long.' }),
  );
  void reply
    .code(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}
