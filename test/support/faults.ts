import type { Fault } from './faulty-proxy.js';

/** An answer of this body. */
export const answer = (status: number, body: string, type = 'application/json'): Fault => ({
  kind: 'answer',
  status,
  type,
  body,
});
const problem = (error: string) => JSON.stringify({ error, reason: error });

/** What a server, or whatever stands before it, may do for a while: how it is said, and what it is. */
export const faults: readonly (readonly [string, Fault])[] = [
  ['is slow', { kind: 'delay', ms: 700 }],
  ['stands still and goes on', { kind: 'stall' }],
  ['accepts requests and never answers them', { kind: 'swallow' }],
  ['does what it is asked to and never answers', { kind: 'mute' }],
  ['breaks connections', { kind: 'cut' }],
  ['does what it is asked to and breaks the connection', { kind: 'cut_answer' }],
  ['breaks off in the middle of its answers', { kind: 'half_close' }],
  ['answers 500', answer(500, problem('internal_server_error'))],
  ['answers 429', answer(429, problem('too_many_requests'))],
  ['answers 503 as a proxy does', answer(503, '<h1>Unavailable</h1>', 'text/html')],
  ['answers 404 as a proxy does', answer(404, '<h1>Not found</h1>', 'text/html')],
  ['answers 507: its disk is full', answer(507, problem('enospc'))],
  ['answers with garbage', answer(200, '\u0000\u0001{{{', 'application/json')],
  ['answers with a page', answer(200, '<html>Sign in</html>', 'text/html')],
  ['answers with an empty object', answer(200, '{}')],
];
