import { expect, test } from 'vitest';
import { causeOf } from '../../src/store/causes.js';

const coded = (code: string) => Object.assign(new Error('x'), { code });

test.each<[string, unknown, string]>([
  ['a code', coded('ECONNREFUSED'), 'connection refused'],
  ['a cause', new TypeError('fetch failed', { cause: coded('ENOTFOUND') }), 'unknown host'],
  [
    'several addresses',
    new TypeError('fetch failed', { cause: new AggregateError([coded('ECONNREFUSED')]) }),
    'connection refused',
  ],
  ['a timeout', new DOMException('x', 'TimeoutError'), 'no answer in time'],
  ['a connection that was closed', new Error('other side closed'), 'connection broken'],
  [
    'what nano leaves of it',
    new Error('error happened in your connection. Reason: Error: connect ECONNREFUSED 127.0.0.1:1'),
    'connection refused',
  ],
  [
    'what nano leaves of several addresses',
    new Error('error happened in your connection. Reason: AggregateError'),
    'connection refused',
  ],
  [
    'what nano leaves of a text that is not known',
    new Error('error happened in your connection. Reason: Error: self-signed certificate'),
    'self-signed certificate',
  ],
  ['a text that is not known', new Error('self-signed certificate'), 'self-signed certificate'],
  ['what is no error', 'x', 'x'],
])('causeOf reads %s', (_title, error, cause) => {
  expect(causeOf(error)).toBe(cause);
});
