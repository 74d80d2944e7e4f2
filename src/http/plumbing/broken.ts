import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { problem } from '../../errors.js';
import { answerOf } from '../answers/problems.js';
import { ojsErrorOf } from '../ojs/problems.js';
import { isOjsPath, ojsHeaders, ojsType } from '../ojs/protocol.js';
import { jsonText } from './json-text.js';

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
  const text = jsonText(body);
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

/** Answers a path that no route is looked for. `now`: epoch ms. */
export function answerBadPath(
  { url, headers: sent }: { readonly url: string; readonly headers: IncomingHttpHeaders },
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  now: number,
): void {
  const reason = 'it is no valid path, or too long.';
  const answer = answerOf(problem('request_invalid', { part: 'path', reason }));
  const own = isOjsPath(url) ? ojsHeaders(sent, now) : undefined;
  const { status, body } = own === undefined ? answer : ojsErrorOf(answer, own['x-request-id']);
  void reply
    .code(status)
    .headers({ ...headers, ...own })
    .type(own === undefined ? 'application/json; charset=utf-8' : ojsType)
    .send(own === undefined ? jsonText(body) : Buffer.from(jsonText(body)));
}
